/* SPDX-License-Identifier: MIT */
/* `cushim doctor -- PROGRAM`: what a program looked for and called, and the rule that explains why it did not use the
 * GPU. */
#ifndef CUSHIM_DOCTOR_PROGRAM_H
#define CUSHIM_DOCTOR_PROGRAM_H

#include "../doctor.h"

/* ---- program/program.c ---- */

/* Runs a program and explains why it did not use the GPU. The exit status is the program's. */
enum status program_command(const struct options *options);

/* Makes a file for the notes of the auditor, and writes the path by which other processes open it. */
int program_notes_make(char *path, size_t size);

/* Explains a run of options->program: from the notes; from a trace, unless it is negative; and from how it ended, as of
 * waitpid(). */
enum status program_explain(const struct options *options, int notes, int trace, int ended, bool *out_uses_gpu);

/* A search for a library. The strings are in the notes of the auditor. */
struct search {
    const char *name, *by; /* by: the path of the object that looked for it */
    const char *file;      /* that was found, or NULL */
    bool is_linked;        /* the program, or an object that it is linked to, needs it */
};

struct object {
    const char *path, *soname;
};

/* The driver calls of a process. */
struct program_calls {
    uint64_t count, failed, contexts, launches, copies;
    bool has_init, has_started, has_asked_version; /* cuInit was called, succeeded; cuDriverGetVersion was called */
    unsigned init_result;
    char init_caller[PLATFORM_PATH_SIZE], version_caller[PLATFORM_PATH_SIZE];     /* the objects */
    char failed_function[64], failed_caller[PLATFORM_PATH_SIZE], failed_log[512]; /* of the failure that counts */
    unsigned failed_result;
    bool is_grave;        /* its result is one that ends the use of a GPU */
    uint64_t later_calls; /* that succeeded after it */
    char last_function[64];
    unsigned last_result;
};

struct watched_process {
    long pid, parent;
    const char *path; /* of its program */
    bool has_started; /* all objects that it is linked to were found */
    struct search *searches;
    size_t search_count;
    struct object *objects;
    size_t object_count;
    const char *visible; /* CUDA_VISIBLE_DEVICES when it called cuInit, or NULL */
    struct program_calls calls;
};

struct program {
    char *const *arguments;
    int exit_status; /* 128 and the signal, as of a shell */
    char *notes;
    struct watched_process *processes;
    size_t count;
};

/* Reads the notes of the auditor. Returns false if there is not enough memory. */
bool program_read_notes(struct program *program, int file);

/* Reads the calls from a trace. */
bool program_read_calls(struct program *program, int file);
void program_free(struct program *program);

/* ---- libraries.c: those that come with the driver or the Toolkit ---- */

struct stack_library {
    const char *stem;  /* "libnvrtc.so" */
    const char *what;  /* "the run-time compiler" */
    const char *where; /* what has it, as the rest of a sentence that begins with "Install" */
    bool is_companion; /* programs open it by hand beside the driver */
};

/* Returns the library with a name, plain or with a path, or NULL. */
const struct stack_library *library_of(const char *name);

/* Returns the library after another one, or the first one after NULL; NULL after the last one. */
const struct stack_library *library_next(const struct stack_library *library);

/* Returns the part behind the last slash. */
const char *library_file(const char *name);

/* Whether an object only passes on the calls of dlopen(), as Python's ctypes does. */
bool library_passes_on(const char *path);

/* Writes the names under which a process looked for a library, separated by commas, the object that did so first, and
 * the file that it found, or NULL. Returns whether it looked for it. */
bool library_sought(const struct watched_process *process, const struct stack_library *library, char *names,
                    size_t size, const char **by, const char **file);

/* Writes up to three files of this machine that are the library. Returns false if there is none. */
bool library_find_others(const struct watched_process *process, const struct stack_library *library, char *paths,
                         size_t size);

/* Whether a file has this text in it. */
bool library_file_contains(const char *path, const char *word);

/* ---- rules.c ---- */

struct judgement {
    const struct program *program;
    const struct watched_process *process; /* NULL: none was seen */
    const struct doctor *machine;
    const char *cause; /* a stable word */
    bool uses_gpu;
    char message[2048], advice[2048];
};

/* Finds the rule that holds, and fills in the last four members. */
void program_judge(struct judgement *judgement);

#endif
