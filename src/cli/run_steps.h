/* SPDX-License-Identifier: MIT */
/* The pipeline of "cushim run": small steps with checked results, which show how a stream program works. */
#ifndef CUSHIM_CLI_RUN_STEPS_H
#define CUSHIM_CLI_RUN_STEPS_H

#include <stdbool.h>

enum step_outcome {
    STEP_PASSED,
    STEP_FAILED, /* a call failed, or a result is incorrect */
    STEP_SKIPPED /* this driver is too old for it */
};

struct step {
    const char *name;
    enum step_outcome outcome;
    char message[256];      /* what was done, or what is wrong */
    long long microseconds; /* until the work of the step was done */
};

/* Runs the steps on device 0 of the started driver until one fails, and reports each step when it ends. */
void run_steps(void (*report)(const struct step *step, void *user), void *user);

#endif
