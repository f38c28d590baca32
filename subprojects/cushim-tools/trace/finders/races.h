/* SPDX-License-Identifier: MIT */
/* Conflicts in words. */
#ifndef CUSHIM_TRACE_RACES_H
#define CUSHIM_TRACE_RACES_H

#include "../order/orders.h"

/* "writes", "device allocation" */
const char *trace_access_word(const struct trace_access *access);
const char *trace_memory_word(enum trace_memory_kind kind);

/* What stands in place of the wait, and what to do. */
void trace_missing_describe(const struct trace_conflict *conflict, char *text, size_t size);

#endif
