/* SPDX-License-Identifier: MIT */
/* Scenes: host functions with a way to wait, and the number of parameters. No driver with the native functions was at
 * hand, so `compare` has the expected answers. */
#define _POSIX_C_SOURCE 200809L
#include "scene.h"

#include <time.h>

static void CUDA_CB count_call(void *calls)
{
    __atomic_fetch_add((int *)calls, 1, __ATOMIC_SEQ_CST);
}

static void launch(const char *step, CUstream stream, CUhostFn function, unsigned int mode)
{
    int calls = 0;
    CUresult result = TABLE->LaunchHostFunc_v2(stream, function, &calls, mode);
    CUresult waited = TABLE->StreamSynchronize_v1(stream);
    STEP(LaunchHostFunc_v2, step, result, "wait %d, calls %d", (int)waited, __atomic_load_n(&calls, __ATOMIC_SEQ_CST));
}

static double processor_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Whether a thread of the driver spins while the function waits for the work before it. */
static void wait_blocking(void)
{
    const struct timespec half_second = {0, 500000000};
    int calls = 0;
    scene_block(stage.a);
    CUresult result = TABLE->LaunchHostFunc_v2(stage.a, count_call, &calls, CU_HOST_TASK_BLOCKING);
    double before = processor_seconds();
    nanosleep(&half_second, NULL);
    double used = processor_seconds() - before;
    int early = __atomic_load_n(&calls, __ATOMIC_SEQ_CST);
    scene_release();
    MUST(TABLE->StreamSynchronize_v1(stage.a));
    STEP(LaunchHostFunc_v2, "waiting", result, "calls %d, then %d; %s", early,
         __atomic_load_n(&calls, __ATOMIC_SEQ_CST), used < 0.1 ? "blocked" : "spun");
}

static void capture_call(void)
{
    int calls = 0;
    scene_begin(stage.a);
    CODE(LaunchHostFunc_v2, "capturing", TABLE->LaunchHostFunc_v2(stage.a, count_call, &calls, CU_HOST_TASK_BLOCKING));
    scene_end(CUSHIM_SLOT_LaunchHostFunc_v2, "captured", stage.a);
}

void scene_host(void)
{
    launch("blocking", stage.a, count_call, CU_HOST_TASK_BLOCKING);
    launch("blocking on the legacy stream", NULL, count_call, CU_HOST_TASK_BLOCKING);
    launch("NULL", stage.a, NULL, CU_HOST_TASK_BLOCKING);
    launch("spinning", stage.a, count_call, CU_HOST_TASK_SPINWAIT);
    wait_blocking();
    capture_call();
}

static void count_of_function(const char *step, const char *name)
{
    size_t count = UNTOUCHED;
    CUresult result = TABLE->FuncGetParamCount_v1(scene_kernel(name), &count);
    STEP(FuncGetParamCount_v1, step, result, "%d", (int)count);
}

static void count_of_kernel(const char *step, CUlibrary library, const char *name)
{
    size_t count = UNTOUCHED;
    CUkernel kernel;
    MUST(TABLE->LibraryGetKernel_v1(&kernel, library, name));
    CUresult result = TABLE->KernelGetParamCount_v1(kernel, &count);
    STEP(KernelGetParamCount_v1, step, result, "%d", (int)count);
}

void scene_function(void)
{
    CUlibrary library;
    MUST(TABLE->LibraryLoadData_v1(&library, scene_kernels, NULL, NULL, 0, NULL, NULL, 0));
    count_of_function("function/none", "nothing");
    count_of_function("function/two", "two");
    count_of_kernel("kernel/none", library, "nothing");
    count_of_kernel("kernel/two", library, "two");
    CODE(FuncGetParamCount_v1, "function/no result", TABLE->FuncGetParamCount_v1(scene_kernel("two"), NULL));
    MUST(TABLE->LibraryUnload_v1(library));
}
