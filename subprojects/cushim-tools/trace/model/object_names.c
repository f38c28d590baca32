/* SPDX-License-Identifier: MIT */
/* The short names of objects and streams. */
#include "model.h"

#include <inttypes.h>
#include <stdio.h>

struct trace_text trace_object_name(const struct trace_object *object)
{
    struct trace_text name;
    enum trace_row row = trace_row_of(object);
    if ((trace_object_rows[row].flags & NAMED) != 0)
        snprintf(name.text, sizeof name.text, "%s %u", trace_object_rows[row].word, object->number);
    else
        snprintf(name.text, sizeof name.text, "%s 0x%" PRIx64, trace_object_rows[row].word, object->key.id);
    return name;
}

/* Returns the object with a short name, or NULL. */
static const struct trace_object *object_named(const struct trace_model *model, size_t process,
                                               enum trace_type_number type, uint64_t handle)
{
    for (enum trace_row row = 0; row < TRACE_OBJECT_ROWS; row++) {
        bool is_named = (trace_object_rows[row].flags & NAMED) != 0 && trace_object_rows[row].type == type;
        const struct trace_object *object = is_named ? trace_object_find(model, process, row, handle) : NULL;
        if (object != NULL && object->number != 0)
            return object;
    }
    return NULL;
}

const char *trace_kernel_of(const struct trace_model *model, size_t process, enum trace_type_number type,
                            uint64_t handle)
{
    if (type == TRACE_TYPE_CUfunction || type == TRACE_TYPE_CUkernel)
        return trace_kernel_name(model, process, handle);
    const struct trace_object *node =
        type == TRACE_TYPE_CUgraphNode ? object_named(model, process, TRACE_TYPE_CUgraphNode, handle) : NULL;
    return node != NULL ? node->name : NULL;
}

struct trace_text trace_name_of(const struct trace_model *model, size_t process, enum trace_type_number type,
                                uint64_t handle)
{
    const struct trace_object *object = object_named(model, process, type, handle);
    return object != NULL ? trace_object_name(object) : (struct trace_text){""};
}

struct trace_text trace_stream_name(const struct trace_model *model, size_t process, uint64_t stream)
{
    struct trace_text name = trace_name_of(model, process, TRACE_TYPE_CUstream, stream);
    unsigned context = (unsigned)(stream >> 32) & INT32_MAX;
    if (stream == TRACE_LEGACY_STREAM)
        snprintf(name.text, sizeof name.text, "the legacy stream");
    else if (stream >> 63 != 0)
        snprintf(name.text, sizeof name.text,
                 context > 1 ? "the per-thread stream of thread %u in context %u"
                             : "the per-thread stream of thread %u",
                 (unsigned)stream, context);
    else if (name.text[0] == '\0')
        snprintf(name.text, sizeof name.text, "stream 0x%" PRIx64, stream);
    return name;
}
