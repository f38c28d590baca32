/* SPDX-License-Identifier: MIT */
/* Functions that the tests of sets share. */
#ifndef STREAM_COMPLETION_SET_H
#define STREAM_COMPLETION_SET_H

#include "completion.h"

struct cushim_completion_set *set_new(void);

/* Waits until a completion comes out of the set, and returns it. */
struct cushim_completion *come_out(struct cushim_completion_set *set, void **out_user);

/* Checks that no completion comes out now, and that nothing is written. */
void rule_nothing(const char *key, struct cushim_completion_set *set);

#endif
