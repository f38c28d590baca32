/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"
#include "reader.h"

static const struct {
    enum trace_type_number type;
    const char *name;
    unsigned value;
} enumerators[] = {
#define TRACE_ENUMERATOR(type, enumerator) {TRACE_TYPE_##type, #enumerator, (unsigned)enumerator},
#include "enumerators.inc"
};

static const char *const functions[] = {
#define TRACE_FUNCTION(function) #function,
#define TRACE_TYPE(type, name)
#include "numbers.inc"
};

static const char *const types[] = {
#define TRACE_FUNCTION(function)
#define TRACE_TYPE(type, name) name,
#include "numbers.inc"
};

/* The place of a name in a sorted list, from 1 on; 0: the list does not have it. */
static size_t name_find(const char *const *list, size_t count, const char *name, size_t length)
{
    size_t low = 0;
    while (low < count) {
        size_t middle = low + (count - low) / 2;
        int order = strncmp(list[middle], name, length);
        if (order == 0 && list[middle][length] == '\0')
            return middle + 1;
        if (order < 0)
            low = middle + 1;
        else
            count = middle;
    }
    return 0;
}

enum trace_function trace_function_find(const char *name, size_t length)
{
    return (enum trace_function)name_find(functions, sizeof functions / sizeof functions[0], name, length);
}

static enum trace_shown type_shown(enum trace_type_number type)
{
    switch (type) {
    case TRACE_TYPE_int:
    case TRACE_TYPE_CUdevice:
        return TRACE_SIGNED;
    case TRACE_TYPE_float:
        return TRACE_FLOAT;
    case TRACE_TYPE_unsigned_int:
    case TRACE_TYPE_size_t:
    case TRACE_TYPE_unsigned_long_long:
    case TRACE_TYPE_cuuint64_t:
    case TRACE_TYPE_cuuint32_t:
    case TRACE_TYPE_unsigned_char:
    case TRACE_TYPE_unsigned_short:
        return TRACE_UNSIGNED;
    case TRACE_TYPE_CUstream:
        return TRACE_STREAM;
    default:
        return TRACE_HEXADECIMAL;
    }
}

static void type_find_enumerators(struct trace_type *type, enum trace_type_number number)
{
    for (size_t i = 0; number != TRACE_TYPE_UNKNOWN && i < sizeof enumerators / sizeof enumerators[0]; i++) {
        if (enumerators[i].type == number && type->count++ == 0)
            type->first = i;
    }
}

struct trace_type trace_type_get(enum trace_type_number number)
{
    struct trace_type type = {.number = number, .shown = type_shown(number)};
    if (number == TRACE_TYPE_CUstream)
        type.stream = 1;
    else if (number == TRACE_TYPE_CUlaunchConfig)
        type.stream = 1 + offsetof(CUlaunchConfig, hStream) / sizeof(uint64_t);
    type_find_enumerators(&type, number);
    return type;
}

struct trace_type trace_type_find(const char *name, size_t length)
{
    static const char qualifier[] = "const ";
    size_t start =
        strncmp(name, qualifier, strlen(qualifier)) == 0 && length > strlen(qualifier) ? strlen(qualifier) : 0;
    return trace_type_get(
        (enum trace_type_number)name_find(types, sizeof types / sizeof types[0], name + start, length - start));
}

const char *trace_type_enumerator(const struct trace_type *type, uint64_t value)
{
    for (size_t i = type->first; i < type->first + type->count; i++) {
        if (enumerators[i].value == value)
            return enumerators[i].name;
    }
    return NULL;
}

const char *trace_type_flag(const struct trace_type *type, uint64_t *value)
{
    size_t best = SIZE_MAX;
    for (size_t i = type->first; i < type->first + type->count; i++) {
        uint64_t flags = enumerators[i].value;
        if ((*value & flags) == flags && (best == SIZE_MAX || flags > enumerators[best].value))
            best = i;
    }
    if (best == SIZE_MAX || (enumerators[best].value == 0 && *value != 0))
        return NULL;
    *value -= enumerators[best].value;
    return enumerators[best].name;
}

/* The length of the name of a function without its ABI version. */
static size_t plain_length(const char *function)
{
    const char *abi = strrchr(function, '_');
    return abi != NULL && abi[1] == 'v' ? (size_t)(abi - function) : strlen(function);
}

char trace_find_parameter(const char *list, const char *function, const char *parameter)
{
    char word[128];
    size_t length = (size_t)snprintf(word, sizeof word, "%.*s.%s", (int)plain_length(function), function, parameter);
    for (const char *at = list; (at = strstr(at, word)) != NULL; at += length) {
        char before = at == list ? ' ' : at[-1], after = at[length];
        if (strchr(" +=", before) != NULL && (after == ' ' || after == '\0'))
            return before;
    }
    return '\0';
}

void trace_type_find_flags(const char *function, const char *parameter, struct trace_type *type)
{
    static const struct {
        enum trace_type_number type;
        const char *parameters;
    } flags[] = {
#define TRACE_FLAGS(type, parameters) {TRACE_TYPE_##type, parameters},
#include "flags.inc"
    };
    for (size_t i = 0; strstr(parameter, "lags") != NULL && i < sizeof flags / sizeof flags[0]; i++) {
        if (trace_find_parameter(flags[i].parameters, function, parameter) == '\0')
            continue;
        type->shown = TRACE_FLAGS_OF_ENUM;
        type_find_enumerators(type, flags[i].type);
    }
}

struct trace_text trace_duration(uint64_t nanoseconds)
{
    struct trace_text duration;
    const char *const units[] = {"ns", "us", "ms", "s"};
    double value = (double)nanoseconds;
    size_t unit = 0;
    for (; unit < 3 && value >= 999.5; unit++)
        value /= 1000;
    snprintf(duration.text, sizeof duration.text, "%.*f %s",
             unit == 0 || value >= 99.95 ? 0
             : value >= 9.995            ? 1
                                         : 2,
             value, units[unit]);
    return duration;
}

struct trace_text trace_result(unsigned code)
{
    static struct trace_type type;
    struct trace_text result;
    if (type.count == 0)
        type = trace_type_get(TRACE_TYPE_CUresult);
    const char *name = trace_type_enumerator(&type, code);
    if (name != NULL)
        snprintf(result.text, sizeof result.text, "%s", name);
    else
        snprintf(result.text, sizeof result.text, "%u", code);
    return result;
}
