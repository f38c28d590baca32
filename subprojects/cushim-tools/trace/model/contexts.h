/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TRACE_CONTEXTS_H
#define CUSHIM_TRACE_CONTEXTS_H

#include "model.h"

/* Before the first call. */
void trace_contexts_prepare(struct trace_model *model);

/* Follows which context is current, after a call that succeeded. Returns false if there is not enough memory. */
bool trace_contexts_follow(struct trace_model *model, const struct trace_call *call,
                           const struct trace_object_effect *effect);

#endif
