/* SPDX-License-Identifier: MIT */
/*
 * Loads the driver in a child process first. The library checks files in known places and a file that is given by its
 * path, but a plain name is left to the dynamic loader: a file that is cut short ends the process there (SIGBUS), and
 * a FIFO blocks it. An interrupted installation of the driver leaves such files.
 */
#ifndef CUSHIM_CLI_TRIAL_H
#define CUSHIM_CLI_TRIAL_H

#include "cushim/cushim.h"

/*
 * Returns NULL if this process can load the driver with these options. Otherwise the absent table is current, and the
 * diagnosis, which stays, says what became of the child.
 */
const struct cushim_diagnosis *trial_load(const struct cushim_load_options *options);

#endif
