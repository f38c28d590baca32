/* SPDX-License-Identifier: MIT */
/* Shared by the unit tests. Each test starts with unit_reset, and changes nothing outside its own process. */
#ifndef UNIT_H
#define UNIT_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "fake.h"
#include "test_list.h"

/* musl never unmaps a library, so a constructor runs once. It has its own messages for files that it cannot open, and
 * does not find an open library by its soname. */
#if defined(__linux__) && !defined(__GLIBC__)
#    define HAS_MUSL true
#else
#    define HAS_MUSL false
#endif

#define FOR_EACH_KIND(kind)                                                                                            \
    for (enum cushim_default_stream kind = (enum cushim_default_stream)0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++)
#define FOR_EACH_SLOT(slot) for (enum cushim_slot slot = (enum cushim_slot)0; slot < CUSHIM_SLOT_COUNT; slot++)

/*
 * Begins a test: UNIT_TEST(test_name) { ... }. It begins in the state of a new process. main() runs all tests of the
 * program, and returns 77 if one called unit_skip().
 */
#define UNIT_TEST(name) TEST_WITH(name, unit_reset, NULL)

/* Removes all environment variables that affect loading, and resets the state of cushim. */
int unit_reset(void **state);

/* Records that this machine cannot run the test, with the reason. The test then returns. */
void unit_skip(const char *why);

/* valgrind preloads a library of its own, makes memory executable, and makes system calls of its own. */
bool unit_runs_under_valgrind(void);

void unit_set_variable(const char *name, const char *value);

/* The path of a fake library, such as "fake_12040". Valid until the fourth call after this one. */
const char *unit_fake(const char *name);

/* Loads a fake with these options, and fails the test unless that succeeds. */
void unit_load(const char *name, struct cushim_load_options options);
void unit_load_plain(const char *name);

/* Loads the library at this path, and returns the result. "none" is no driver. */
CUresult unit_load_path(const char *path);

/* Opens a fake in addition to cushim, or finds one of its symbols, which must exist. The fake stays open. */
void *unit_open(const char *name);
void *unit_object(const char *name, const char *symbol);
cushim_fn unit_function(const char *name, const char *symbol);

/* The table of a kind; the state of a slot in the legacy table, and where it points in the table of a kind. */
const struct cushim_dispatch_table *unit_table(enum cushim_default_stream kind);
enum cushim_slot_state unit_state(enum cushim_slot slot);
cushim_fn unit_pointer(enum cushim_slot slot, enum cushim_default_stream kind);

/* Calls a fake's function without arguments. The code identifies the function (fake.h). */
CUresult unit_call(cushim_fn fn);

/* The result of a fake's native slot when called with zeros. It identifies the function and its form. */
CUresult unit_native_result(enum cushim_slot slot, enum cushim_default_stream kind);

/* The code of the function that cushim_lookup() finds, or that of its failure, which is the last error. */
CUresult unit_lookup_kind(const char *function, int version, enum cushim_default_stream kind);
CUresult unit_lookup(const char *function, int version);

/* Fails the test unless `text` contains `part`. */
void unit_assert_contains(const char *text, const char *part);

/* Asserts that a load failed with this reason, that the diagnosis has a message, and that the null driver is
 * current. */
void unit_assert_failed(CUresult result, enum cushim_reason reason, CUresult code);

#endif
