/* SPDX-License-Identifier: MIT */
/* Host functions and callbacks in streams. */
#ifndef SOFT_CALLBACK_H
#define SOFT_CALLBACK_H

#include "soft.h"

#include "work.h"

/* Creates work from a caller's description. Fails with 1, 801, or 2. */
CUresult work_from_host(CUhostFn function, void *data, struct work **out_work);

#endif
