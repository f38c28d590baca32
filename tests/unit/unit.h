/* SPDX-License-Identifier: MIT */
/* What the unit tests share. Each test starts with unit_reset, and changes no more than its own process. */
#ifndef UNIT_H
#define UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cushim/cushim.h"
#include "fake.h"

#define FOR_EACH_SLOT(slot) for (enum cushim_slot slot = (enum cushim_slot)0; slot < CUSHIM_SLOT_COUNT; slot++)

/* A test of cmocka's, which begins as a program does. */
#define UNIT_TEST(test) cmocka_unit_test_setup(test, unit_reset)

/* Clears the environment of what bears on loading, and makes cushim forget what it did. */
int unit_reset(void **state);

/* Notes that this machine cannot run the test, and says why: the test then returns, and main() unit_status(). */
void unit_skip(const char *why);
int unit_status(int failed);

void unit_set_variable(const char *name, const char *value);

/* The path of a fake library, such as "fake_12040". Valid until the fourth call after this one. */
const char *unit_fake(const char *name);

/* Loads a fake as the options say, and fails the test unless that succeeds. */
void unit_load(const char *name, struct cushim_load_options options);
void unit_load_plain(const char *name);

/* Opens a fake beside cushim, or finds something of it, which must be there. It stays open. */
void *unit_open(const char *name);
void *unit_object(const char *name, const char *symbol);
cushim_fn unit_function(const char *name, const char *symbol);

/* The state of a slot, and where it points. */
enum cushim_slot_state unit_state(enum cushim_slot slot);
cushim_fn unit_pointer(enum cushim_slot slot);

/* Calls a fake's function without arguments. Its code tells which one it is (fake.h). */
CUresult unit_call(cushim_fn fn);

/* What a native slot of a fake says to zeros. It tells the functions of a fake apart, and their two forms. */
CUresult unit_native_result(enum cushim_slot slot, bool per_thread);

/* Fails the test unless the text is in the other. */
void unit_assert_contains(const char *text, const char *part);

/* Asserts that a load failed for this reason, that the diagnosis says so in words, and that the table is the absent
 * one. */
void unit_assert_failed(CUresult result, enum cushim_reason reason, CUresult code);

#endif
