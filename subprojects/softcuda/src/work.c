/* SPDX-License-Identifier: MIT */
#include "work.h"

#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "fault.h"
#include "graph.h"
#include "kernel.h"
#include "memory.h"
#include "os_thread.h"
#include "stream.h"
#include "values.h"

struct work *work_new(enum work_kind kind)
{
    struct work *work = calloc(1, sizeof(*work));
    if (work != NULL) {
        work->kind = kind;
        work->references = 1;
    }
    return work;
}

void work_ref(struct work *work)
{
    work->references++;
}

void work_unref(struct work *work)
{
    if (work == NULL || --work->references > 0)
        return;
    switch (work->kind) {
    case WORK_COPY:
        free(work->copy.staged);
        break;
    case WORK_KERNEL:
        free(work->kernel.arguments);
        object_unref(work->kernel.function);
        break;
    case WORK_RECORD:
    case WORK_WAIT:
        object_unref(work->event);
        break;
    case WORK_ALLOC:
    case WORK_FREE:
        block_unref(work->block);
        break;
    case WORK_VALUES:
        free(work->values.items);
        break;
    case WORK_CHILD:
        graph_destroy(work->child);
        break;
    case WORK_KEEP_GRAPH:
        object_unref(work->held);
        break;
    case WORK_EMPTY:
    case WORK_SET:
    case WORK_HOST:
    case WORK_STATUS:
        break;
    }
    free(work);
}

bool work_is_instant(const struct work *work)
{
    switch (work->kind) {
    case WORK_EMPTY:
    case WORK_RECORD:
    case WORK_WAIT:
    case WORK_ALLOC:
    case WORK_KEEP_GRAPH:
    case WORK_FREE: /* dropping the last reference to the work frees the memory */
        return true;
    default:
        return false;
    }
}

static void work_run_copy(const struct copy *copy)
{
    const char *from = copy->staged != NULL ? copy->staged : copy->from;
    for (size_t z = 0; z < copy->depth; z++)
        for (size_t y = 0; y < copy->height; y++)
            memmove(copy->to + z * copy->to_slice + y * copy->to_pitch,
                    from + z * copy->from_slice + y * copy->from_pitch, copy->width);
}

static void work_run_set(const struct set *set)
{
    for (size_t y = 0; y < set->height; y++) {
        char *row = set->to + y * set->pitch;
        if (set->element_size == 1) {
            memset(row, (int)set->value, set->width);
            continue;
        }
        uint16_t half = (uint16_t)set->value;
        const void *element = set->element_size == 2 ? (const void *)&half : &set->value;
        for (size_t x = 0; x < set->width; x++)
            memcpy(row + x * set->element_size, element, set->element_size);
    }
}

CUresult work_run(const struct work *work, CUresult status, const struct stream *stream)
{
    if (work->kind == WORK_STATUS) {
        fault_delay();
        work->status.function(work->status.stream, status, work->status.data);
        return CUDA_SUCCESS;
    }
    if (status != CUDA_SUCCESS)
        return CUDA_SUCCESS; /* nothing is executed in a destroyed context */
    switch (work->kind) {
    case WORK_HOST:
        fault_delay();
        work->host.function(work->host.data);
        return CUDA_SUCCESS;
    case WORK_COPY:
        work_run_copy(&work->copy);
        return CUDA_SUCCESS;
    case WORK_SET:
        work_run_set(&work->set);
        return CUDA_SUCCESS;
    case WORK_KERNEL:
        return kernel_run(&work->kernel);
    case WORK_VALUES:
        values_run(work->values.items, work->values.count, stream);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}
