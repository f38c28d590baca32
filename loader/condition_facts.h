/* SPDX-License-Identifier: MIT */
/* What the loaded driver tells of its machine, for conditions. The public headers are enough for it, so that the
 * programs of this project ask the same. */
#ifndef CUSHIM_LOADER_CONDITION_FACTS_H
#define CUSHIM_LOADER_CONDITION_FACTS_H

#include "cushim/loader.h"
#include "condition.h"

/* Fills all but the GPUs. A driver is loaded. Slots and features are not answered: set judge_name. */
CUSHIM_COLD void cush_condition_facts(struct condition_facts *out_facts);

/* The release of a driver by the name of its file, after links are resolved. */
CUSHIM_COLD struct driver_release cush_driver_release(const char *path);

/*
 * ---- condition_gpus.c: the GPUs of a started driver. A subset without --gpus has gpu_none.c in its place ----
 */

/* Whether this copy of cushim can ask for them. */
bool cush_condition_has_gpus(void);

/* One of them. */
CUSHIM_COLD struct condition_gpu cush_condition_gpu(CUdevice device);

/* Adds the GPUs. Unless they are known, returns an error, and the facts say why. */
CUSHIM_COLD CUresult cush_condition_gpus(struct condition_facts *facts);

#endif
