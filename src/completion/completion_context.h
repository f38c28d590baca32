/* SPDX-License-Identifier: MIT */
/* Completions at the end of a context: completion_context.c. */
#ifndef CUSHIM_COMPLETION_CONTEXT_H
#define CUSHIM_COMPLETION_CONTEXT_H

/* From now on, cushim ends a context only after a callback has taken over each completion that has an event in it. */
void cush_completions_hook_context_end(void);

#endif
