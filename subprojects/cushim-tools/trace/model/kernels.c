/* SPDX-License-Identifier: MIT */
#include "kernels.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "copies.h"
#include "text.h"

enum { MAX_KERNELS = 20, DIMENSIONS = TRACE_LAUNCH_DIMENSIONS };
enum { NO_DIRECTION = TRACE_MEMORIES * TRACE_MEMORIES, DIRECTIONS }; /* of copies, and of other calls */

/* The launches of a kernel with the same dimensions. */
struct trace_launches {
    const char *name;  /* kept once by the model; NULL: unknown */
    uint64_t function; /* its handle if the name is unknown, or 0 */
    uint32_t dimensions[DIMENSIONS];
    uint64_t calls, failed;
};

bool trace_launch_find(const struct trace_slot *slot, const struct trace_call *call, uint64_t *out_function,
                       uint32_t *out_dimensions)
{
    const uint64_t *function = trace_find_field(slot, call, "f"), *grid = trace_find_field(slot, call, "gridDimX");
    const uint64_t *config = trace_find_field(slot, call, "config");
    bool is_launch =
        text_starts_with(slot->function, "cuLaunchKernel") || text_starts_with(slot->function, "cuLaunchCooperative");
    if (!is_launch || function == NULL)
        return false;
    *out_function = *function;
    /* A CUlaunchConfig begins with the dimensions, each of 32 bits; an argument is a word. */
    if (config != NULL && config[0] != 0 && slot->fields[0].size >= DIMENSIONS * sizeof *out_dimensions)
        memcpy(out_dimensions, config + 1, DIMENSIONS * sizeof *out_dimensions);
    for (size_t i = 0; grid != NULL && i < DIMENSIONS && grid + i < call->fields + call->words; i++)
        out_dimensions[i] = (uint32_t)grid[i];
    return grid != NULL || (config != NULL && config[0] != 0);
}

static bool launch_count(struct trace_kernels *kernels, const struct trace_launches *launch, bool has_failed)
{
    size_t i = 0;
    while (i < kernels->launch_count
           && (kernels->launches[i].name != launch->name || kernels->launches[i].function != launch->function
               || memcmp(kernels->launches[i].dimensions, launch->dimensions, sizeof launch->dimensions) != 0))
        i++;
    if (i == kernels->launch_count) {
        struct trace_launches *grown = realloc(kernels->launches, (i + 1) * sizeof *grown);
        if (grown == NULL)
            return false;
        kernels->launches = grown;
        grown[i] = *launch;
        kernels->launch_count++;
    }
    kernels->launches[i].calls++;
    kernels->launches[i].failed += has_failed;
    return true;
}

bool trace_kernels_read(struct trace_kernels *kernels, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    const struct trace_object_effect *effect = &model->effects[call->slot];
    bool has_succeeded = call->returned && call->result == CUDA_SUCCESS;
    struct trace_launches launch = {.calls = 0};
    if (trace_launch_find(slot, call, &launch.function, launch.dimensions)) {
        launch.name = trace_kernel_name(model, call->process, launch.function);
        if (launch.name != NULL)
            launch.function = 0;
        return launch_count(kernels, &launch, call->returned && !has_succeeded);
    }
    bool has_bytes = text_starts_with(slot->function, "cuMemcpy") || text_starts_with(slot->function, "cuMemset")
                     || text_starts_with(slot->function, "cuMemAlloc")
                     || text_starts_with(slot->function, "cuMemHostAlloc")
                     || text_starts_with(slot->function, "cuMemCreate");
    struct trace_copy copy = {.bytes = 0};
    bool has_copy = has_bytes && trace_copy_of(slot, call, &copy);
    if (!has_bytes || !has_succeeded || (effect->size < 0 && !has_copy))
        return true;
    if (kernels->bytes == NULL
        && (kernels->bytes = calloc(model->reader->slot_count * DIRECTIONS + 1, sizeof *kernels->bytes)) == NULL)
        return false;
    size_t direction = has_copy ? (size_t)copy.from * TRACE_MEMORIES + copy.to : NO_DIRECTION;
    struct trace_bytes *bytes = &kernels->bytes[call->slot * DIRECTIONS + direction];
    bytes->calls++;
    bytes->bytes += has_copy ? copy.bytes : trace_effect_bytes(effect, call);
    return true;
}

static int compare_launches(const void *a, const void *b)
{
    const struct trace_launches *one = a, *other = b;
    if (one->calls != other->calls)
        return one->calls < other->calls ? 1 : -1;
    if (one->name == NULL || other->name == NULL)
        return (one->function > other->function) - (one->function < other->function);
    return strcmp(one->name, other->name);
}

/* "128x1x1" */
static struct trace_text dimensions_text(const uint32_t *dimensions)
{
    struct trace_text text;
    snprintf(text.text, sizeof text.text, "%" PRIu32 "x%" PRIu32 "x%" PRIu32, dimensions[0], dimensions[1],
             dimensions[2]);
    return text;
}

/* "host to device" */
static struct trace_text direction_text(size_t direction)
{
    struct trace_text text = {""};
    if (direction != NO_DIRECTION)
        snprintf(text.text, sizeof text.text, "%s to %s", trace_memory_names[direction / TRACE_MEMORIES],
                 trace_memory_names[direction % TRACE_MEMORIES]);
    return text;
}

void trace_kernels_print(struct trace_kernels *kernels, const struct trace_reader *reader)
{
    size_t shown = kernels->launch_count < MAX_KERNELS ? kernels->launch_count : MAX_KERNELS;
    if (shown > 0) {
        printf("\nKernels:\n%10s %8s %16s %12s %8s  kernel\n", "launches", "failed", "grid", "block", "shared");
        qsort(kernels->launches, kernels->launch_count, sizeof *kernels->launches, compare_launches);
    }
    for (size_t i = 0; i < shown; i++) {
        const struct trace_launches *one = &kernels->launches[i];
        printf("%10" PRIu64 " %8" PRIu64 " %16s %12s %8" PRIu32 "  ", one->calls, one->failed,
               dimensions_text(one->dimensions).text, dimensions_text(one->dimensions + 3).text, one->dimensions[6]);
        if (one->name != NULL)
            text_put(TONE_PLAIN, one->name, 0);
        else
            printf("0x%" PRIx64, one->function);
        puts("");
    }
    if (shown < kernels->launch_count)
        printf("and %zu more\n", kernels->launch_count - shown);
    if (kernels->bytes != NULL)
        printf("\nBytes:\n%10s %16s %18s  function\n", "calls", "bytes", "direction");
    for (size_t i = 0; kernels->bytes != NULL && i < reader->slot_count * DIRECTIONS; i++) {
        if (kernels->bytes[i].calls == 0)
            continue;
        printf("%10" PRIu64 " %16" PRIu64 " %18s  ", kernels->bytes[i].calls, kernels->bytes[i].bytes,
               direction_text(i % DIRECTIONS).text);
        text_put(TONE_PLAIN, reader->slots[i / DIRECTIONS].function, 0);
        puts("");
    }
}

void trace_kernels_free(struct trace_kernels *kernels)
{
    free(kernels->launches);
    free(kernels->bytes);
}
