/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "reader.h"

static const struct {
    const char *type, *name;
    unsigned value;
} enumerators[] = {
#define TRACE_ENUMERATOR(type, enumerator) {#type, #enumerator, (unsigned)enumerator},
#include "enumerators.inc"
};

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
    for (size_t i = 0; i < sizeof enumerators / sizeof enumerators[0]; i++) {
        bool has_type = strncmp(enumerators[i].type, name, length) == 0 && enumerators[i].type[length] == '\0';
        if (has_type && type.count++ == 0)
            type.first = i;
    }
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
