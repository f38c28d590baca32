/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "cushim/abi/egl.h"
#include "reader.h"

static const struct {
    const char *type, *name;
    unsigned value;
} enumerators[] = {
#define TRACE_ENUMERATOR(type, enumerator) {#type, #enumerator, (unsigned)enumerator},
#include "enumerators.inc"
};

static void type_find_enumerators(struct trace_type *type, const char *name, size_t length)
{
    for (size_t i = 0; i < sizeof enumerators / sizeof enumerators[0]; i++) {
        bool has_type = strncmp(enumerators[i].type, name, length) == 0 && enumerators[i].type[length] == '\0';
        if (has_type && type->count++ == 0)
            type->first = i;
    }
}

struct trace_type trace_type_find(const char *name, size_t length)
{
    static const struct {
        const char *name;
        enum trace_shown shown;
    } numbers[] = {
        {"int", TRACE_SIGNED},
        {"CUdevice", TRACE_SIGNED},
        {"CUdevice_v1", TRACE_SIGNED},
        {"float", TRACE_FLOAT},
        {"unsigned int", TRACE_UNSIGNED},
        {"size_t", TRACE_UNSIGNED},
        {"unsigned long long", TRACE_UNSIGNED},
        {"cuuint64_t", TRACE_UNSIGNED},
        {"cuuint32_t", TRACE_UNSIGNED},
        {"unsigned char", TRACE_UNSIGNED},
        {"unsigned short", TRACE_UNSIGNED},
        {"CUstream", TRACE_STREAM},
    };
    static const char launch[] = "const CUlaunchConfig";
    struct trace_type type = {.shown = TRACE_HEXADECIMAL};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (strncmp(numbers[i].name, name, length) == 0 && numbers[i].name[length] == '\0')
            type.shown = numbers[i].shown;
    }
    if (type.shown == TRACE_STREAM)
        type.stream = 1;
    else if (length == strlen(launch) && strncmp(launch, name, length) == 0)
        type.stream = 1 + offsetof(CUlaunchConfig, hStream) / sizeof(uint64_t);
    type_find_enumerators(&type, name, length);
    return type;
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

size_t trace_plain_length(const char *function)
{
    const char *abi = strrchr(function, '_');
    return abi != NULL && abi[1] == 'v' ? (size_t)(abi - function) : strlen(function);
}

char trace_find_parameter(const char *list, const char *function, const char *parameter)
{
    char word[128];
    size_t length =
        (size_t)snprintf(word, sizeof word, "%.*s.%s", (int)trace_plain_length(function), function, parameter);
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
        const char *type, *parameters;
    } flags[] = {
#define TRACE_FLAGS(type, parameters) {#type, parameters},
#include "flags.inc"
    };
    for (size_t i = 0; strstr(parameter, "lags") != NULL && i < sizeof flags / sizeof flags[0]; i++) {
        if (trace_find_parameter(flags[i].parameters, function, parameter) == '\0')
            continue;
        type->shown = TRACE_FLAGS_OF_ENUM;
        type_find_enumerators(type, flags[i].type, strlen(flags[i].type));
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
        type = trace_type_find("CUresult", strlen("CUresult"));
    const char *name = trace_type_enumerator(&type, code);
    if (name != NULL)
        snprintf(result.text, sizeof result.text, "%s", name);
    else
        snprintf(result.text, sizeof result.text, "%u", code);
    return result;
}
