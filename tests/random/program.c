/* SPDX-License-Identifier: MIT */
/* A program around its operations: what threads share, the objects of each, and faults that are injected. */
#include <string.h>

#include "check.h"
#include "random.h"
#include "support.h"

/*
 * Not among them: what ends an object, but for streams and events, which a driver ends with their context; and popping
 * and the capture mode, which nobody could put back.
 */
static const char *const symbols[] = {
    "cuCtxCreate_v2",
    "cuCtxGetCurrent",
    "cuCtxGetId",
    "cuCtxPushCurrent_v2",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventRecordWithFlags",
    "cuGraphInstantiate",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphRetainUserObject",
    "cuLaunchHostFunc",
    "cuStreamAddCallback",
    "cuStreamBeginCapture_v2",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamGetCaptureInfo_v2",
    "cuStreamGetCaptureInfo_v3",
    "cuStreamGetFlags",
    "cuStreamGetPriority",
    "cuStreamQuery",
    "cuStreamSynchronize",
    "cuStreamWaitEvent",
    "cuUserObjectCreate",
};

/*
 * A query that fails with the code of the call before it means a sticky error or a lost stream, after which everything
 * is released. So the query with which the library finds this out fails with a code that no other call has.
 */
static void arm_call(void)
{
    static const int codes[] = {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_OUT_OF_MEMORY, CUDA_ERROR_INVALID_HANDLE,
                                CUDA_ERROR_UNKNOWN};
    const char *symbol = symbols[choose(sizeof symbols / sizeof symbols[0])];
    (void)soft->fail_call(symbol, 1 + choose(4),
                          strcmp(symbol, "cuStreamGetPriority") == 0 ? CUDA_ERROR_NOT_PERMITTED : codes[choose(4)]);
}

static void arm(void)
{
    soft->clear_faults();
    arm_call();
    if (one_in(2))
        arm_call();
    if (one_in(4))
        allocation_fail((int)choose(3));
}

void shared_open(void)
{
    CUresult result = cushim_driver_version() < 7000 ? cushim_context_create(0, 0, &bases[0])
                                                     : cushim_context_create_primary(0, &bases[0]);
    if (result != CUDA_SUCCESS || cushim_context_create(0, 0, &bases[1]) != CUDA_SUCCESS)
        fail("no context: %s", cushim_error_last()->message);
    for (unsigned i = 0; i < SHARED; i++) {
        shared_streams[i] = (struct stream){.line = LINES - SHARED + i, .context = i};
        if (cushim_stream_create(bases[i], CU_STREAM_NON_BLOCKING, 0, &shared_streams[i].stream) != CUDA_SUCCESS)
            fail("no stream: %s", cushim_error_last()->message);
    }
    completions_open();
}

void shared_close(void)
{
    completions_close();
    markers_drop_completions();
    for (int i = 0; i < SHARED; i++)
        cushim_stream_close(&shared_streams[i].stream);
    for (unsigned i = 0; i < settings.threads; i++)
        cu->MemFreeHost_v1((void *)threads[i].words);
    cushim_context_destroy(&bases[1]);
    cushim_context_destroy(&bases[0]);
}

static void thread_open(void)
{
    me->current = cushim_context_handle(bases[0]);
    cu->CtxSetCurrent_v1(me->current);
    cu->MemHostAlloc_v1((void **)&me->words, WORDS * 4, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP);
    cu->MemHostGetDevicePointer_v2(&me->device_words, (void *)me->words, 0);
    if (me->words == NULL || me->device_words == 0)
        fail("no memory that the device sees");
}

/* Blocks that enter a context leave nothing on the thread's stack of contexts. */
static void check_stack(void)
{
    CUcontext popped;
    for (int depth = 0; cu->CtxPopCurrent_v2(&popped) == CUDA_SUCCESS; depth++)
        check(depth == 0 && popped == me->current, "the stack of contexts has one that does not belong there");
}

static void thread_close(void)
{
    completions_end();
    for (int wrapped = 1; wrapped >= 0; wrapped--)
        for (int i = 0; i < STREAMS; i++)
            if (me->streams[i].stream != NULL && (me->streams[i].of != NULL) == wrapped)
                stream_close(&me->streams[i], i % 2 == 0 || me->streams[i].context == OWN);
    for (int i = 0; i < EVENTS; i++)
        cushim_event_destroy(&me->events[i].event);
    while (FIND(me->execs, true) != NULL)
        op_exec_destroy();
    for (unsigned i = 0; i < 2; i++) { /* pending work writes into memory that is freed next */
        cu->CtxSetCurrent_v1(me->current = cushim_context_handle(bases[i]));
        cu->CtxSynchronize_v1();
    }
    if (!may_fail())
        check_stack();
}

void thread_run(unsigned number, uint64_t seed)
{
    me = &threads[number];
    thread_open();
    program_meet(); /* captures may be begun: some of the calls above are not made in those */
    choose_from(seed);
    for (unsigned i = settings.operations != 0 ? settings.operations : 2000 + choose(1001); i != 0; i--) {
        if (faults && one_in(6))
            arm();
        op_any(false);
        (void)allocation_failed();
    }
    program_meet();
    if (faults)
        soft->clear_faults();
    thread_close();
}
