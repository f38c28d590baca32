/* SPDX-License-Identifier: MIT */
/* The pipeline of "cushim run": small steps, each checked, that show how a stream program works. */
#ifndef CUSHIM_CLI_RUN_STEPS_H
#define CUSHIM_CLI_RUN_STEPS_H

#include <stdbool.h>

enum step_outcome {
    STEP_RIGHT,
    STEP_WRONG,  /* a call failed, or a result is not what it has to be */
    STEP_SKIPPED /* this driver cannot do it */
};

struct step {
    const char *name;
    enum step_outcome outcome;
    char words[256];        /* what was done, or what is wrong */
    long long microseconds; /* until all of it was done */
};

/* Runs the steps on device 0 of the started driver, up to the first that is wrong, and reports each when it is over. */
void run_steps(void (*report)(const struct step *step, void *user), void *user);

#endif
