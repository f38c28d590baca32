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
#include "softcuda.h"

/*
 * The settings, in one environment variable, which children inherit. The text is "key=value;key=value": a value cannot
 * contain a semicolon.
 */
#define EXEC_VARIABLE "CUSHIM_EXEC"

#define EXEC_CODE "libcushim-exec.so"

/* Each member is NULL if it was not given. */
struct exec_settings {
    char *copy;        /* of the variable: the other members point into it */
    char *names;       /* the directory with libcuda.so.1 */
    char *driver;      /* the path of the driver, or "none" */
    char *chosen;      /* the user chose the driver: it is not the machine's */
    char *max_version; /* "12040" */
    char *hide;        /* as CUSHIM_HIDE */
    char *layers;      /* as CUSHIM_LAYERS */
    char *notes;       /* a file for what the program looks for */
    char *quiet;       /* the libraries write nothing to stderr */
};

/* Reads the variable. The caller frees the copy, unless it keeps the settings. */
struct exec_settings exec_settings_read(void);

/* ---- notes.c: what a watched program does, in lines "process kind name more", separated by tabs ---- */

enum exec_note {
    EXEC_NOTE_PROCESS = 'P',  /* it starts: its program, its parent */
    EXEC_NOTE_STARTED = 'M',  /* the objects that it is linked to are mapped */
    EXEC_NOTE_SEARCH = 'S',   /* a library is looked for: its name, the object that looks for it */
    EXEC_NOTE_NEEDED = 'N',   /* the same, because that object is linked to it */
    EXEC_NOTE_FILE = 'F',     /* the search finds this file */
    EXEC_NOTE_OBJECT = 'O',   /* an object is open: its path, its soname */
    EXEC_NOTE_VARIABLE = 'V', /* when the program calls cuInit: a variable, its value */
    EXEC_NOTE_CODE = 'C',     /* device code is loaded: its address and its handle, or 0; what it is for */

    /* From ptrace(2), of any process. */
    EXEC_NOTE_RUN = 'R',  /* it becomes a program, or fails to: its path, the name of the error or "" */
    EXEC_NOTE_TRIED = 'T' /* it opens a file, or looks for one: its path, the name of the error or "" */
};

/* The path is NULL if nothing is to be noted. */
void exec_notes_start(const char *path);
bool exec_notes_are_taken(void);
void exec_note(long process, enum exec_note kind, const char *name, const char *more);

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
