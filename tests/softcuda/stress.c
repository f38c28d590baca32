/* SPDX-License-Identifier: MIT */
/*
 * stress LIBRARY [STREAMS [LIVE [THREADS]]] - many streams: made and destroyed one after the other, alive at once with
 * work that crosses between them, and used from many threads. Says what was done; nothing may be lost.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "cushim/cushim.h"

static const struct cushim_table *cu;
static CUcontext context;
static int calls, failures;
static int rounds = 50;

static void CUDA_CB count(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)data;
    __atomic_add_fetch(status == CUDA_SUCCESS ? &calls : &failures, 1, __ATOMIC_SEQ_CST);
}

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        __atomic_add_fetch(&failures, 1, __ATOMIC_SEQ_CST);
}

static int expect(const char *what, int expected)
{
    int got = __atomic_exchange_n(&calls, 0, __ATOMIC_SEQ_CST), failed = __atomic_load_n(&failures, __ATOMIC_SEQ_CST);
    printf("%s: %d callbacks of %d, %d failures\n", what, got, expected, failed);
    return got == expected && failed == 0 ? 0 : 1;
}

static int one_after_the_other(int streams)
{
    for (int i = 0; i < streams; i++) {
        CUstream stream;
        check(cu->StreamCreate_v1(&stream, (unsigned)i % 2));
        if (i % 100 == 0)
            check(cu->StreamAddCallback_v1(stream, count, NULL, 0));
        check(cu->StreamDestroy_v2(stream));
    }
    check(cu->CtxSynchronize_v1());
    return expect("created and destroyed", (streams + 99) / 100);
}

static int alive_at_once(int live)
{
    CUstream *streams = calloc((size_t)live, sizeof(CUstream));
    CUevent *events = calloc((size_t)live, sizeof(CUevent));
    for (int i = 0; i < live; i++) {
        check(cu->StreamCreate_v1(&streams[i], CU_STREAM_NON_BLOCKING));
        check(cu->EventCreate_v1(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    /* A chain through all of them, and work beside it. */
    for (int i = 0; i < live; i++) {
        if (i > 0)
            check(cu->StreamWaitEvent_v1(streams[i], events[i - 1], 0));
        check(cu->StreamAddCallback_v1(streams[i], count, NULL, 0));
        check(cu->EventRecord_v1(events[i], streams[i]));
    }
    check(cu->StreamSynchronize_v1(streams[live - 1]));
    int result = expect("alive in a chain", live);
    for (int i = 0; i < live; i++) {
        check(cu->StreamDestroy_v2(streams[i]));
        check(cu->EventDestroy_v2(events[i]));
    }
    free(streams);
    free(events);
    return result;
}

static void *user(void *data)
{
    CUstream stream;
    CUevent event;
    (void)data;
    check(cu->CtxSetCurrent_v1(context));
    check(cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT));
    check(cu->EventCreate_v1(&event, 0));
    for (int i = 0; i < rounds; i++) {
        check(cu->StreamAddCallback_v1(stream, count, NULL, 0));
        check(cu->EventRecord_v1(event, stream));
        check(cu->StreamAddCallback_v1(i % 8 == 0 ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD, count, NULL, 0));
        check(cu->StreamWaitEvent_v1(CU_STREAM_PER_THREAD, event, 0));
        if (i % 16 == 0)
            check(cu->StreamSynchronize_v1(stream));
    }
    check(cu->StreamDestroy_v2(stream));
    check(cu->EventDestroy_v2(event));
    return NULL;
}

static int many_threads(int threads)
{
    pthread_t *users = calloc((size_t)threads, sizeof(pthread_t));
    for (int i = 0; i < threads; i++)
        if (pthread_create(&users[i], NULL, user, NULL) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(users[i], NULL);
    free(users);
    check(cu->CtxSynchronize_v1());
    return expect("from many threads", threads * rounds * 2);
}

int main(int argc, char **argv)
{
    struct cushim_load_options options = {.path = argc > 1 ? argv[1] : NULL};
    if (cushim_load(&options) != CUDA_SUCCESS)
        return 1;
    cu = cushim_table();
    check(cu->Init_v1(0));
    check(cu->DevicePrimaryCtxRetain_v1(&context, 0));
    check(cu->CtxSetCurrent_v1(context));
    int failed = one_after_the_other(argc > 2 ? atoi(argv[2]) : 100000);
    failed |= alive_at_once(argc > 3 ? atoi(argv[3]) : 1000);
    failed |= many_threads(argc > 4 ? atoi(argv[4]) : 64);
    check(cu->DevicePrimaryCtxRelease_v1(0));
    return failed | failures;
}
