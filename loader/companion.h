/* SPDX-License-Identifier: MIT */
/* Companions, for tests. */
#ifndef CUSHIM_LOADER_COMPANION_H
#define CUSHIM_LOADER_COMPANION_H

/* For tests: closes and forgets each companion. No other thread may be using cushim. */
void cush_companion_reset_for_tests(void);

#endif
