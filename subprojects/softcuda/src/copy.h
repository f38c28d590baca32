/* SPDX-License-Identifier: MIT */
/* Copies: one description for all forms of the driver, checked against the known memory. */
#ifndef SOFT_COPY_H
#define SOFT_COPY_H

#include "soft.h"

#include "work.h"

enum copy_when {
    COPY_NOW,   /* the call returns when the copy is complete */
    COPY_ASYNC, /* returns as soon as the memory permits it: pageable host memory is not used after the call */
    COPY_ORDER  /* never waits: from device to device */
};

/* Submits a copy; `params` must stay unchanged only during the call. */
CUresult copy_submit(const CUDA_MEMCPY3D *params, CUstream handle, enum copy_when when);

/* One row of bytes. */
CUDA_MEMCPY3D copy_row(CUmemorytype to_type, uint64_t to, CUmemorytype from_type, uint64_t from, size_t bytes);

/* The checks of a synchronous call before it uses the default stream. */
CUresult copy_default_stream(struct stream **out_stream);

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
CUresult work_from_copy(const CUDA_MEMCPY3D *params, struct work **out_work);

#endif
