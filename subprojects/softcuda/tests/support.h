/* SPDX-License-Identifier: MIT */
/* Shared by the tests of softcuda: a library loaded through cushim, a context, and functions for streams to run. */
#ifndef TESTS_SOFTCUDA_SUPPORT_H
#define TESTS_SOFTCUDA_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cushim/cushim.h"
#include "softcuda.h"
#include "../../cushim-testing/test_list.h"

extern const struct cushim_dispatch_table *cu;
extern const struct softcuda_control *control;
extern softcuda_control_fn get_control;
extern CUcontext context;

/* Loads argv[1]. main() calls it before test_list_run(). */
void support_load(int argc, char **argv);

/* Setup and teardown of each test: the primary context is retained and current; then it is reset and released. */
int support_setup(void **state);
int support_teardown(void **state);

/* A number that streams change, and a gate at which a stream waits until it is opened. */
void CUDA_CB support_count(void *number);
int support_number(const int *number);
struct gate {
    int open;
    int reached;
};
void CUDA_CB support_gate(void *gate);
void support_open(struct gate *gate);
void support_reached(struct gate *gate);
void support_sleep(unsigned milliseconds);

/* Runs body(argument) on another thread, with the context current there. One at a time. */
void support_thread_start(void (*body)(void *), void *argument);
void support_thread_join(void);

/* The same, and waits for it. */
void support_on_thread(void (*body)(void *), void *argument);

CUstream support_stream(unsigned flags);

/* Makes the call on another thread while a host function in a stream with these flags does not return. Returns whether
 * the call returns meanwhile, or whether it waits. Fails if its result is an error. */
bool support_returns_beside(unsigned flags, CUresult (*call)(void *argument), void *argument);
bool support_waits_beside(unsigned flags, CUresult (*call)(void *argument), void *argument);

CUevent support_event(unsigned flags);
CUgraphNode support_host_node(CUgraph graph, CUgraphNode *before, size_t count, CUhostFn function, void *data);
CUgraphExec support_instantiate(CUgraph graph);

/* Whether the driver has this CUDA version, such as 11040, or a newer one. */
bool support_has(int version);

#define assert_cu(expected, call) assert_int_equal((expected), (int)(call))

/* Begins a test: TEST(test_name) { ... }. The main() of main.c runs all tests of the program. */
#define TEST(name) TEST_WITH(name, support_setup, support_teardown)

#endif
