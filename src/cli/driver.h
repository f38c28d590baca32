/* SPDX-License-Identifier: MIT */
/* The driver as the command line asks for it, and what several commands want to know of it. */
#ifndef CUSHIM_CLI_DRIVER_H
#define CUSHIM_CLI_DRIVER_H

#include "options.h"

/*
 * Loads the driver.
 *   STATUS_USABLE    it is loaded
 *   STATUS_UNUSABLE  it is not; driver_diagnosis() says why
 *   STATUS_USAGE     an option makes no sense; it has been complained about
 */
enum status driver_load(const struct options *options);

/* What became of the load: cushim_get_diagnosis(), or why nothing was loaded into this process (see trial.h). */
const struct cushim_diagnosis *driver_diagnosis(void);

/* For commands whose output cannot say why there is no driver: says it on stderr. */
void driver_complain(void);

/* What the driver's makers call it, "550.163.01", as its file is named, below links; "" where that does not tell. */
struct driver_release {
    char text[32];
};
struct driver_release driver_release_of(const char *path);

/* Whether a kernel module and a library of these releases are the same one. */
bool driver_same_release(const char *one, const char *other);

/* Starts the driver (cuInit). Nothing that was written to stdout before can come out twice: some drivers fork. */
CUresult driver_start(void);

/* The driver's own name for a code, "CUDA_ERROR_NO_DEVICE", or "an unknown code". */
const char *driver_code_name(CUresult code);

#endif
