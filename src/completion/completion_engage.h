/* SPDX-License-Identifier: MIT */
/* Callbacks for the events of completions: completion_engage.c. */
#ifndef CUSHIM_COMPLETION_ENGAGE_H
#define CUSHIM_COMPLETION_ENGAGE_H

#include "completion_object.h"

/* How long a callback may be delayed. */
enum engagement {
    ENGAGE_PROMPTLY, /* not at all */
    ENGAGE_ANYWHERE  /* until other work is done, if there is no other way */
};

/*
 * Makes a callback of the driver fire the completion when its event is done. Returns CUDA_SUCCESS if a callback will
 * fire it or it has fired, CUDA_ERROR_NOT_READY if that is not possible at this time, CUDA_ERROR_NOT_SUPPORTED if there
 * is no stream for the callback, or an error of the driver.
 */
CUresult cush_completion_engage(struct cushim_completion *completion, enum engagement engagement);

#endif
