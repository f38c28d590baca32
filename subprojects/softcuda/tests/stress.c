/* SPDX-License-Identifier: MIT */
/*
 * stress LIBRARY [STREAMS [LIVE [THREADS]]] - many streams: created and destroyed one after the other, alive at the
 * same time with work that crosses between them, and used from many threads, with graphs. Prints what was done.
 *
 * Nothing may be lost: every callback is counted, and every number is checked. Nothing may leak: everything is done
 * twice, and the second time takes no more memory, of the device or of the process, and leaves no more threads than
 * softcuda keeps. The memory of the process is counted exactly with GLIBC_TUNABLES=glibc.malloc.tcache_count=0;
 * otherwise the caches of threads are counted, too.
 */
#define _POSIX_C_SOURCE 200809L
#include <dirent.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "cushim/cushim.h"

enum { ROUNDS = 50, LAUNCHES = 20, WORKERS_KEPT = 16, SLACK = 8 << 10, CACHES = 1 << 20 };

static const struct cushim_dispatch_table *cu;
static CUcontext context;
static int calls, failures, released;
static int own_threads; /* before softcuda has any */

static void add(int *number)
{
    __atomic_add_fetch(number, 1, __ATOMIC_SEQ_CST);
}

static void CUDA_CB count(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)data;
    add(status == CUDA_SUCCESS ? &calls : &failures);
}

static void CUDA_CB count_host(void *number)
{
    add(number);
}

static void check(CUresult result)
{
    if (result != CUDA_SUCCESS)
        add(&failures);
}

static int take_number(int *number)
{
    return __atomic_exchange_n(number, 0, __ATOMIC_SEQ_CST);
}

static int expect(const char *what, int expected)
{
    int got = take_number(&calls), failed = __atomic_load_n(&failures, __ATOMIC_SEQ_CST);
    printf("%s: %d callbacks of %d, %d failures\n", what, got, expected, failed);
    return got == expected && failed == 0 ? 0 : 1;
}

/* One after the other, and at the same time. */

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

/* Each stream writes its number after the stream before it, and passes it on to the next one. */
static void chain(CUstream *streams, CUevent *events, int live, CUdeviceptr numbers)
{
    for (int i = 0; i < live; i++) {
        CUdeviceptr own = numbers + (CUdeviceptr)i * 4;
        if (i > 0) {
            check(cu->StreamWaitEvent_v1(streams[i], events[i - 1], 0));
            check(cu->MemcpyDtoDAsync_v2(own, own - 4, 4, streams[i]));
        }
        check(cu->StreamAddCallback_v1(streams[i], count, NULL, 0));
        check(cu->EventRecord_v1(events[i], streams[i]));
    }
}

static int alive_at_once(int live)
{
    CUstream *streams = calloc((size_t)live, sizeof(CUstream));
    CUevent *events = calloc((size_t)live, sizeof(CUevent));
    unsigned *found = calloc((size_t)live, sizeof(unsigned));
    CUdeviceptr numbers = 0;
    check(cu->MemAlloc_v2(&numbers, (size_t)live * 4));
    check(cu->MemsetD32_v2(numbers, 0, (size_t)live));
    check(cu->MemsetD32_v2(numbers, 1234567, 1));
    for (int i = 0; i < live; i++) {
        check(cu->StreamCreate_v1(&streams[i], CU_STREAM_NON_BLOCKING));
        check(cu->EventCreate_v1(&events[i], CU_EVENT_DISABLE_TIMING));
    }
    check(cu->CtxSynchronize_v1());
    chain(streams, events, live, numbers);
    check(cu->StreamSynchronize_v1(streams[live - 1]));
    check(cu->MemcpyDtoH_v2(found, numbers, (size_t)live * 4));
    for (int i = 0; i < live; i++)
        if (found[i] != 1234567)
            add(&failures);
    int result = expect("alive in a chain", live);
    for (int i = 0; i < live; i++) {
        check(cu->StreamDestroy_v2(streams[i]));
        check(cu->EventDestroy_v2(events[i]));
    }
    check(cu->MemFree_v2(numbers));
    free(streams);
    free(events);
    free(found);
    return result;
}

/* A graph with a host function and a user object, captured and launched. */
static void use_graph(CUstream stream)
{
    CUgraph graph = NULL;
    CUgraphExec executable = NULL;
    CUuserObject object = NULL;
    check(cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    check(cu->LaunchHostFunc_v1(stream, count_host, &calls));
    check(cu->StreamEndCapture_v1(stream, &graph));
    check(cu->UserObjectCreate_v1(&object, &released, count_host, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    check(cu->GraphRetainUserObject_v1(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    check(cu->GraphInstantiateWithFlags_v1(&executable, graph, 0));
    check(cu->GraphDestroy_v1(graph));
    for (int i = 0; i < LAUNCHES; i++)
        check(cu->GraphLaunch_v1(executable, stream));
    check(cu->GraphExecDestroy_v1(executable));
}

static bool has_graphs(void)
{
    return cushim_driver_version() >= 11040;
}

static void *user(void *data)
{
    CUstream stream;
    CUevent event;
    check(cu->CtxSetCurrent_v1(context));
    check(cu->StreamCreate_v1(&stream, CU_STREAM_DEFAULT));
    check(cu->EventCreate_v1(&event, 0));
    for (int i = 0; i < ROUNDS; i++) {
        check(cu->StreamAddCallback_v1(stream, count, NULL, 0));
        check(cu->EventRecord_v1(event, stream));
        check(cu->StreamAddCallback_v1(i % 8 == 0 ? CU_STREAM_LEGACY : CU_STREAM_PER_THREAD, count, NULL, 0));
        check(cu->StreamWaitEvent_v1(CU_STREAM_PER_THREAD, event, 0));
        if (i % 16 == 0)
            check(cu->StreamSynchronize_v1(stream));
    }
    check(cu->StreamDestroy_v2(stream));
    check(cu->EventDestroy_v2(event));
    if (has_graphs()) { /* in a stream that does not synchronise with the legacy one, so that no call of another thread
                         * invalidates this capture */
        check(cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
        use_graph(stream);
        check(cu->StreamDestroy_v2(stream));
    }
    return NULL;
}

static int many_threads(int threads)
{
    pthread_t *users = calloc((size_t)threads, sizeof(pthread_t));
    int wanted = has_graphs() ? threads : 0;
    for (int i = 0; i < threads; i++)
        if (pthread_create(&users[i], NULL, user, NULL) != 0)
            return 1;
    for (int i = 0; i < threads; i++)
        pthread_join(users[i], NULL);
    free(users);
    check(cu->CtxSynchronize_v1());
    for (int i = 0; i < 1000 && __atomic_load_n(&released, __ATOMIC_SEQ_CST) < wanted; i++)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    int found = take_number(&released);
    printf("user objects: %d released of %d\n", found, wanted);
    return expect("from many threads", threads * ROUNDS * 2 + wanted * LAUNCHES) | (found != wanted);
}

struct left {
    size_t process, device;
    int threads;
};

static int count_threads(void)
{
    int threads = 0;
    DIR *directory = opendir("/proc/self/task");
    while (directory != NULL && readdir(directory) != NULL)
        threads++;
    if (directory != NULL)
        closedir(directory);
    return threads - 2; /* "." and ".." */
}

static void *do_nothing(void *unused)
{
    return unused;
}

/* A sanitizer starts a thread of its own together with the first one of the program. */
static int count_own_threads(void)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, do_nothing, NULL) == 0)
        pthread_join(thread, NULL);
    return count_threads();
}

static struct left report_leaks(void)
{
    struct left left = {0, 0, 0};
    size_t total;
    /* Workers that are not kept end by themselves. */
    for (int i = 0; i < 1000 && (left.threads = count_threads()) > WORKERS_KEPT + own_threads; i++)
        nanosleep(&(struct timespec){0, 2000000}, NULL);
#if defined(__GLIBC__) && (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 33)
    left.process = mallinfo2().uordblks;
#endif
    check(cu->MemGetInfo_v2(&left.device, &total));
    return left;
}

static int compare(struct left first, struct left second)
{
    long long more = (long long)second.process - (long long)first.process;
    long long slack = getenv("GLIBC_TUNABLES") != NULL ? SLACK : CACHES;
    printf("the second time: %lld bytes more, %lld of the device, %d threads\n", more,
           (long long)first.device - (long long)second.device, second.threads);
    return more > slack || first.device != second.device || second.threads > WORKERS_KEPT + own_threads;
}

int main(int argc, char **argv)
{
    struct cushim_load_options options = {.path = argc > 1 ? argv[1] : NULL};
    struct left left[2];
    int failed = 0;
#if defined(__GLIBC__)
    mallopt(M_ARENA_MAX, 1); /* otherwise mallinfo() would not see the memory of workers */
#endif
    if (cushim_load(&options) != CUDA_SUCCESS)
        return 1;
    cu = cushim_table();
    own_threads = count_own_threads();
    check(cu->Init_v1(0));
    check(cu->DevicePrimaryCtxRetain_v1(&context, 0));
    check(cu->CtxSetCurrent_v1(context));
    for (int i = 0; i < 2; i++) {
        failed |= one_after_the_other(argc > 2 ? atoi(argv[2]) : 100000);
        failed |= alive_at_once(argc > 3 ? atoi(argv[3]) : 1000);
        failed |= many_threads(argc > 4 ? atoi(argv[4]) : 64);
        left[i] = report_leaks();
    }
    failed |= compare(left[0], left[1]);
    check(cu->DevicePrimaryCtxRelease_v1(0));
    return failed | failures;
}
