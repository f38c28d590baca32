/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress must return the address that dlsym returns for the same entry point, as in a driver. */
#ifndef CUSHIM_EXEC_PROC_ADDRESS_H
#define CUSHIM_EXEC_PROC_ADDRESS_H

#include "cushim/lookup.h"

/* Records that `exported` stands for the driver's function. Called before a program can call an export. */
void exec_proc_address_add(cushim_fn driver_fn, cushim_fn exported);

/* Called once after the last exec_proc_address_add(). */
void exec_proc_address_sort(void);

/* Replaces an answer of the driver, or of a table's slot, by the export that stands for it. Other answers stay: a
 * function that the list does not know leads straight into the driver. */
void exec_proc_address_replace(void **address);

#endif
