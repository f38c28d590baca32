/* SPDX-License-Identifier: MIT */
/* Copies: one description for all of the driver's forms, checked against what memory there is. */
#ifndef SOFT_COPY_H
#define SOFT_COPY_H

#include "soft.h"

#include "work.h"

enum copy_when {
    COPY_NOW,   /* the call returns when it is done */
    COPY_ASYNC, /* as soon as the memory allows it: pageable host memory is not used after the call */
    COPY_ORDER  /* never waits: from device to device */
};

/* Submits a copy; `params` must stay unchanged only for the call. */
CUresult copy_submit(const CUDA_MEMCPY3D *params, CUstream handle, enum copy_when when);

/* One row of bytes. */
CUDA_MEMCPY3D copy_row(CUmemorytype to_type, uint64_t to, CUmemorytype from_type, uint64_t from, size_t bytes);

/* What a synchronous call checks before it uses the default stream. */
CUresult copy_default_stream(struct stream **out_stream);

#endif
