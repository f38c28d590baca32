/* SPDX-License-Identifier: MIT */
/* The options of the command line, which every command gets. */
#ifndef CUSHIM_OPTIONS_H
#define CUSHIM_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cushim/default_stream.h"
#include "cushim/load.h"
#include "trace_options.h"

enum { MAX_ARGUMENTS = 2 };

/* The pointers point into the command line. */
struct options {
    const struct command *command;
    bool help, version; /* these take precedence over a command */
    bool json, html, csv, devices, nvrtc, list, no_start, all, per_thread;
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
    const char *machine; /* --for, or NULL */
    const char **names;  /* each slot or feature that is required, or each --layer */
    size_t name_count;
    char **program;     /* of exec, trace and doctor: the program and its arguments, NULL at the end */
    const char *notes;  /* where the auditor of exec notes what the program looks for (../exec/notes.c), or NULL */
    const char *images; /* the table beside the notes (../exec/images.c), or NULL */
    int (*before_program)(const char *notes); /* before this process becomes the program: 0 or an errno; or NULL */
    bool check;                               /* doctor: the exit status is 1 if the program did not use the GPU */
    bool quiet;                               /* exec writes no message of its own, as for doctor */
    struct trace_options trace;
    struct {
        uint64_t size; /* 0: the default */
        bool keeps_first, wants_stacks, wants_arguments;
    } recording;
};

#endif
