/* SPDX-License-Identifier: MIT */
/*
 * The parts of the exec library, which `cushim exec` places under a program:
 *
 *   libcuda.so.1        names.c. One for each CUDA version that brought names; it exports the names up to that version.
 *   libcushim-exec.so   start.c, proc_address.c and device_code.c. The code, once, which all of the former need.
 *   auditor.so          auditor.c. It redirects paths of the driver.
 */
#ifndef CUSHIM_EXEC_H
#define CUSHIM_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "driver.h"
#include "settings.h"
#include "softcuda.h"

/* The names that have no slot, numbered. */
enum {
#define CUSHIM_EXPORT_WITHOUT_SLOT(symbol) EXEC_WITHOUT_SLOT_##symbol,
#include "lists/exports.inc"
    EXEC_WITHOUT_SLOT_COUNT
};

/* Where the functions of a libcuda.so.1 lead. */
struct exec_names {
    const union table *legacy, *per_thread;
    cushim_fn without_slot[EXEC_WITHOUT_SLOT_COUNT]; /* the driver's functions, or NULL */
    softcuda_control_fn softcuda_control;            /* of softcuda, or NULL */
    bool (*hide)(const char *name);                  /* after this, dlsym() does not find the name in that library */
};

/* The start of a libcuda.so.1: loads the driver if that has not been done, and fills in `names`. */
void cushim_exec_start(struct exec_names *names);

/* The table until then. Its slots return CUDA_ERROR_NOT_INITIALIZED. */
extern const union table cushim_exec_not_started;

/*
 * Lets cuGetProcAddress return the address that dlsym() returns for the same entry point, as drivers do: `exported` in
 * place of the driver's function, and of the function in a slot of the current tables. CUSHIM_SLOT_COUNT: no slot.
 */
void exec_proc_address_add(cushim_fn exported, cushim_fn driver_fn, enum cushim_default_stream kind,
                           enum cushim_slot slot);

/* Called once, after the last exec_proc_address_add(). */
void exec_proc_address_sort(void);

/* Called before the layers and the driver are loaded: cuGetProcAddress gives the answers above. */
CUresult exec_proc_address_install(void);

/* device_code.c: the same, and notes are taken of the device code that the program loads. */
CUresult exec_device_code_install(void);

#endif
