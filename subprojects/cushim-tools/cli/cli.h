/* SPDX-License-Identifier: MIT */
/* The parts of the program cushim. README.md tells which file has which, and in which direction they depend. */
#ifndef CUSHIM_CLI_H
#define CUSHIM_CLI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/default_stream.h"
#include "cushim/diagnosis.h"
#include "json.h"
#include "platform.h"
#include "text.h"
#include "../trace/report/options.h"

/* ---- main.c: the command line ---- */

enum { MAX_ARGUMENTS = 2 };

/* The pointers point into the command line. */
struct options {
    const struct command *command;
    bool help, version; /* these take precedence over a command */
    bool json, html, csv, devices, all, per_thread;
    enum cushim_default_stream kind;
    const char *softcuda; /* "580", or NULL; load.path is then the path of that library */
    struct cushim_load_options load;
    int required_version;                 /* 0: any */
    int wait_seconds;                     /* how long probe tries again */
    int timeout_seconds;                  /* how long a start may take; 0: the default */
    bool watch;                           /* doctor: show every operation that fails */
    const char *arguments[MAX_ARGUMENTS]; /* without options: FILTER; FUNCTION and VERSION */
    size_t argument_count;
    const char *feature; /* --feature, or NULL */
    const char *choose;  /* --choose, or NULL */
    const char **names;  /* each slot or feature that is required, or each --layer */
    size_t name_count;
    char **program;    /* of exec, trace and doctor: the program and its arguments, NULL at the end */
    const char *notes; /* where the auditor of exec notes what the program looks for (../exec/notes.c), or NULL */
    bool check;        /* doctor: the exit status is 1 if the program did not use the GPU */
    bool quiet;        /* exec writes no message of its own, as for doctor */
    struct trace_options trace;
    struct {
        uint64_t size; /* 0: the default */
        bool keeps_first, wants_stacks;
    } recording;
};

/* The commands. Each writes its output to stdout and returns the exit status; main() checks that stdout took it. */
enum status command_probe(const struct options *options);
enum status command_table(const struct options *options);
enum status command_lookup(const struct options *options);
enum status command_doctor(const struct options *options);
enum status command_run(const struct options *options);

/* Runs a program on a libcuda.so.1 of ours, in place of this process. Returns only on failure. */
enum status command_exec(const struct options *options);

/* doctor/program/program.c: runs a program and explains why it did not use the GPU. The exit status is that of the
 * program. */
enum status program_command(const struct options *options);

/* Does so in a child and records its calls, or reports a recorded file. */
enum status command_trace(const struct options *options);

/* ---- lookup_versions.c ---- */

/* Shows the ABI versions of a function. The driver is loaded. */
enum status lookup_versions(const struct options *options);

/* ---- load_in_child.c ---- */

/*
 * Loads the driver in a child process first. The library checks files in known paths and a file that is given by its
 * path, but the dynamic loader opens a plain name without a check: a truncated file ends the process (SIGBUS), and a
 * FIFO blocks it. The constructor of a library, or a layer, can end the process too.
 *
 * Returns NULL if this process can load the driver with these options. Otherwise the null driver is current, and the
 * returned diagnosis, which is never freed, names the library or the layer and describes how the child ended. On
 * Windows there is no child: LoadLibrary compares a file with its header before it maps it, and a plain name is
 * searched in System32 only. The child has 10 seconds, or `seconds` if that is more.
 */
const struct cushim_diagnosis *load_in_child(const struct cushim_load_options *options, int seconds);

/* After a load that found nothing: finds a libcuda.so.1 that cannot be used, in the known paths and in the directories
 * of LD_LIBRARY_PATH, and what is wrong with it: the dynamic loader passes over one that this user may not read, that
 * is for another processor, or that is a link without its file. Returns false if there is none. */
bool load_find_unusable(char *fault, size_t size);

/* ---- call_in_child.c ---- */

enum call_end {
    CALL_RETURNED,
    CALL_ENDED,   /* the driver ended the process: *out_signal is its signal, or 0 */
    CALL_LATE,    /* the time is over; the child was left, even if it cannot be ended */
    CALL_NOT_MADE /* no child could be created, as on Windows */
};

enum { CALL_SECONDS = 60 }; /* how long a call may take if the command line does not say it */

/* Calls the function in a child process and writes its result. If it has returned, its answer goes to stdout. */
enum call_end call_in_child(int (*function)(const struct options *), const struct options *options, int seconds,
                            int *out_result, int *out_signal);

/* For that function: from now on it writes its answer. What the driver has written to stdout before goes to stderr. */
void call_answers(void);

/* Why the driver has no answer: "The driver ended the process (Aborted)." */
struct call_failure {
    char text[160];
};
struct call_failure call_failure(enum call_end how, int seconds, int signal);

/* Calls a command that loads the driver in a child process and, if the driver ends that process, in this one without a
 * driver. */
enum status call_command(int (*answer)(const struct options *), const struct options *options);

/* ---- driver.c: the driver that the command line selects, and facts about it that several commands need ---- */

/* Finds the library that stands for a driver, such as "580": in the build directory of this program, or where both are
 * installed. Writes its path with all links resolved. */
bool softcuda_find(const char *driver, char *path, size_t size);

/*
 * Loads the driver.
 *   STATUS_USABLE    the driver is loaded
 *   STATUS_UNUSABLE  it is not loaded; driver_diagnosis() has the reason
 *   STATUS_USAGE     an option is invalid; a message was written to stderr
 */
enum status driver_load(const struct options *options);

/* Makes driver_load() fail with this message: the driver has ended a child, or did not return in time. */
void driver_refuse(const char *message);

/* The diagnosis of the load: cushim_diagnosis_get(), or why this process did not load it (load_in_child.c). */
const struct cushim_diagnosis *driver_diagnosis(void);

/* Writes the diagnosis to stderr, for commands whose output has no room for it. */
void driver_complain(void);

/* The control of softcuda (softcuda.h), or NULL if the driver is not softcuda. */
const struct softcuda_control *driver_softcuda(void);

/* The loaded driver in words: "NVIDIA driver 550.163.01 for CUDA 12.4, limited to CUDA 11.0". */
struct driver_name {
    char text[160];
};
struct driver_name driver_name(void);

/* The release of a driver, "550.163.01", from its file name after links are resolved; "" if the name has none. */
struct driver_release {
    char text[32];
};
struct driver_release driver_release_of(const char *path);

/* What the driver itself says about the last failure of this thread, as the end of a text: " The driver says: NULL is
 * not a valid context; Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuStreamCreate.", or "". */
struct driver_explanation {
    char text[544];
};
struct driver_explanation driver_explanation(void);

/* Starts the driver (cuInit). Flushes stdout first: some drivers fork, and buffered output would be written twice. */
CUresult driver_start(void);

/* The number of GPUs of the started driver; 0 if the driver reports an error. */
int driver_device_count(void);

/* The name of a code, such as "CUDA_ERROR_NO_DEVICE", or "an unknown code". */
const char *driver_code_name(CUresult code);

/* ---- environment.c: the environment variables that affect whether a GPU can be used ---- */

enum { ENVIRONMENT_SIZE = 16 };

struct environment {
    struct cushim_variable variables[ENVIRONMENT_SIZE]; /* only those that are set */
    size_t count;
};

/* Reads the variables. Call it after the driver was loaded and, if it is to be started, `started`. */
struct environment environment_read(const struct options *options, bool started);

/* ---- library_origin.c ---- */

/* Writes what makes the dynamic loader search the directory of a library: "LD_LIBRARY_PATH", or the file in
 * /etc/ld.so.conf.d that names it. `root`: below this directory; NULL: this machine. Returns false if neither does. */
bool library_origin(const char *root, const char *library, char *found, size_t size);

/* ---- devices.c: the GPUs of a started driver ---- */

/* Write the GPUs as the JSON array `key`, with all features or only one (features_write()), or as lines of text. */
void devices_write(struct json *json, const char *key, const char *feature);
void devices_print(void);

/* The name of a GPU, such as "NVIDIA H200". */
struct device_name {
    char text[256];
};
struct device_name devices_name(int ordinal);

/* What --choose asks of a GPU; 0 if it is not known. */
struct device_facts {
    int capability;            /* 9000 for 9.0 */
    unsigned long long memory; /* bytes */
};
struct device_facts devices_facts(int ordinal);

/* ---- companions.c: NVCUVID, NVENC and NVML of the driver ---- */

/* Searches for them. Returns one for which memory did not suffice, or NULL. */
const struct cushim_companion *companions_find_unknown(void);

/* Writes them as the JSON array "companions", which is empty if no driver may be loaded. */
void companions_write(struct json *json, bool may_load);

/* Writes a line for each. */
void companions_print(void);

/* ---- features.c: the features (features.h) of the driver and of its GPUs ---- */

/* Writes the features of a GPU, or of the driver (CUSHIM_DRIVER_ALONE), as the JSON array "features": all of them, or
 * only the one with the name `only`. */
void features_write(struct json *json, CUdevice device, const char *only);

/* Writes a table of all features with a column for each GPU of the started driver. */
void features_print(void);

/* Writes one feature with its values: a line for each GPU. */
void features_print_one(const char *name);

/* Writes how many features the driver supports. */
void features_print_count(void);

/* Whether a name is that of a feature. */
bool features_know(const char *name);

/* Returns the name of a feature that is written much like `name`, or NULL. */
const char *features_nearest(const char *name);

/* ---- choose.c: --choose, a list of builds of which the first that fits is printed ---- */

/* Refuses a list that is not valid. */
enum status choose_check(const char *list);

/* Writes the build, and to stderr why those before it do not fit. The driver has started, unless `failure` says why it
 * did not. */
enum status choose_answer(const struct options *options, const char *failure);

/* ---- requirement.c: the requirements of the command line, and whether the driver meets them ---- */

struct requirement {
    bool met;
    enum cushim_reason reason; /* if not met */
    char message[256];         /* if not met: the first requirement that is not met */
    char advice[512];          /* everything that can be done */
};

/* Checks --require, --feature and --require-slot. Call it after a load, successful or not. */
struct requirement requirement_check(const struct options *options);

/* Whether a required feature depends on the GPUs, so that the driver must be started. */
bool requirement_needs_start(const struct options *options);

/* Returns why a slot cannot be called or a feature cannot be used, or NULL if it can. Valid until the next call. */
const char *requirement_failure(const char *name, enum cushim_default_stream kind);

/* The same without the name at its start, for a line that has the name. */
const char *requirement_reason(const char *name, enum cushim_default_stream kind);

/* ---- pipeline.c: the steps of `cushim run`, which show how a stream program works ---- */

struct step {
    const char *name;
    enum step_outcome {
        STEP_PASSED,
        STEP_FAILED, /* a call failed, or a result is incorrect */
        STEP_SKIPPED /* this driver is too old for it */
    } outcome;
    char message[768];      /* what was done, or what is wrong */
    long long microseconds; /* until the work of the step was done */
};

/* Runs the steps on device 0 of the started driver until one fails, and reports each step when it ends. Returns whether
 * none failed. */
bool pipeline_run(void (*report)(const struct step *step, void *user), void *user);

/* ---- exec_target.c: the program that `cushim exec` starts ---- */

/* Returns why a program uses the machine's own driver, as the rest of a sentence that begins with its name, or NULL.
 * The program is found as execvp() finds it. */
const char *exec_target_obstacle(const char *program);

/* Whether the kernel gives a program more rights than this process has: those of its file, or capabilities. */
bool exec_target_gains_rights(const char *path);

#endif
