/* SPDX-License-Identifier: MIT */
/* Registered kernels. */
#include "control.h"

#include <stdlib.h>
#include <string.h>

static struct function *functions; /* a list; never removed, because a launch may be pending */

struct function *function_named(const char *name)
{
    for (struct function *function = functions; function != NULL; function = function->next)
        if (strcmp(function->name, name) == 0)
            return function;
    return NULL;
}

static void function_free(void *object)
{
    struct function *function = object;
    free(function->name);
    free(function->sizes);
    free(function->offsets);
    free(function);
}

/* In the layout of a C struct. */
static void function_lay_out(struct function *function)
{
    size_t at = 0;
    for (size_t i = 0; i < function->count; i++) {
        size_t size = function->sizes[i], alignment = 1;
        while (alignment < MAX_ARGUMENT_ALIGNMENT && size % (alignment * 2) == 0)
            alignment *= 2;
        at = (at + alignment - 1) / alignment * alignment;
        function->offsets[i] = at;
        at += size;
    }
    function->buffer_size = at;
}

static struct function *function_new(const char *name, softcuda_kernel run, const size_t *sizes, size_t count)
{
    struct function *function = object_new(OBJECT_FUNCTION, sizeof *function, function_free);
    if (function == NULL)
        return NULL;
    function->name = malloc(strlen(name) + 1);
    function->sizes = calloc(count + 1, sizeof(size_t));
    function->offsets = calloc(count + 1, sizeof(size_t));
    bool whole = function->name != NULL && function->sizes != NULL && function->offsets != NULL;
    if (!whole || !handle_publish(function)) {
        function_free(function);
        return NULL;
    }
    strcpy(function->name, name);
    function->run = run;
    function->count = count;
    if (count > 0)
        memcpy(function->sizes, sizes, count * sizeof(size_t));
    function_lay_out(function);
    return function;
}

CUresult function_register(const char *name, softcuda_kernel run, const size_t *sizes, size_t count)
{
    if (name == NULL || *name == '\0' || run == NULL || (sizes == NULL && count > 0))
        return CUDA_ERROR_INVALID_VALUE;
    for (size_t i = 0; i < count; i++)
        if (sizes[i] == 0 || sizes[i] > MAX_ARGUMENT_SIZE)
            return CUDA_ERROR_INVALID_VALUE;
    struct function *function = function_new(name, run, sizes, count);
    if (function == NULL)
        return CUDA_ERROR_OUT_OF_MEMORY;
    function->next = functions; /* in front of an earlier one of that name, which existing handles still refer to */
    functions = function;
    return CUDA_SUCCESS;
}
