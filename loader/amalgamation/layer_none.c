/* SPDX-License-Identifier: MIT */
/* In place of layer.c, layer_stack.c and layer_tables.c in a subset that amalgamate.py writes without --layers. */
#include "layer.h"

#include <stdio.h>

#include "tables.h"

static bool stack_has_driver; /* guarded by the load lock */

/* A program must not run without a layer that was asked for, such as a limit. */
bool cush_layer_stack_push_objects(const char *list, size_t *out_count, struct layer_failure *failure)
{
    *out_count = 0;
    if (list[0] == '\0')
        return true;
    failure->code = CUDA_ERROR_NOT_SUPPORTED;
    snprintf(failure->message, sizeof failure->message,
             "CUSHIM_LAYERS is \"%.200s\", but the cushim in this program has no layers (amalgamate.py --slots without "
             "--layers).",
             list);
    return false;
}

bool cush_layer_stack_build(bool has_driver, struct layer_failure *failure)
{
    (void)failure;
    stack_has_driver = has_driver;
    return true;
}

const struct cushim_dispatch_table *cush_layer_stack_top(enum cushim_default_stream kind)
{
    return stack_has_driver ? &cush_driver_tables[kind].named : cush_null_driver_table();
}

void cush_layer_stack_reset(void)
{
}

bool cush_layer_tables_are_of_driver(const struct cushim_dispatch_table *legacy)
{
    return legacy == &cush_driver_tables[CUSHIM_DEFAULT_STREAM_LEGACY].named;
}

cushim_fn cush_layer_tables_function(enum cushim_default_stream kind, cushim_fn fn)
{
    (void)kind;
    return fn;
}

bool cush_layer_tables_is_replaced(enum cushim_default_stream kind, enum cushim_slot slot)
{
    (void)kind, (void)slot;
    return false;
}
