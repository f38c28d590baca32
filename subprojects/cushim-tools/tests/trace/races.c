/* SPDX-License-Identifier: MIT */
/*
 * `races SCENARIO wrong|right`: work in several streams. With "wrong" a wait is missing, or comes at the wrong time;
 * "right" is the correct program that looks like it. Here are events, the default streams and threads; races_memory.c
 * and races_graphs.c have the others. test_races.py has what is expected.
 */
#include <pthread.h>
#include <string.h>

#include "races.h"

struct scenario *scenarios;
CUcontext context;
CUstream a, b;
CUevent e, f;
CUdeviceptr m, n;

/* ---- events ---- */

SCENARIO(two_buffers)
{
    CUdeviceptr buffers[2] = {m, n}, out = allocate(2 * SIZE);
    CUevent filled[2] = {event_create(), event_create()}, read[2] = {event_create(), event_create()};
    for (int i = 0; i < 8; i++) {
        if (i >= 2 && !is_wrong)
            await(a, read[i % 2]);
        fill(buffers[i % 2], a);
        record(filled[i % 2], a);
        await(b, filled[i % 2]);
        copy(out + (size_t)(i % 2) * SIZE, buffers[i % 2], b);
        record(read[i % 2], b);
    }
    synchronize(b);
}

SCENARIO(early_wait)
{
    fill(m, a);
    if (is_wrong)
        await(b, e);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(n, m, b);
}

SCENARIO(early_record)
{
    if (is_wrong)
        record(e, a);
    fill(m, a);
    if (!is_wrong)
        record(e, a);
    await(b, e);
    copy(n, m, b);
}

/* The event is recorded again, in another stream, before b waits for it. */
SCENARIO(event_reuse)
{
    CUstream third = stream_create(CU_STREAM_NON_BLOCKING);
    fill(m, a);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    record(e, third);
    if (is_wrong)
        await(b, e);
    copy(n, m, b);
}

/* Four streams fill quarters, and one join is missing. */
SCENARIO(fork_join)
{
    CUstream workers[4];
    CUevent done[4];
    record(e, a);
    for (int i = 0; i < 4; i++) {
        workers[i] = stream_create(CU_STREAM_NON_BLOCKING);
        done[i] = event_create();
        await(workers[i], e);
        CHECK(cuMemsetD32Async(m + (CUdeviceptr)i * SIZE / 4, (unsigned)i, SIZE / 16, workers[i]));
        record(done[i], workers[i]);
    }
    for (int i = 0; i < 4; i++) {
        if (!is_wrong || i != 2)
            await(a, done[i]);
    }
    copy(n, m, a);
    synchronize(a);
    synchronize(workers[2]);
}

/* The host learns that the work is complete, and gives the memory to another stream. */
SCENARIO(query)
{
    for (int i = 0; i < 6; i++) {
        CUstream from = i % 2 == 0 ? b : a, to = i % 2 == 0 ? a : b;
        CUevent event = event_create();
        fill(m, from);
        record(event, from);
        while (!is_wrong && cuEventQuery(event) != CUDA_SUCCESS) {
        }
        CHECK(cuEventDestroy_v2(event)); /* the next one can have its handle */
        fill(m, to);
        synchronize(to);
    }
}

/* The record was forgotten. The right program also waits for slots of a ring that were not used yet. */
SCENARIO(never_recorded)
{
    CUevent one = event_create(), slots[4];
    for (int i = 0; i < 4; i++)
        CHECK(cuEventCreate(&slots[i], CU_EVENT_DISABLE_TIMING));
    if (!is_wrong)
        record(one, a);
    await(b, one);
    record(slots[0], a);
    for (int i = 0; i < 4; i++) {
        await(b, slots[i]);
        CHECK(cuEventSynchronize(slots[i]));
    }
}

/* A stream is destroyed with work pending; the next one can have its handle. */
SCENARIO(stream_handle)
{
    CUstream first = stream_create(CU_STREAM_NON_BLOCKING);
    fill(m, first);
    record(e, first);
    CHECK(cuStreamDestroy_v2(first));
    CUstream second = stream_create(CU_STREAM_NON_BLOCKING);
    if (!is_wrong)
        await(second, e);
    fill(m, second);
    synchronize(second);
}

/* ---- default streams ---- */

SCENARIO(legacy)
{
    CUstream blocking = stream_create(CU_STREAM_DEFAULT);
    fill(m, blocking);
    copy(n, m, CU_STREAM_LEGACY); /* behind the blocking stream */
    fill(m, blocking);            /* and before it */
    if (!is_wrong) {
        record(e, CU_STREAM_LEGACY);
        await(a, e);
    }
    fill(n, a); /* does not block */
    CHECK(cuCtxSynchronize());
}

static void *copy_in_thread(void *stream)
{
    CHECK(cuCtxSetCurrent(context));
    copy(n, m, stream);
    return NULL;
}

/* The per-thread streams of two threads block, so work in the legacy stream orders them. */
SCENARIO(per_thread)
{
    pthread_t thread;
    fill(m, CU_STREAM_PER_THREAD);
    if (!is_wrong)
        CHECK(cuMemsetD8Async(n, 0, 16, CU_STREAM_LEGACY));
    pthread_create(&thread, NULL, copy_in_thread, CU_STREAM_PER_THREAD);
    pthread_join(thread, NULL);
    CHECK(cuCtxSynchronize());
}

/* A synchronous memset of device memory does not wait for its end. */
SCENARIO(memset_device)
{
    CHECK(cuMemsetD8_v2(m, MARK, SIZE));
    if (!is_wrong)
        CHECK(cuCtxSynchronize());
    copy(n, m, a);
}

/* The legacy streams of two contexts are two streams. */
SCENARIO(contexts)
{
    CUcontext other;
    CUdevice device;
    fill(m, CU_STREAM_LEGACY);
    if (!is_wrong)
        CHECK(cuCtxSynchronize());
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuCtxCreate_v2(&other, 0, device));
    CHECK(cuMemsetD8Async(m, 1, SIZE, CU_STREAM_LEGACY));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuCtxSynchronize());
    CHECK(cuCtxDestroy_v2(other));
}

/* ---- threads ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void turn_pass(int to)
{
    pthread_mutex_lock(&lock);
    turn = to;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static void turn_await(int own)
{
    pthread_mutex_lock(&lock);
    while (turn != own)
        pthread_cond_wait(&changed, &lock);
    pthread_mutex_unlock(&lock);
}

static void *produce(void *argument)
{
    (void)argument;
    CHECK(cuCtxSetCurrent(context));
    for (int i = 0; i < 5; i++) {
        turn_await(0);
        if (i > 0)
            await(a, f);
        fill(m, a);
        record(e, a);
        turn_pass(1);
    }
    return NULL;
}

SCENARIO(threads)
{
    pthread_t thread;
    pthread_create(&thread, NULL, produce, NULL);
    for (int i = 0; i < 5; i++) {
        turn_await(1);
        if (!is_wrong)
            await(b, e);
        copy(n, m, b);
        record(f, b);
        turn_pass(0);
    }
    pthread_join(thread, NULL);
}

/* `races many COUNT`: so many calls, half of which use memory, in 16 streams of which each waits for the one before. */
static void many(int count)
{
    enum { STREAMS = 16 };
    CUstream streams[STREAMS];
    CUevent events[STREAMS];
    for (int i = 0; i < STREAMS; i++) {
        streams[i] = stream_create(CU_STREAM_NON_BLOCKING);
        events[i] = event_create();
    }
    for (int i = 0; i < count / 4; i++) {
        CUstream stream = streams[i % STREAMS];
        await(stream, events[(i + STREAMS - 1) % STREAMS]);
        CHECK(cuMemsetD8Async(m, MARK, 64, stream));
        CHECK(cuMemcpyDtoDAsync_v2(n, m, 64, stream));
        record(events[i % STREAMS], stream);
    }
    synchronize(streams[(count / 4 + STREAMS - 1) % STREAMS]);
}

int main(int argc, char **argv)
{
    CUdevice device;
    CHECK(cuInit(0));
    CHECK(cuDeviceGet(&device, 0));
    CHECK(cuDevicePrimaryCtxRetain(&context, device));
    CHECK(cuCtxSetCurrent(context));
    a = stream_create(CU_STREAM_NON_BLOCKING);
    b = stream_create(CU_STREAM_NON_BLOCKING);
    e = event_create();
    f = event_create();
    m = allocate(SIZE);
    n = allocate(SIZE);
    for (const struct scenario *one = scenarios; one != NULL; one = one->next) {
        if (argc > 2 && strcmp(argv[1], one->name) == 0)
            one->run(strcmp(argv[2], "wrong") == 0);
        else if (argc == 1)
            puts(one->name);
    }
    if (argc > 2 && strcmp(argv[1], "many") == 0)
        many(atoi(argv[2]));
    synchronize(a);
    synchronize(b);
    return 0;
}
