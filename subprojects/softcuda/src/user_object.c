/* SPDX-License-Identifier: MIT */
/* User objects: the caller's objects, destroyed when neither the caller nor a graph holds a reference. */
#include "user_object.h"

#include <stdlib.h>

#include "graph.h"
#include "queue.h"

struct user_object {
    struct object object;
    int64_t count; /* of all references of all holders; negative for ever once too many were dropped */
    CUhostFn destroy;
    void *data;
};

static void user_object_free(void *object)
{
    free(object);
}

void user_object_ref(struct user_object *object, unsigned count)
{
    object->count += count;
}

void user_object_unref(struct user_object *object, unsigned count)
{
    object->count -= count;
    if (object->count != 0)
        return;
    handle_withdraw(object);
    queue_defer(object->destroy, object->data);
    object_unref(object);
}

CUresult soft_UserObjectCreate_v1(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                                  unsigned int flags)
{
    if (object_out == NULL || destroy == NULL || initialRefcount == 0 || initialRefcount > INT32_MAX
        || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct user_object *object = object_new(OBJECT_USER_OBJECT, sizeof(*object), user_object_free);
    if (object == NULL || !handle_publish(object)) {
        free(object);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    object->count = initialRefcount;
    object->destroy = destroy;
    object->data = ptr;
    *object_out = (CUuserObject)object;
    return CUDA_SUCCESS;
}

static CUresult user_object_find(CUuserObject handle, unsigned count, struct user_object **out_object)
{
    *out_object = handle_find(OBJECT_USER_OBJECT, handle);
    return *out_object == NULL || count == 0 || count > INT32_MAX ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

CUresult soft_UserObjectRetain_v1(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = user_object_find(handle, count, &object);
    if (result == CUDA_SUCCESS)
        user_object_ref(object, count);
    return result;
}

CUresult soft_UserObjectRelease_v1(CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    CUresult result = user_object_find(handle, count, &object);
    if (result == CUDA_SUCCESS)
        user_object_unref(object, count);
    return result;
}

static struct holding *graph_holding_find(struct graph *graph, const struct user_object *object)
{
    for (size_t i = 0; i < graph->holding_count; i++)
        if (graph->holdings[i].object == object)
            return &graph->holdings[i];
    return NULL;
}

CUresult soft_GraphRetainUserObject_v1(CUgraph hGraph, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct user_object *object;
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = user_object_find(handle, count, &object);
    if (result != CUDA_SUCCESS || graph == NULL || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct holding *holding = graph_holding_find(graph, object);
    if (holding == NULL) {
        if (!soft_reserve((void **)&graph->holdings, &graph->holding_capacity, graph->holding_count + 1,
                          sizeof(struct holding)))
            return CUDA_ERROR_OUT_OF_MEMORY;
        holding = &graph->holdings[graph->holding_count++];
        *holding = (struct holding){object, 0};
    }
    holding->count += count;
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0)
        user_object_ref(object, count);
    return CUDA_SUCCESS;
}

CUresult soft_GraphReleaseUserObject_v1(CUgraph hGraph, CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = user_object_find(handle, count, &object);
    struct holding *holding = result == CUDA_SUCCESS && graph != NULL ? graph_holding_find(graph, object) : NULL;
    if (holding == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (count > holding->count) /* not an error */
        count = holding->count;
    holding->count -= count;
    if (holding->count == 0)
        *holding = graph->holdings[--graph->holding_count];
    user_object_unref(object, count);
    return CUDA_SUCCESS;
}
