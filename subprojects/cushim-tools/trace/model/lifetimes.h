/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TRACE_LIFETIMES_H
#define CUSHIM_TRACE_LIFETIMES_H

#include "model.h"

/* Follows the objects that a call has created or destroyed, after it succeeded. Returns false if there is not enough
 * memory. */
bool trace_objects_follow(struct trace_model *model, const struct trace_call *call,
                          const struct trace_object_effect *effect);

/* For trace_reader.kernel_read, with the model as its user. */
void trace_kernel_read(void *model, const struct trace_kernel_note *note);

#endif
