/* SPDX-License-Identifier: MIT */
/* Which results are failures, and which are answers, by the table in answers.inc. */
#ifndef CUSHIM_TRACE_ANSWERS_H
#define CUSHIM_TRACE_ANSWERS_H

#include "../file/reader.h"

/* What a result means that is an answer and not a failure: "no context was current"; or NULL. Equal meanings are the
 * same pointer. */
const char *trace_answer_of(const struct trace_reader *reader, const struct trace_call *call);

/* Whether a call returned an error that is not an answer. */
bool trace_has_failed(const struct trace_reader *reader, const struct trace_call *call);

#endif
