/* SPDX-License-Identifier: MIT */
/* Completions at the end of a context: completion_settle.c. */
#ifndef CUSHIM_COMPLETION_SETTLE_H
#define CUSHIM_COMPLETION_SETTLE_H

/* From now on, the end of a context through cushim settles the completions that have events in it. */
void cush_completions_settle_contexts(void);

#endif
