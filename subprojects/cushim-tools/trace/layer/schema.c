/* SPDX-License-Identifier: MIT */
#include "schema.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

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

/* Of all functions, one behind the other; a kind of 0 ends those of a function. Without pointers, of which each would
 * need a relocation. */
static const struct {
    char kind;
    uint16_t size;
} fields[] = {
/* clang-format off */
#define FIELD(kind, type, name) {TRACE_##kind, SIZE_##kind(type)},
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments) TRACE_FIELDS_##function##_##abi(FIELD) {0, 0},
#include "cushim/entry_points.h"
    /* clang-format on */
};

/* The name of the function, its version, and of each field the type and the name; a zero is behind each. */
static const char *const functions[] = {
/* clang-format off */
#define FIELD_TEXT(kind, type, name) "\0" #type "\0" #name
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments)                                                    \
    "cu" #function "\0" #abi TRACE_FIELDS_##function##_##abi(FIELD_TEXT),
#include "cushim/entry_points.h"
    /* clang-format on */
};

enum trace_function schema_function(unsigned slot)
{
    static const uint16_t numbers[] = {
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments) TRACE_FUNCTION_cu##function,
#include "cushim/entry_points.h"
    };
    return (enum trace_function)numbers[slot];
}

static const char *text_behind(const char *text)
{
    return text + strlen(text) + 1;
}

size_t schema_write(char *text, size_t size)
{
    size_t length = 0, field = 0;
    for (size_t slot = 0; slot < sizeof functions / sizeof functions[0]; slot++, field++) {
        const char *name = text_behind(functions[slot]);
        length += (size_t)snprintf(text + length, size - length, "%s %s", functions[slot], name);
        for (; fields[field].kind != 0; field++) {
            const char *type = text_behind(name);
            name = text_behind(type);
            length += (size_t)snprintf(text + length, size - length, "|%c%u %s %s", fields[field].kind,
                                       (unsigned)fields[field].size, type, name);
        }
        length += (size_t)snprintf(text + length, size - length, "\n");
    }
    return length;
}
