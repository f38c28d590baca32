/* SPDX-License-Identifier: MIT */
/* What the driver said about calls that failed: each text is kept once, for the findings. */
#ifndef CUSHIM_TRACE_LOGS_H
#define CUSHIM_TRACE_LOGS_H

#include "../file/reader.h"
#include "table.h"

/* Keeps what the driver said about a call. Begin with a zeroed table. Returns false if there is not enough memory. */
bool trace_log_keep(struct trace_table *logs, const struct trace_call *call);

/* Returns what was kept about a call, in lines, or NULL. Valid until trace_logs_free(). */
const char *trace_log_find(const struct trace_table *logs, const struct trace_call *call);

void trace_logs_free(struct trace_table *logs);

#endif
