/* SPDX-License-Identifier: MIT */
/* Companions, for the loader and for tests. */
#ifndef CUSHIM_LOADER_COMPANION_H
#define CUSHIM_LOADER_COMPANION_H

/*
 * Returns NVML for the search for GPUs, or NULL. Without a loaded driver, NVML is searched for as a companion of a
 * driver that is not found; that result is not final, but an open NVML stays open.
 */
void *cush_companion_open_nvml(const char *root);

/* For tests: closes and forgets each companion. No other thread may be using cushim. */
void cush_companion_reset_for_tests(void);

#endif
