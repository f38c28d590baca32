/* SPDX-License-Identifier: MIT */
/* Work: one task of a stream, and its execution. */
#include "engine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "os_thread.h"

enum { POLL_NANOSECONDS = 50000 };

struct work *work_new(enum work_kind kind)
{
    struct work *work = calloc(1, sizeof *work);
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
        object_unref(work->kept);
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

static bool is_allocated(const void *address)
{
    return block_find((uintptr_t)address) == block_find_for_graph((uintptr_t)address);
}

bool work_memory_is_allocated(const struct work *work)
{
    if (work->kind == WORK_SET)
        return is_allocated(work->set.to);
    return work->kind != WORK_COPY || (is_allocated(work->copy.to) && is_allocated(work->copy.from));
}

bool work_is_of_memory(const struct work *work)
{
    return work->kind == WORK_ALLOC || work->kind == WORK_FREE;
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

/* A result other than success is the sticky error of the context. */
static CUresult work_run_kernel(const struct kernel *kernel)
{
    const struct function *function = kernel->function;
    struct softcuda_launch launch = {.name = function->name,
                                     .shared_bytes = kernel->shared,
                                     .arguments = kernel->arguments,
                                     .argument_count = function->count};
    memcpy(launch.grid, kernel->grid, sizeof launch.grid);
    memcpy(launch.block, kernel->block, sizeof launch.block);
    function->run(&launch);
    return (CUresult)launch.result;
}

bool value_is_64(CUstreamBatchMemOpType type)
{
    return type == CU_STREAM_MEM_OP_WAIT_VALUE_64 || type == CU_STREAM_MEM_OP_WRITE_VALUE_64;
}

static bool value_is_fulfilled(const struct CUstreamMemOpWaitValueParams_st *wait)
{
    uint64_t value = wait->value64, now;
    if (value_is_64(wait->operation)) {
        now = atomic_load_explicit((_Atomic uint64_t *)(uintptr_t)wait->address, memory_order_acquire);
    } else {
        value = wait->value;
        now = atomic_load_explicit((_Atomic uint32_t *)(uintptr_t)wait->address, memory_order_acquire);
    }
    switch (wait->flags & VALUE_COMPARISON) {
    case CU_STREAM_WAIT_VALUE_GEQ: /* cyclic, as documented */
        return value_is_64(wait->operation) ? (int64_t)(now - value) >= 0 : (int32_t)(uint32_t)(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
        return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
        return (now & value) != 0;
    default:
        return value_is_64(wait->operation) ? ~(now | value) != 0 : (uint32_t) ~(now | value) != 0;
    }
}

static bool stream_is_lost(const struct stream *stream)
{
    os_lock();
    bool result = context_state(stream->context, stream->generation) != CUDA_SUCCESS;
    os_unlock();
    return result;
}

/* In order; stops when the context of the stream is destroyed. */
static void work_run_values(const CUstreamBatchMemOpParams *items, unsigned count, const struct stream *stream)
{
    static atomic_uint barrier;
    for (unsigned i = 0; i < count; i++) {
        const CUstreamBatchMemOpParams *item = &items[i];
        switch ((int)item->operation) {
        case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        case CU_STREAM_MEM_OP_WAIT_VALUE_64:
            while (!value_is_fulfilled(&item->waitValue)) {
                if (stream_is_lost(stream))
                    return;
                os_sleep(POLL_NANOSECONDS);
            }
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_32:
            atomic_store_explicit((_Atomic uint32_t *)(uintptr_t)item->writeValue.address, item->writeValue.value,
                                  memory_order_release);
            break;
        case CU_STREAM_MEM_OP_WRITE_VALUE_64:
            atomic_store_explicit((_Atomic uint64_t *)(uintptr_t)item->writeValue.address, item->writeValue.value64,
                                  memory_order_release);
            break;
        default:
            /* A fence, in a form that ThreadSanitizer also knows. */
            atomic_fetch_add(&barrier, 0);
        }
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
        return work_run_kernel(&work->kernel);
    case WORK_VALUES:
        work_run_values(work->values.items, work->values.count, stream);
        return CUDA_SUCCESS;
    default:
        return CUDA_SUCCESS;
    }
}
