/* SPDX-License-Identifier: MIT */
/* What the program and the libraries of exec tell each other: the settings, and the notes of a watched program. */
#ifndef CUSHIM_EXEC_SETTINGS_H
#define CUSHIM_EXEC_SETTINGS_H

#include <stdbool.h>

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

/* The name of the file (open_file.h) is NULL if nothing is to be noted. */
void exec_notes_start(const char *name);
bool exec_notes_are_taken(void);
void exec_note(long process, enum exec_note kind, const char *name, const char *more);

#endif
