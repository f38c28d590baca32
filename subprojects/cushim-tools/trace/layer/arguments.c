/* SPDX-License-Identifier: MIT */
#include "arguments.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "../file/format.h"
#include "cushim/dispatch_table.h"

enum { KERNELS = 1024, MAX_PARAMETERS = 64 };

/* The parameters of a function. */
struct kernel {
    uint64_t function;
    uint32_t generation, count;
    bool is_longer; /* it has more */
    uint32_t offsets[MAX_PARAMETERS], sizes[MAX_PARAMETERS];
};

/* What the driver has answered. A function whose entry is in use by another thread, or was in use when the process was
 * forked, is asked for again. */
static struct entry {
    atomic_flag is_used;
    struct kernel kernel;
} table[KERNELS];

static _Atomic uint32_t generation = 1;

void arguments_forget(void)
{
    atomic_fetch_add(&generation, 1);
}

/* Asks the driver. The last question fails, which invalidates no capture in the relaxed mode. */
static void kernel_ask(const struct cushim_dispatch_table *next, uint64_t function, struct kernel *kernel)
{
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUfunction handle = (CUfunction)(uintptr_t)function;
    kernel->count = 0;
    kernel->is_longer = false;
    if (next->ThreadExchangeStreamCaptureMode_v1(&mode) != CUDA_SUCCESS)
        return;
    bool has_next = true;
    for (size_t offset, size; has_next && kernel->count < MAX_PARAMETERS; kernel->count += has_next) {
        has_next = next->FuncGetParamInfo_v1(handle, kernel->count, &offset, &size) == CUDA_SUCCESS;
        if (has_next) {
            kernel->offsets[kernel->count] = (uint32_t)offset;
            kernel->sizes[kernel->count] = (uint32_t)size;
        }
    }
    kernel->is_longer = has_next;
    (void)next->ThreadExchangeStreamCaptureMode_v1(&mode);
}

static void kernel_find(const struct cushim_dispatch_table *next, uint64_t function, struct kernel *kernel)
{
    struct entry *entry = &table[(function * UINT64_C(0x9e3779b97f4a7c15) >> 54) % KERNELS];
    uint32_t now = atomic_load(&generation);
    bool is_own = !atomic_flag_test_and_set_explicit(&entry->is_used, memory_order_acquire);
    if (is_own && entry->kernel.function == function && entry->kernel.generation == now) {
        kernel->count = entry->kernel.count;
        kernel->is_longer = entry->kernel.is_longer;
        memcpy(kernel->offsets, entry->kernel.offsets, kernel->count * sizeof *kernel->offsets);
        memcpy(kernel->sizes, entry->kernel.sizes, kernel->count * sizeof *kernel->sizes);
    } else {
        kernel_ask(next, function, kernel);
        kernel->function = function;
        kernel->generation = now;
        if (is_own)
            entry->kernel = *kernel;
    }
    if (is_own)
        atomic_flag_clear_explicit(&entry->is_used, memory_order_release);
}

/* The buffer with the arguments in `extra`, and its size; or NULL. */
static const char *buffer_find(void *const *extra, size_t *out_size)
{
    const char *buffer = NULL;
    *out_size = 0;
    for (size_t i = 0; extra != NULL && i < 8 && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            memcpy(out_size, extra[i + 1], sizeof *out_size);
    }
    return buffer;
}

size_t arguments_read(const struct cushim_dispatch_table *next, const struct arguments_launch *launch, uint64_t *words,
                      size_t room)
{
    struct kernel kernel;
    size_t at = 0, buffer_size = 0;
    const char *buffer = launch->parameters == NULL ? buffer_find(launch->extra, &buffer_size) : NULL;
    if (launch->function == 0 || (launch->parameters == NULL && buffer == NULL))
        return 0;
    kernel_find(next, launch->function, &kernel);
    for (uint32_t i = 0; i < kernel.count; i++) {
        size_t size = kernel.sizes[i], offset = kernel.offsets[i], count = 1 + TRACE_WORDS_OF(size);
        if (buffer != NULL && (offset > buffer_size || size > buffer_size - offset))
            break;
        if (at + count + 1 > room) {
            kernel.is_longer = true;
            break;
        }
        words[at + count - 1] = 0;
        words[at] = size;
        memcpy(&words[at + 1], buffer != NULL ? buffer + offset : launch->parameters[i], size);
        at += count;
    }
    if (kernel.is_longer)
        words[at++] = TRACE_ARGUMENTS_CUT;
    return at;
}

size_t arguments_read_batch(const struct arguments_batch *batch, uint64_t *words, size_t room)
{
    enum { ARRAYS = 4 };
    size_t most = (room - 1) / ARRAYS - 1, count = batch->count < most ? batch->count : most, length = 1 + count;
    for (size_t i = 0; i < ARRAYS; i++)
        words[i * length] = count * sizeof *words;
    for (size_t i = 0, attribute = 0; i < count; i++) {
        while (attribute + 1 < batch->attribute_count && batch->first_of[attribute + 1] <= i)
            attribute++;
        words[1 + i] = batch->targets[i];
        words[length + 1 + i] = batch->sources[i];
        words[2 * length + 1 + i] = batch->sizes[i];
        words[3 * length + 1 + i] = batch->attributes[attribute].srcAccessOrder;
    }
    if (count < batch->count)
        words[ARRAYS * length] = TRACE_ARGUMENTS_CUT;
    return ARRAYS * length + (count < batch->count);
}
