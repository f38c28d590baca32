/* SPDX-License-Identifier: MIT */
/*
 * A layer in a shared object, for tests of CUSHIM_LAYERS. It returns a code of its own for cuStreamQuery, and counts
 * the calls that it passes on.
 *
 *   OBJECT_NAME     the name of the layer
 *   OBJECT_NEWER    it is compiled for a newer cushim
 *   OBJECT_NULL     its entry function returns NULL
 *   OBJECT_FAILING  it cannot be installed
 */
#include "cushim/cushim.h"

CUSHIM_LAYER_EXPORT extern int object_calls;
int object_calls;

static struct cushim_layer layer;

static CUresult object_query(enum cushim_default_stream kind, CUstream stream)
{
    object_calls++;
    return cushim_layer_next(&layer, kind)->StreamQuery_v1(stream);
}
CUSHIM_LAYER_BOTH_KINDS(object_query, (CUstream stream), stream)

static CUresult object_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                               const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next;
    (void)states;
    (void)user;
    table->StreamQuery_v1 = CUSHIM_LAYER_OF_KIND(object_query, kind);
#if defined(OBJECT_FAILING)
    return CUDA_ERROR_NOT_PERMITTED;
#else
    return CUDA_SUCCESS;
#endif
}

static struct cushim_layer layer = CUSHIM_LAYER(OBJECT_NAME, object_install, NULL);

#if defined(OBJECT_NULL)
CUSHIM_LAYER_ENTRY(*(struct cushim_layer *)NULL)
#elif defined(OBJECT_NEWER)
static struct cushim_layer *newer(void)
{
    layer.slot_count++;
    return &layer;
}
CUSHIM_LAYER_ENTRY(*newer())
#else
CUSHIM_LAYER_ENTRY(layer)
#endif
