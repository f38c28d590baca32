/* SPDX-License-Identifier: MIT */
/* What the program and the libraries of exec tell each other: the settings, and the notes of a watched program. */
#ifndef CUSHIM_EXEC_SETTINGS_H
#define CUSHIM_EXEC_SETTINGS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
    char *images;      /* the table beside it */
    char *quiet;       /* the libraries write nothing to stderr */
};

/* Reads the variable. The caller frees the copy, unless it keeps the settings. */
struct exec_settings exec_settings_read(void);

/* ---- notes.c: what a watched program does, in lines "process kind name more", separated by tabs ---- */

enum exec_note {
    EXEC_NOTE_PROCESS = 'P',  /* it starts: its program, its parent */
    EXEC_NOTE_FORKED = 'p',   /* it is a child of fork(): its program, its parent */
    EXEC_NOTE_STARTED = 'M',  /* the objects that it is linked to are mapped */
    EXEC_NOTE_SEARCH = 'S',   /* a library is looked for: its name, the object that looks for it */
    EXEC_NOTE_NEEDED = 'N',   /* the same, because that object is linked to it */
    EXEC_NOTE_FILE = 'F',     /* the search finds this file */
    EXEC_NOTE_OTHER = 'D',    /* a driver is open that is not redirected, so that its calls are not seen: its path */
    EXEC_NOTE_OBJECT = 'O',   /* an object is open: its path, its soname */
    EXEC_NOTE_UNBOUND = 'U',  /* an object is closed that was just opened: what it needs and nothing has, the object */
    EXEC_NOTE_LACKS = 'u',    /* an object needs a function that the driver lacks, if it is called; the object */
    EXEC_NOTE_STAND_IN = 'B', /* an object is open before the driver, such as a preloaded one, and defines cuInit */
    EXEC_NOTE_VARIABLE = 'V', /* when the program calls cuInit: a variable, its value */
    EXEC_NOTE_LATE = 'W',     /* when the program ends: a variable, its value if it was set after cuInit */
    EXEC_NOTE_INIT = 'I',     /* the program has called cuInit: the result */
    EXEC_NOTE_CODE = 'C',     /* device code is loaded: its address and its handle, or 0; what it is for */

    /* From ptrace(2), of any process. */
    EXEC_NOTE_RUN = 'R',   /* it becomes a program, or fails to: its path, the name of the error or "" */
    EXEC_NOTE_TRIED = 'T', /* it opens a file, or looks for one: its path, the name of the error or "" */
    EXEC_NOTE_LEFT = 'L',  /* it becomes this program, and is no longer watched */
    EXEC_NOTE_ALONE = 'A'  /* it is not watched as a whole: its program, its parent; of process 0: the run is not */
};

/* The name of the file (open_file.h) is NULL if nothing is to be noted. */
void exec_notes_start(const char *name);
bool exec_notes_are_taken(void);
void exec_note(long process, enum exec_note kind, const char *name, const char *more);

/*
 * A table beside the notes, in memory that each process maps at its start: in it, a process counts what it cannot note,
 * also without its rights or in another root directory. An image is a program that a process runs; by exec, it becomes
 * another one. The memory has no name, and goes with the last process that maps it.
 */
struct exec_image {
    _Atomic int32_t process, parent;
    _Atomic uint32_t lost;      /* the notes that could not be written */
    _Atomic int32_t error;      /* of the first one of them, an errno */
    _Atomic uint32_t has_ended; /* by exit(), or from main() */
    char name[16];              /* of the process, as the system has it */
};
enum { EXEC_MAX_IMAGES = 4096 };
struct exec_images {
    uint64_t token;         /* another program's memory can have the same number later */
    _Atomic uint32_t count; /* can be larger than the list */
    struct exec_image list[EXEC_MAX_IMAGES];
};

/* images_make.c: makes the table, and writes what the settings have about it. Returns NULL if that is not possible. */
struct exec_images *exec_images_make(char *setting, size_t size);

/* Whether a process that has mapped it still runs, besides the one that has made it. */
bool exec_images_are_used(const char *setting);

/* images.c: that of this process, or NULL; a child of fork() counts in that of its parent. */
extern struct exec_image *exec_image_own;
struct exec_images *exec_images_map(const char *setting);

/* A process begins an image (images_begin.c), or finds the one that it has begun. */
void exec_image_begin(const char *setting);
void exec_image_find(const char *setting);

/* A note could not be written. */
void exec_image_lose(int error);

#endif
