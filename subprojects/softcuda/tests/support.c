/* SPDX-License-Identifier: MIT */
#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

const struct cushim_dispatch_table *cu;
const struct softcuda_control *control;
softcuda_control_fn get_control;
CUcontext context;

void support_load(int argc, char **argv)
{
    struct cushim_load_options options = {.path = argc > 1 ? argv[1] : NULL};
    union {
        void *object;
        softcuda_control_fn function;
    } find = {NULL};
    if (options.path == NULL || cushim_load(&options) != CUDA_SUCCESS) {
        fprintf(stderr, "%s\n", cushim_diagnosis_get()->message);
        exit(1);
    }
    cu = cushim_table();
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    find.object = library == NULL ? NULL : dlsym(library, SOFTCUDA_CONTROL_SYMBOL);
    get_control = find.function;
    control = get_control == NULL ? NULL : get_control(SOFTCUDA_CONTROL_VERSION);
    if (cu->Init_v1(0) != CUDA_SUCCESS || control == NULL)
        exit(1);
}

int support_setup(void **state)
{
    if (cushim_driver_version() < 7000) /* it has no primary contexts */
        assert_cu(0, cu->CtxCreate_v2(&context, 0, 0));
    else
        assert_cu(0, cu->DevicePrimaryCtxRetain_v1(&context, 0));
    assert_cu(0, cu->CtxSetCurrent_v1(context));
    return 0;
}

int support_teardown(void **state)
{
    control->clear_faults();
    control->delay_callbacks(0);
    cu->CtxSetCurrent_v1(NULL);
    if (cushim_driver_version() < 7000)
        cu->CtxDestroy_v2(context);
    else if (cu->DevicePrimaryCtxReset_v1(0) == CUDA_SUCCESS)
        cu->DevicePrimaryCtxRelease_v1(0);
    return 0;
}

void CUDA_CB support_count(void *number)
{
    __atomic_add_fetch((int *)number, 1, __ATOMIC_SEQ_CST);
}

int support_number(const int *number)
{
    return __atomic_load_n(number, __ATOMIC_SEQ_CST);
}

void support_sleep(unsigned milliseconds)
{
    struct timespec span = {0, (long)milliseconds * 1000000};
    nanosleep(&span, NULL);
}

void CUDA_CB support_gate(void *argument)
{
    struct gate *gate = argument;
    __atomic_store_n(&gate->reached, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&gate->open, __ATOMIC_SEQ_CST))
        support_sleep(1);
}

void support_open(struct gate *gate)
{
    __atomic_store_n(&gate->open, 1, __ATOMIC_SEQ_CST);
}

void support_reached(struct gate *gate)
{
    while (!__atomic_load_n(&gate->reached, __ATOMIC_SEQ_CST))
        support_sleep(1);
}

struct job {
    void (*body)(void *);
    void *argument;
};

static void *thread_main(void *job)
{
    const struct job *mine = job;
    cu->CtxSetCurrent_v1(context);
    mine->body(mine->argument);
    return NULL;
}

static struct job started;
static pthread_t started_thread;

void support_thread_start(void (*body)(void *), void *argument)
{
    started = (struct job){body, argument};
    assert_int_equal(pthread_create(&started_thread, NULL, thread_main, &started), 0);
}

void support_thread_join(void)
{
    pthread_join(started_thread, NULL);
}

void support_on_thread(void (*body)(void *), void *argument)
{
    support_thread_start(body, argument);
    support_thread_join();
}

CUstream support_stream(unsigned flags)
{
    CUstream stream = NULL;
    assert_cu(0, cu->StreamCreate_v1(&stream, flags));
    return stream;
}

CUevent support_event(unsigned flags)
{
    CUevent event = NULL;
    assert_cu(0, cu->EventCreate_v1(&event, flags));
    return event;
}

bool support_has(int version)
{
    return cushim_driver_version() >= version;
}

CUgraphNode support_host_node(CUgraph graph, CUgraphNode *before, size_t count, CUhostFn function, void *data)
{
    CUDA_HOST_NODE_PARAMS params = {function, data};
    CUgraphNode node = NULL;
    assert_cu(0, cu->GraphAddHostNode_v1(&node, graph, before, count, &params));
    return node;
}

CUgraphExec support_instantiate(CUgraph graph)
{
    CUgraphExec exec = NULL;
    CUgraphNode error;
    assert_cu(0, cu->GraphInstantiate_v1(&exec, graph, &error, NULL, 0));
    return exec;
}

struct pending_call {
    CUresult (*call)(void *argument);
    void *argument;
    CUresult result;
    int is_over;
};

static void pending_call_make(void *argument)
{
    struct pending_call *pending = argument;
    pending->result = pending->call(pending->argument);
    support_count(&pending->is_over);
}

static bool returns_beside(unsigned flags, CUresult (*call)(void *argument), void *argument, int milliseconds)
{
    struct gate gate = {0, 0};
    struct pending_call pending = {.call = call, .argument = argument};
    CUstream stream = support_stream(flags);
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_gate, &gate));
    support_reached(&gate);
    support_thread_start(pending_call_make, &pending);
    for (int i = 0; i < milliseconds && !support_number(&pending.is_over); i++)
        support_sleep(1);
    bool is_over = support_number(&pending.is_over) != 0;
    support_open(&gate);
    support_thread_join();
    assert_cu(0, cu->StreamSynchronize_v1(stream)); /* the host function uses the gate */
    assert_cu(0, pending.result);
    assert_cu(0, cu->StreamDestroy_v2(stream));
    return is_over;
}

bool support_returns_beside(unsigned flags, CUresult (*call)(void *argument), void *argument)
{
    return returns_beside(flags, call, argument, 5000); /* on a busy machine, a thread can take long to start */
}

bool support_waits_beside(unsigned flags, CUresult (*call)(void *argument), void *argument)
{
    return !returns_beside(flags, call, argument, 40);
}
