/* SPDX-License-Identifier: MIT */
/* Starts the driver as far as a stream, in a child process. */
#ifndef CUSHIM_DOCTOR_START_H
#define CUSHIM_DOCTOR_START_H

#include "child.h"
#include "devices.h"
#include "platform.h"
#include "selected_driver.h"

/* The steps of a start, in this order; those from START_CONTEXT on are taken on each GPU. */
enum start_step { START_INIT, START_COUNT, START_CONTEXT, START_MEMORY, START_STREAM, START_DESTROY, START_STEPS };

/* The call of a step: "cuInit". */
const char *start_call(enum start_step step);

enum start_outcome {
    START_NOT_TRIED,
    START_WORKS,
    START_FAILED,  /* a step returned a code, or the driver reports no GPU */
    START_CRASHED, /* a signal, or the driver, ended the process */
    START_STUCK    /* a step did not return in time */
};

struct start_gpu {
    struct device_name name;
    char bus_id[32];      /* "0000:06:00.0", or "" */
    int compute_mode;     /* CUcomputemode */
    enum start_step step; /* the step that failed, or START_STEPS */
    CUresult code;        /* what it returned */
};

enum { MAX_GPUS = 64 };

/* What a start has shown. While it runs, the child writes it. */
struct start {
    struct child_memory child;
    const char *root;      /* below which the machine is examined, or "" */
    const char *without;   /* variables, separated by spaces, that the driver does not see; NULL: none */
    volatile bool is_over; /* the driver has failed: what the process does from here on does not matter */
    enum start_outcome outcome;
    bool is_complete;     /* this driver has all functions that the steps need, and none is hidden */
    bool in_this_process; /* no child could be created; `error` says why */
    int error;
    enum start_step step; /* the one that is under way, or that failed on the first GPU */
    CUresult code;        /* if the outcome is START_FAILED; CUDA_SUCCESS: there is no GPU */
    struct driver_explanation explanation;
    enum cushim_reason reason; /* of the library, if cuInit failed */
    char message[512];         /* of that reason, with more details; "": it has none */
    int gpu_count;
    struct start_gpu gpus[MAX_GPUS];
    int signal;               /* if the outcome is START_CRASHED; 0: the driver called exit() */
    struct child_state state; /* if the outcome is START_STUCK */
    bool still_there;         /* the child could not be ended */
};

/* Makes the memory of a start and destroys it. It is NULL if there is no memory. */
struct start *start_create(const char *root);
void start_destroy(struct start *start);

/* Starts the loaded driver. */
void start_run(struct start *start, int seconds);

/* For one who watches the child: its work, a message after the first seconds of a start, and what to do when it has
 * ended or the time is over. */
enum { START_SOON = 5 };
void start_work(void *start);
void start_say_waiting(int seconds);
void start_end(struct start *start, struct child *child);

#endif
