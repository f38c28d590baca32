/* SPDX-License-Identifier: MIT */
/*
 * The frame of the conformance suite: checks, their answers, and what a check stands on.
 *
 * A check is a function that asks the driver something and gives its answers, one line each:
 *
 *   create.flags.unknown <tab> 1
 *
 * The first part names the check, the rest the answer. A value is a result code, a number or a word; never an address
 * and never a time, so that two runs can be compared line by line. A check whose slots this driver lacks says
 *
 *   id.special <tab> not-applicable <tab> StreamGetId_v1
 *
 * Rules, documented or measured, also say what must be; a rule that is broken has a third column, "expected 1". Where a
 * slot that the check needs is a polyfill, that is no failure of the run: compare.py knows what a polyfill may do.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/cushim.h"

#define S(slot) CUSHIM_SLOT_##slot

enum check_flags {
    CHECK_ALONE = 1,  /* leaves the process unusable: the next check gets a fresh one */
    CHECK_NO_INIT = 2 /* is about a process in which cuInit was not called; implies CHECK_ALONE */
};

struct check {
    const char *name;
    void (*run)(void);
    unsigned flags;
    enum cushim_slot needs[8]; /* ends with the first 0: slot 0 is DriverGetVersion, which no driver lacks */
};

/* A subject is a file of checks; `checks` ends with a row without a name. */
struct subject {
    const char *name;
    const struct check *checks;
};

/* tests/stream uses this frame with a list of its own. */
#ifndef CHECK_SUBJECTS
#    define CHECK_SUBJECTS "subjects.inc"
#endif

#define SUBJECT(name) extern const struct subject subject_##name;
#include CHECK_SUBJECTS

/* 1: a test of our own, which has nothing to find out: a broken rule is a failure whatever it stands on, and so are a
 * crash, a hang and a leak. */
#ifndef CHECK_STRICT
#    define CHECK_STRICT 0
#endif

/* The table under test: set before the first check runs. */
extern const struct cushim_dispatch_table *cu;

/* ---- Answers; `key` is the rest of the line's name ---- */

/* A result code that was measured. Returns it. */
CUresult saw(const char *key, CUresult result);
/* A result code that has to be `expected`. */
CUresult rule(const char *key, CUresult result, CUresult expected);
void saw_number(const char *key, long long value);
void rule_number(const char *key, long long value, long long expected);
/* yes or no. */
void saw_fact(const char *key, bool value);
void rule_fact(const char *key, bool value);
/* A word or several. */
void saw_text(const char *key, const char *text);

/* A call that is not in question here; only its failure is an answer. Returns whether it succeeded. */
bool need(const char *what, CUresult result);

/* Whether the driver has this slot; if not, says that `key` is not applicable. */
bool have(const char *key, enum cushim_slot slot);

/* Says that `key` is not applicable, and why; all of the check where key is NULL. */
void lacks(const char *key, const char *why);

/* "create.flags.unknown" for a loop: a key made of two or three parts, valid for the next 15 calls on this thread. */
const char *key_of(const char *first, const char *second, const char *third);

/* ---- What the frame itself calls ---- */

/* Whether the driver has all that the check needs; if not, says so. */
bool check_is_applicable(const struct check *check);

/* Runs the check, or says that it is not applicable. */
void check_run(const struct check *check);

/* Prints one line whose name is given in full. */
void check_print(const char *name, const char *value, const char *note);

/* How many rules were broken in this process. */
extern int check_broken;

#endif
