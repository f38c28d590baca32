/* SPDX-License-Identifier: MIT */
/* User objects: the caller's objects, destroyed when neither the caller nor a graph holds a reference. */
#include "calls.h"

#include <stdlib.h>

static void user_object_free(void *object)
{
    free(object);
}

CUresult soft_UserObjectCreate_v1(CUuserObject *object_out, void *ptr, CUhostFn destroy, unsigned int initialRefcount,
                                  unsigned int flags)
{
    if (object_out == NULL || destroy == NULL || initialRefcount == 0 || flags != CU_USER_OBJECT_NO_DESTRUCTOR_SYNC)
        return CUDA_ERROR_INVALID_VALUE;
    struct user_object *object = object_new(OBJECT_USER_OBJECT, sizeof *object, user_object_free);
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

static struct retained *graph_find_retained(struct graph *graph, const struct user_object *object)
{
    for (size_t i = 0; i < graph->retained_count; i++)
        if (graph->retained[i].object == object)
            return &graph->retained[i];
    return NULL;
}

CUresult soft_GraphRetainUserObject_v1(CUgraph hGraph, CUuserObject handle, unsigned int count, unsigned int flags)
{
    struct user_object *object;
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = user_object_find(handle, count, &object);
    if (result != CUDA_SUCCESS || graph == NULL || (flags & ~(unsigned)CU_GRAPH_USER_OBJECT_MOVE) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    struct retained *retained = graph_find_retained(graph, object);
    if (retained == NULL) {
        if (!soft_reserve((void **)&graph->retained, &graph->retained_capacity, graph->retained_count + 1,
                          sizeof(struct retained)))
            return CUDA_ERROR_OUT_OF_MEMORY;
        retained = &graph->retained[graph->retained_count++];
        *retained = (struct retained){object, 0};
    }
    retained->count += count;
    if ((flags & CU_GRAPH_USER_OBJECT_MOVE) == 0)
        user_object_ref(object, count);
    return CUDA_SUCCESS;
}

CUresult soft_GraphReleaseUserObject_v1(CUgraph hGraph, CUuserObject handle, unsigned int count)
{
    struct user_object *object;
    struct graph *graph = handle_find(OBJECT_GRAPH, hGraph);
    CUresult result = user_object_find(handle, count, &object);
    struct retained *retained = result == CUDA_SUCCESS && graph != NULL ? graph_find_retained(graph, object) : NULL;
    if (retained == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    if (count > retained->count) /* not an error */
        count = retained->count;
    retained->count -= count;
    if (retained->count == 0)
        *retained = graph->retained[--graph->retained_count];
    user_object_unref(object, count);
    return CUDA_SUCCESS;
}
