/* SPDX-License-Identifier: MIT */
/* The context object: context.c. */
#ifndef CUSHIM_CONTEXT_OBJECT_H
#define CUSHIM_CONTEXT_OBJECT_H

#include <stdatomic.h>

#include "cushim/context.h"

struct cushim_context {
    atomic_uint references;
    CUcontext handle;
    CUgreenCtx green; /* or NULL */
    CUdevice device;
    enum { CONTEXT_PRIMARY, CONTEXT_OWN, CONTEXT_BORROWED } kind;
};

/* Both accept NULL. Dropping the last reference releases or destroys the driver's context and returns the code. */
struct cushim_context *cush_context_ref(struct cushim_context *context);
CUresult cush_context_unref(struct cushim_context *context);

/* Makes a context current for a block of calls, like cushim_context_enter() and cushim_context_leave(), but records no
 * error. The first returns false on failure. */
bool cush_context_push(CUcontext context, CUcontext *out_before);
void cush_context_pop(CUcontext before);

/* The id of a context is never used again, as its handle can be. Needs CUDA 12.0. */
CUresult cush_context_find_id(CUcontext context, unsigned long long *out_id);
/* Returns CUDA_SUCCESS if the context exists, CUDA_ERROR_CONTEXT_IS_DESTROYED if not, CUDA_ERROR_NOT_READY if the
 * driver gives no certain answer, or an error that it repeats. */
CUresult cush_context_check_id(CUcontext context, unsigned long long id);

/* Sets a function that is called before a context that is not borrowed ends or is released. */
void cush_context_set_end_hook(void (*hook)(CUcontext context));

#endif
