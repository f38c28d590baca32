/* SPDX-License-Identifier: MIT */
#include "schema.h"

#include <stdint.h>
#include <stdio.h>

#include "../file/format.h"
#include "cushim/abi/egl.h"
#include "cushim/layer.h"
#include "fields.inc"

#define SIZE_VALUE(type) sizeof(type)
#define SIZE_OUT(type) sizeof *(type)0
#define SIZE_IN(type) SIZE_OUT(type)
#define SIZE_IN_OUT(type) SIZE_OUT(type)
#define SIZE_TEXT(type) 0
#define SIZE_POINTER(type) 0

static const struct {
    char kind;
    uint16_t size;
    const char *type, *name;
} fields[] = {
/* clang-format off */
#define FIELD(kind, type, name) {TRACE_##kind, SIZE_##kind(type), #type, #name},
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments)                                                    \
    TRACE_FIELDS_##function##_##abi(FIELD) {0, 0, "cu" #function, #abi},
#include "cushim/entry_points.h"
    /* clang-format on */
};

static const char *const functions[] = {
/* clang-format off */
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments) "cu" #function,
#include "cushim/entry_points.h"
    /* clang-format on */
};

const char *schema_function(unsigned slot)
{
    return functions[slot];
}

size_t schema_write(char *text, size_t size)
{
    size_t length = 0, first = 0;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        if (fields[i].kind != 0)
            continue;
        length += (size_t)snprintf(text + length, size - length, "%s %s", fields[i].type, fields[i].name);
        for (; first < i; first++)
            length += (size_t)snprintf(text + length, size - length, "|%c%u %s %s", fields[first].kind,
                                       (unsigned)fields[first].size, fields[first].type, fields[first].name);
        first = i + 1;
        length += (size_t)snprintf(text + length, size - length, "\n");
    }
    return length;
}
