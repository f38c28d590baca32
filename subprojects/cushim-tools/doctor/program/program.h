/* SPDX-License-Identifier: MIT */
/* `cushim doctor -- PROGRAM`: what a program looked for and called, and the rule that explains why it did not use the
 * GPU. */
#ifndef CUSHIM_DOCTOR_PROGRAM_H
#define CUSHIM_DOCTOR_PROGRAM_H

#include "../../exec/settings.h"
#include "../../exec/launch.h"
#include "../doctor.h"
#include "open_file.h"

/* ---- program.c ---- */

/* Runs a program and explains why it did not use the GPU. The exit status is that of the program. */
enum status program_command(const struct options *options);

/* A run of a program: what was recorded, and how it ended. */
struct program_run {
    char name[OPEN_FILE_NAME_SIZE], setting[64]; /* of the notes and the images, for the program */
    int notes, trace;                            /* files */
    struct exec_images *images;                  /* or NULL: there was no memory that processes can share */
    int status;                                  /* as of waitpid() */
    bool has_left;                               /* a process that it started runs after its end */
    struct supervised last;
};

/* Makes a file for the notes of the auditor, and the images, and names both in the options. Returns false after a
 * message. */
bool program_run_start(struct program_run *run, struct options *options);

/* Runs options->program to its end: see supervise(). */
int program_run_wait(struct program_run *run, const struct options *options, bool *out_started);

/* Explains a run of options->program. */
enum status program_explain(const struct options *options, const struct program_run *run, bool *out_uses_gpu);

/* ---- watch_program.c ---- */

/* In a process that is about to become a program: everything that it and its children do is noted, too. Returns 0 or an
 * errno. */
int program_watch(const char *notes);

/* Before that, in the doctor. */
void program_watch_start(const struct exec_images *images);

/* Whether a process that was followed runs after the end of the program. */
bool program_watch_has_left(void);

/* ---- observed.c: what the notes and the trace show. The strings are parts of them. ---- */

struct list {
    void *items;
    size_t count;
};

/* A search for a library. */
struct search {
    const char *name, *by; /* by: the path of the object that looked for it */
    const char *file;      /* that was found, or NULL */
    bool is_linked;        /* the object is linked to it */
};

struct object {
    const char *path, *soname;
};

/* A file that tells of a GPU, which the process opened or looked for, or a program that it ran. */
struct trial {
    const char *path, *error; /* error: the name of an errno, or "" */
    bool is_run;
};

/* What an object needs and nothing has: a function, or "library:version". */
struct unbound {
    const char *name, *by;
    bool is_closed; /* the object was closed for it; otherwise it matters when it is called */
};

/* Device code that was loaded: at which address, as which module or library (0: it was refused), and what it is for. */
struct device_code {
    unsigned long long image, handle;
    const char *text;
};

/* The driver calls of a process. */
struct program_calls {
    uint64_t count, failed, contexts, launches, copies;
    bool has_init, has_started; /* cuInit was called, succeeded */
    unsigned init_result, last_result;
    const char *init_caller, *version_caller; /* the objects that called cuInit and cuDriverGetVersion, or NULL */
    const char *last_function;
    const char *failed_function; /* of the last call that failed, whatever came after it; or NULL */
    unsigned failed_result;
    struct program_failure {
        const char *function, *caller; /* NULL: no call has failed after which nothing worked */
        const char *code;              /* the device code of the call, or "" */
        unsigned result;
        bool is_grave;      /* only work in its context shows that it did not matter */
        bool is_after_work; /* the process had used the GPU before */
        uint64_t context;
        char reason[1024], log[512]; /* what it means, and what the driver says about it; or "" */
    } failure;
};

struct watched_process {
    long pid, parent;
    const char *path;               /* of its program */
    bool is_copy;                   /* made by fork(): it runs the program of its parent */
    bool has_auditor;               /* otherwise, only its system calls or its driver calls are known */
    bool has_started;               /* all objects that it is linked to were found */
    const char *visible;            /* CUDA_VISIBLE_DEVICES when it called cuInit, or NULL */
    const char *late;               /* the same when it ended, if it was set after cuInit; or NULL */
    const char *stand_in;           /* an object that has cuInit in place of the driver, or NULL */
    const struct exec_image *image; /* what it counted itself, or NULL */
    const char *other;              /* a driver that it opened and whose calls are not seen, or NULL */
    const char *left;    /* the program that it became, and whose rights the watch would have taken; or NULL */
    bool is_alone;       /* it could not be watched as a whole */
    bool has_noted_init; /* it called cuInit: it has notes of that, also if its calls could not be recorded */
    struct list searches, objects, trials, codes, unbound;
    struct program_calls calls;
};

struct program {
    char *const *arguments;
    int exit_status;                  /* 128 and the signal, as of a shell */
    bool is_watch_wanted, is_watched; /* with ptrace(2); as a whole */
    const struct program_run *run;
    char *notes;
    const char *calls_refused; /* why calls were not recorded, or NULL: all were */
    struct list processes;
    bool has_failed; /* there was not enough memory */
};

void program_read_notes(struct program *program, int file);
void program_read_calls(struct program *program, int file);
void program_free(struct program *program);

/* ---- gaps.c: whether the record of a process is whole ---- */

enum gap_kind {
    GAP_NONE,
    GAP_CALLS,
    GAP_OTHER,
    GAP_NOTES,
    GAP_RIGHTS,
    GAP_ALONE,
    GAP_BECAME,
    GAP_NO_IMAGE,
    GAP_NO_END,
    GAP_ELSEWHERE,
    GAP_LEFT
};
struct gap {
    enum gap_kind kind;
    const struct watched_process *process; /* that has it: the one that was asked about, or a descendant; or NULL */
    const struct exec_image *image;        /* or NULL */
};

/* The first gap in the record of a process and of its descendants. */
struct gap gap_find(const struct program *program, const struct watched_process *process);

/* ---- libraries.c: those that come with the driver or the Toolkit ---- */

struct stack_library {
    const char *stem; /* "libnvrtc.so" */
    const char *what; /* "the run-time compiler" */
    enum { LIBRARY_OF_DRIVER, LIBRARY_OF_TOOLKIT, LIBRARY_ALONE } kind;
    const char *package; /* the end of the name of its package of Python; of the driver: that of Debian */
    const char *more; /* of the Toolkit: the names for conda and Debian; of the driver: its capability in a container;
                           * alone: what has it */
    const char *sonames; /* of the Toolkit: the versions in its name, of CUDA 11, 12 and 13 */
    bool is_needed;      /* a program that does not find it has a reason to do without the GPU */
};

/* Returns the library with a name, plain or with a path, or NULL. */
const struct stack_library *library_of(const char *name);

/* Returns the library after another one, or the first one after NULL; NULL after the last one. */
const struct stack_library *library_next(const struct stack_library *library);

/* Returns the part behind the last slash. */
const char *library_file(const char *name);

/* Whether an object only passes on the calls of dlopen(), as Python's ctypes does. */
bool library_passes_on(const char *path);

/* What a process looked for under the names of a library. */
struct sought {
    char names[512];       /* separated by commas */
    const char *by, *file; /* the object that did so first; the file that was found, or NULL */
    bool is_linked;
};

/* Returns whether it looked for it. */
bool library_sought(const struct watched_process *process, const struct stack_library *library, struct sought *sought);

/* Writes what has it, as the rest of a sentence that begins with "Install": for the version that the process sought. */
void library_write_where(const struct watched_process *process, const struct stack_library *library, char *where,
                         size_t size);

/* Writes a file of this machine that is the library, or "". Returns whether it has the name that was sought. */
bool library_find_other(const struct watched_process *process, const struct stack_library *library, char *path,
                        size_t size);

/* Returns the first open object of which the file matches one of these patterns, or NULL. */
const struct object *library_find_object(const struct watched_process *process, const char *files);

/* Writes the packages of Python of which native code was loaded: " jaxlib, numpy". */
void library_list_packages(const struct watched_process *process, char *names, size_t size);

/* Packages of Python that are installed together and have the same files. */
struct excluding {
    const char *package, *rival, *wanted;
};
bool library_find_excluding(const struct watched_process *process, struct excluding *excluding);

/* Returns an object that names the driver library, or NULL: any, or one for which the process itself asked. */
const char *library_find_able(const struct watched_process *process, bool is_any);

/* ---- rules.c ---- */

struct judgement {
    const struct program *program;
    const struct watched_process *process; /* NULL: none was seen */
    const struct doctor *machine;
    const char *cause; /* a stable word */
    bool uses_gpu;
    char message[1024], advice[2048];
    char able[PLATFORM_PATH_SIZE]; /* an object that can use CUDA although the program did not look for it, or "" */
};

/* Finds the rule that holds, and fills in the other members. */
void program_judge(struct judgement *judgement);

/* The first problem of the machine, or NULL if it has none. */
const struct finding *program_machine_problem(const struct judgement *judgement);

/* ---- facts.c; reasons.c, reasons_libraries.c, reasons_end.c: the evidence of rules.inc ---- */

#define RULE(cause, kind, evidence, message, advice) bool reason_##evidence(const struct judgement *judgement);
#include "rules.inc"

/* Returns false if there is not enough memory. */
bool reason_start(void);
void reason_end(void);

/* Forgets the {names} of the texts but those that each process has. */
void reason_begin(const struct judgement *judgement);
void reason_forget(void);

/* Sets the value of a name, or returns it: "" if it is new. */
CUSHIM_PRINTF(2, 3)
void reason_set(const char *name, const char *format, ...);
char *reason_value(const char *name);

/* Whether a process sought a library, or did not find it: sets {names}, {by} and {file}. */
bool reason_is_sought(const struct judgement *judgement, const char *name, struct sought *sought);
bool reason_is_lost(const struct judgement *judgement, const char *name, struct sought *sought);

/* Whether programs get another version than that of the driver: the version limit, cushim_driver_version(). */
bool reason_is_limited(const struct judgement *judgement);

/* Sets {problem}: what is wrong with the machine. */
void reason_set_problem(const struct judgement *judgement);

/* Sets {reason}, if the driver looked for a part of its compiler and did not find it. */
void reason_set_lost_compiler(const struct judgement *judgement);

/* Whether the process is the one that was started. */
bool reason_is_main(const struct judgement *judgement);

/* Writes the value of a name, or "". */
void reason_find(const void *unused, const char *name, char *text, size_t size);

/* ---- answer.c ---- */

void program_print(const struct judgement *judgement);
void program_write(const struct judgement *judgement);

#endif
