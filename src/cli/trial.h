/* SPDX-License-Identifier: MIT */
/*
 * Loads the driver in a child process first. The library checks files in known paths and a file that is given by its
 * path, but the dynamic loader opens a plain name without a check: a truncated file ends the process (SIGBUS), and a
 * FIFO blocks it. An interrupted installation of the driver can leave a truncated file.
 */
#ifndef CUSHIM_CLI_TRIAL_H
#define CUSHIM_CLI_TRIAL_H

#include "cushim/cushim.h"

/*
 * Returns NULL if this process can load the driver with these options. Otherwise the absent table is current, and the
 * returned diagnosis, which is never freed, describes how the child ended.
 */
const struct cushim_diagnosis *trial_load(const struct cushim_load_options *options);

#endif
