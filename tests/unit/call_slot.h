/* SPDX-License-Identifier: MIT */
/* Calls any slot, for tests that run over the whole list. */
#ifndef CALL_SLOT_H
#define CALL_SLOT_H

#include "cushim/loader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Calls a slot of a table with zero for each argument of any type. */
CUresult call_slot(const struct cushim_dispatch_table *table, enum cushim_slot slot);

#ifdef __cplusplus
}
#endif

#endif
