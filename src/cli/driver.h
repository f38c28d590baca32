/* SPDX-License-Identifier: MIT */
/* The driver that the command line selects, and facts about it that several commands need. */
#ifndef CUSHIM_CLI_DRIVER_H
#define CUSHIM_CLI_DRIVER_H

#include "options.h"

/*
 * Loads the driver.
 *   STATUS_USABLE    the driver is loaded
 *   STATUS_UNUSABLE  it is not loaded; driver_diagnosis() has the reason
 *   STATUS_USAGE     an option is invalid; a message was written to stderr
 */
enum status driver_load(const struct options *options);

/* The diagnosis of the load: cushim_get_diagnosis(), or the reason why this process did not load (see trial.h). */
const struct cushim_diagnosis *driver_diagnosis(void);

/* Writes the diagnosis to stderr, for commands whose output has no room for it. */
void driver_complain(void);

/* The release of a driver, "550.163.01", from its file name after links are resolved; "" if the name has none. */
struct driver_release {
    char text[32];
};
struct driver_release driver_release_of(const char *path);

/* Whether a kernel module and a library have the same release. */
bool driver_same_release(const char *one, const char *other);

/* Starts the driver (cuInit). Flushes stdout first: some drivers fork, and buffered output would be written twice. */
CUresult driver_start(void);

/* The name of a code, such as "CUDA_ERROR_NO_DEVICE", or "an unknown code". */
const char *driver_code_name(CUresult code);

#endif
