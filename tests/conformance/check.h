/* SPDX-License-Identifier: MIT */
/*
 * The framework of the conformance suite, and of tests/stream: checks and their answers.
 *
 * A check is a function that calls the driver and prints its answers, one line for each:
 *
 *   CHECK(special, "id.special", .needs = {S(StreamGetId_v1)})
 *   {
 *       unsigned long long id = 0;
 *       observe("code", cu->StreamGetId_v1(CU_STREAM_LEGACY, &id));
 *   }
 *
 *   id.special.code <tab> 0
 *
 * The name starts with the name of the check. A value is a result code, a number or a word, never an address or a time,
 * so that two runs can be compared line by line. If the driver lacks a slot that the check needs, the answer is
 *
 *   id.special <tab> not-applicable <tab> StreamGetId_v1
 *
 * Where the behaviour is documented, or known from other drivers, the answer also has an expected value. Any other
 * value gets a third column, "expected 1", and the expected one "as expected": it is not recorded, too. If a slot that
 * the check needs is a polyfill, an unexpected answer is not a failure of the run: compare.py knows the allowed
 * differences.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/cushim.h"

#define S(slot) CUSHIM_SLOT_##slot

enum check_flags {
    CHECK_ALONE = 1,   /* leaves the process unusable: the next check gets a new one */
    CHECK_NO_INIT = 2, /* needs a process in which cuInit was not called; implies CHECK_ALONE */
    CHECK_ON_OLD = 4   /* for drivers that lack the first slot, and have the others */
};

struct check {
    const char *name; /* of the subject, a dot, and of the check */
    unsigned flags;
    enum cushim_slot needs[8]; /* ends with the first 0: slot 0 is Array3DCreate_v1, which no check needs */
    /* Set by CHECK. */
    void (*run)(void);
    const char *file;
    int line;
    size_t order; /* of the file */
    struct check *next;
};

/* Begins the function of a check: its name, the name of the check, and the flags and needs, if any. */
#define CHECK(function, ...)                                                                                           \
    static void function(void);                                                                                        \
    __attribute__((constructor)) static void register_##function(void)                                                 \
    {                                                                                                                  \
        static struct check check = {.run = function, .file = __FILE__, .line = __LINE__, .name = __VA_ARGS__};        \
        check_register(&check);                                                                                        \
    }                                                                                                                  \
    static void function(void)

void check_register(struct check *check);

/* All checks of the program, in the order of their files (see check.c) and of their lines. */
extern struct check *check_list;

/* 1 for a test of our own library: an unexpected answer is a failure even on a polyfill, and so are a crash, a hang and
 * a leak. */
#ifndef CHECK_STRICT
#    define CHECK_STRICT 0
#endif

/* The table under test, set before the first check runs. */
extern const struct cushim_dispatch_table *cu;
extern enum cushim_default_stream cu_kind;

/* Answers. `key` is the part of the answer's name that follows the name of the check. */

/* Reports an observed result code, and returns it. */
CUresult observe(const char *key, CUresult result);
/* Reports a result code that must be `expected`. */
CUresult expect(const char *key, CUresult result, CUresult expected);
void observe_number(const char *key, long long value);
void expect_number(const char *key, long long value, long long expected);
/* Reports yes or no. */
void observe_bool(const char *key, bool value);
void expect_true(const char *key, bool value);
/* All report one or more words, the last one with a printf format. */
void observe_text(const char *key, const char *text);
void expect_text(const char *key, const char *text, const char *expected);
CUSHIM_PRINTF(2, 3)
void observe_format(const char *key, const char *format, ...);

/* Makes a call that is not the subject of the check. Reports only a failure. Returns whether the call succeeded. */
bool require(const char *what, CUresult result);

/* Returns whether the driver has this slot. If it does not, reports that `key` is not applicable. */
bool require_slot(const char *key, enum cushim_slot slot);

/* Reports that `key` is not applicable, with the reason; the whole check if key is NULL. */
void not_applicable(const char *key, const char *why);

/* Both make a key: from two or three parts, such as "create.flags.unknown", and with a printf format. The key stays
 * valid for the next 15 calls on this thread. */
const char *key_of(const char *first, const char *second, const char *third);
CUSHIM_PRINTF(1, 2)
const char *key_format(const char *format, ...);

/* Returns whether the driver has everything that the check needs. If it does not, reports that. */
bool check_is_applicable(const struct check *check);

/* Runs the check, or reports that it is not applicable. */
void check_run(const struct check *check);

/* Prints one line with a full name. */
void check_print(const char *name, const char *value, const char *note);

/* Says that a check which takes long, such as a search for races, still goes on: one of which nothing is heard for 20 s
 * is ended, and its answer is "hung". From any thread. */
void check_goes_on(void);

/* The number of unexpected answers in this process. */
extern int check_broken;

#endif
