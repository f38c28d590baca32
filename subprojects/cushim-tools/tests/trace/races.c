/* SPDX-License-Identifier: MIT */
/*
 * `races CASE wrong|right`: work in several streams. With "wrong" a wait is missing, or comes at the wrong time;
 * "right" is the correct program that looks like it. Cases whose name begins with "unknown" are right in both modes:
 * what orders them is not in a trace. test_races.py has what is expected.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "functions.h"
#include "softcuda.h"

enum { SIZE = 1 << 16, MARK = 0x5a };

static CUcontext context;
static CUstream a, b; /* do not block */
static CUevent e, f;
static CUdeviceptr m, n;

static void check(CUresult result, int line)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "races.c:%d: %d\n", line, (int)result);
    exit(3);
}
#define CHECK(call) check((call), __LINE__)

static void record(CUevent event, CUstream stream)
{
    CHECK(cuEventRecord(event, stream));
}

static void await(CUstream stream, CUevent event)
{
    CHECK(cuStreamWaitEvent(stream, event, 0));
}

static void fill(CUdeviceptr to, CUstream stream)
{
    CHECK(cuMemsetD8Async(to, MARK, SIZE, stream));
}

static void copy(CUdeviceptr to, CUdeviceptr from, CUstream stream)
{
    CHECK(cuMemcpyDtoDAsync_v2(to, from, SIZE, stream));
}

static void synchronize(CUstream stream)
{
    CHECK(cuStreamSynchronize(stream));
}

static CUstream stream_create(unsigned flags)
{
    CUstream stream;
    CHECK(cuStreamCreate(&stream, flags));
    return stream;
}

static CUevent event_create(void)
{
    CUevent event;
    CHECK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
    return event;
}

static CUdeviceptr allocate(size_t size)
{
    CUdeviceptr address;
    CHECK(cuMemAlloc_v2(&address, size));
    return address;
}

static CUdeviceptr allocate_async(CUstream stream)
{
    CUdeviceptr address;
    CHECK(cuMemAllocAsync(&address, SIZE, stream));
    return address;
}

static char *pinned(void)
{
    void *address;
    CHECK(cuMemHostAlloc(&address, SIZE, 0));
    return address;
}

/* ---- events ---- */

static void two_buffers(bool is_wrong)
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

static void early_wait(bool is_wrong)
{
    fill(m, a);
    if (is_wrong)
        await(b, e);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(n, m, b);
}

static void early_record(bool is_wrong)
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
static void event_reuse(bool is_wrong)
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
static void fork_join(bool is_wrong)
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
static void query(bool is_wrong)
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
static void never_recorded(bool is_wrong)
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
static void stream_handle(bool is_wrong)
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

static void legacy(bool is_wrong)
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
static void per_thread(bool is_wrong)
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
static void memset_device(bool is_wrong)
{
    CHECK(cuMemsetD8_v2(m, MARK, SIZE));
    if (!is_wrong)
        CHECK(cuCtxSynchronize());
    copy(n, m, a);
}

/* The legacy streams of two contexts are two streams. */
static void contexts(bool is_wrong)
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

/* ---- host memory ---- */

static void pinned_ring(bool is_wrong)
{
    char *ring[3];
    CUevent done[3], down[3];
    for (int i = 0; i < 3; i++) {
        ring[i] = pinned();
        CHECK(cuEventCreate(&done[i], CU_EVENT_DISABLE_TIMING));
        CHECK(cuEventCreate(&down[i], CU_EVENT_DISABLE_TIMING));
    }
    for (int i = 0; i < 7; i++) {
        CHECK(cuEventSynchronize(done[i % 3]));
        CHECK(cuMemcpyDtoHAsync_v2(ring[i % 3], m, SIZE, a));
        record(down[i % 3], a);
        if (!is_wrong)
            await(b, down[i % 3]);
        CHECK(cuMemcpyHtoDAsync_v2(n, ring[i % 3], SIZE, b));
        record(done[i % 3], b);
    }
    synchronize(a);
    synchronize(b);
    for (int i = 0; i < 3; i++)
        CHECK(cuMemFreeHost(ring[i]));
}

static void host_free(bool is_wrong)
{
    char *host = pinned();
    CHECK(cuMemcpyDtoHAsync_v2(host, m, SIZE, a));
    if (!is_wrong)
        synchronize(a);
    CHECK(cuMemFreeHost(host));
}

/* ---- rows, and memory of a pool ---- */

static void half_copy(size_t column, size_t width, CUstream stream)
{
    CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                          .srcDevice = n,
                          .srcPitch = 256,
                          .srcXInBytes = column,
                          .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                          .dstDevice = m,
                          .dstPitch = 256,
                          .dstXInBytes = column,
                          .WidthInBytes = width,
                          .Height = 64};
    CHECK(cuMemcpy2DAsync_v2(&rows, stream));
}

/* Two streams write the left and the right half of each row, and one column is in both. */
static void columns(bool is_wrong)
{
    half_copy(0, 128, a);
    half_copy(is_wrong ? 127 : 128, 128, b);
    CHECK(cuMemsetD2D8Async(m + SIZE / 2, 256, 0, 128, 64, b));
    CHECK(cuMemsetD2D8Async(m + SIZE / 2 + 128, 256, 0, 128, 64, a));
}

/* Memory that a allocates, used in b. It is then freed and allocated again: the pool orders that. */
static void pool_use(bool is_wrong)
{
    CUdeviceptr memory = allocate_async(a);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    fill(memory, b);
    CHECK(cuMemFreeAsync(memory, b));
    memory = allocate_async(a);
    fill(memory, a);
    CHECK(cuMemFreeAsync(memory, a));
}

static void pool_free(bool is_wrong)
{
    for (int i = 0; i < 4; i++) {
        CUdeviceptr memory = allocate_async(a);
        record(e, a);
        await(b, e);
        fill(memory, b);
        record(f, b);
        if (is_wrong)
            usleep(20000); /* so that the program does not break by its error */
        else
            await(a, f);
        CHECK(cuMemFreeAsync(memory, a));
    }
}

/* ---- kernels ---- */

static void use(struct softcuda_launch *launch)
{
    (void)launch;
}

/* softcuda calls the registered function, and a GPU runs the code. */
static CUfunction kernel_of_pointer(void)
{
    static const char image[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                                ".visible .entry use(.param .u64 pointer, .param .u32 number) { ret; }\n";
    static const size_t sizes[] = {sizeof(CUdeviceptr), sizeof(unsigned)};
    softcuda_control_fn get = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_NOW),
         *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&get, &found, sizeof get);
    if (get != NULL)
        get(SOFTCUDA_CONTROL_VERSION)->register_kernel("use", use, sizes, 2);
    CUmodule module;
    CUfunction function;
    CHECK(cuModuleLoadData(&module, image));
    CHECK(cuModuleGetFunction(&function, module, "use"));
    return function;
}

/* A kernel gets a pointer to memory that another stream allocates, and then frees. */
static void held(bool is_wrong)
{
    CUfunction function = kernel_of_pointer();
    CUdeviceptr memory = allocate_async(a);
    unsigned number = 7;
    void *parameters[] = {&memory, &number};
    record(e, a);
    if (!is_wrong)
        await(b, e);
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, b, parameters, NULL));
    size_t size = 16;
    struct {
        CUdeviceptr memory;
        unsigned number;
    } buffer = {memory, 8};
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &buffer, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};
    CHECK(cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, b, NULL, extra));
    record(f, b);
    if (!is_wrong)
        await(a, f);
    CHECK(cuMemFreeAsync(memory, a));
}

/* A batch of copies reads what another stream fills; the second attribute is that of the last two copies, which may
 * have read when the call returns. Under batching_layer.c. */
static void batch(bool is_wrong)
{
    enum { COPIES = 60 };
    CUmemcpyAttributes attributes[2] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
                                        {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL}};
    size_t first_of[] = {0, 1}, sizes[COPIES];
    CUdeviceptr third = allocate(SIZE), targets[COPIES], sources[COPIES];
    for (size_t i = 0; i < COPIES; i++) {
        targets[i] = n + i * 16;
        sources[i] = i == 0 ? m : third;
        sizes[i] = 16;
    }
    fill(m, a);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    CHECK(cuMemcpyBatchAsync_v2(targets, sources, sizes, 3, attributes, first_of, 2, b));
    fill(third, a);
    synchronize(b);
    CHECK(cuMemcpyBatchAsync_v2(targets, sources, sizes, COPIES, attributes, first_of, 2, b));
}

/* ---- graphs ---- */

static CUgraph captured(CUdeviceptr memory)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fill(memory, a);
    CHECK(cuStreamEndCapture(a, &graph));
    return graph;
}

static CUgraphExec instantiated(CUgraph graph)
{
    CUgraphExec executable;
    CHECK(cuGraphInstantiateWithFlags(&executable, graph, 0));
    return executable;
}

/* A graph runs in the stream of its launch, and not in the one that was captured; a launch comes behind the last
 * one. */
static void graph_stream(bool is_wrong)
{
    CUgraph graph = captured(m);
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    CHECK(cuGraphLaunch(executable, b));
    copy(n, m, is_wrong ? a : b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* A child, a clone and an update. After the update, the graph writes n. */
static void graph_update(bool is_wrong)
{
    CUdeviceptr third = allocate(SIZE);
    CUgraph of_m = captured(m), of_n = captured(n), parent, clone;
    CUgraphNode node;
    CHECK(cuGraphCreate(&parent, 0));
    CHECK(cuGraphAddChildGraphNode(&node, parent, NULL, 0, of_m));
    CHECK(cuGraphClone(&clone, parent));
    CUgraphExec one = instantiated(of_m), other = instantiated(clone);
    CHECK(cuGraphLaunch(other, a));
    CHECK(cuGraphLaunch(one, a));
    copy(third, n, b);
    if (is_wrong) {
        CUgraphExecUpdateResult result;
        CHECK(cuGraphExecUpdate(one, of_n, &node, &result));
        CHECK(cuGraphLaunch(one, a));
    } else {
        CHECK(cuGraphLaunch(other, a));
    }
    const CUgraph graphs[] = {of_m, of_n, parent, clone};
    for (size_t i = 0; i < sizeof graphs / sizeof graphs[0]; i++)
        CHECK(cuGraphDestroy(graphs[i]));
    CHECK(cuGraphExecDestroy(one));
    CHECK(cuGraphExecDestroy(other));
}

/* Nodes that were added by hand: a memset, and a copy behind it. */
static void graph_nodes(bool is_wrong)
{
    const CUDA_MEMSET_NODE_PARAMS set = {.dst = n, .value = MARK, .elementSize = 1, .width = SIZE, .height = 1};
    const CUDA_MEMCPY3D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = n,
                                .srcPitch = SIZE,
                                .srcHeight = 1,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = m,
                                .dstPitch = SIZE,
                                .dstHeight = 1,
                                .WidthInBytes = SIZE,
                                .Height = 1,
                                .Depth = 1};
    CUdeviceptr third = allocate(SIZE);
    CUgraphNode first, second;
    CUgraph graph;
    CHECK(cuGraphCreate(&graph, 0));
    CHECK(cuGraphAddMemsetNode(&first, graph, NULL, 0, &set, context));
    CHECK(cuGraphAddMemcpyNode(&second, graph, &first, 1, &rows, context));
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(third, m, b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

/* Two branches of a capture write the same memory. */
static void capture_fork(bool is_wrong)
{
    CUgraph graph;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    record(e, a);
    await(b, e);
    fill(m, a);
    record(e, a);
    if (!is_wrong)
        await(b, e);
    copy(n, m, b);
    record(f, b);
    await(a, f);
    CHECK(cuStreamEndCapture(a, &graph));
    CHECK(cuGraphDestroy(graph));
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

static void threads(bool is_wrong)
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

/* ---- what a trace does not show ---- */

static sem_t filled;

static void CUDA_CB post(void *argument)
{
    (void)argument;
    sem_post(&filled);
}

static void CUDA_CB pend(void *argument)
{
    (void)argument;
    sem_wait(&filled);
}

/* A host function orders two streams: the copy comes first in "wrong", and waits for it. */
static void unknown_host(bool is_wrong)
{
    sem_init(&filled, 0, 0);
    if (is_wrong) {
        CHECK(cuLaunchHostFunc(b, pend, NULL));
        copy(n, m, b);
    }
    fill(m, a);
    CHECK(cuLaunchHostFunc(a, post, NULL));
    if (!is_wrong) {
        sem_wait(&filled);
        copy(n, m, b);
    }
}

static void unknown_values(bool is_wrong)
{
    CUdeviceptr flag = allocate(256);
    CHECK(cuMemsetD8_v2(flag, 0, 256));
    CHECK(cuCtxSynchronize());
    if (is_wrong) {
        CHECK(cuStreamWaitValue32_v2(b, flag, 1, 0));
        copy(n, m, b);
    }
    fill(m, a);
    CHECK(cuStreamWriteValue32_v2(a, flag, 1, 0));
    if (!is_wrong) {
        CHECK(cuStreamWaitValue32_v2(b, flag, 1, 0));
        copy(n, m, b);
    }
}

/* The host polls pinned memory to which a copies a flag. */
static void unknown_flag(bool is_wrong)
{
    volatile char *flag = pinned();
    (void)is_wrong;
    flag[0] = 0;
    fill(m, a);
    CHECK(cuMemcpyDtoHAsync_v2((void *)(uintptr_t)flag, m, 1, a));
    while (flag[0] != MARK) {
    }
    copy(n, m, b);
    synchronize(a);
    CHECK(cuMemFreeHost((void *)(uintptr_t)flag));
}

/* A graph records an event, or has a host node. */
static void unknown_graph(bool is_wrong)
{
    CUgraph graph;
    CUgraphNode node;
    CHECK(cuStreamBeginCapture_v2(a, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    fill(m, a);
    if (!is_wrong)
        CHECK(cuEventRecordWithFlags(e, a, CU_EVENT_RECORD_EXTERNAL));
    CHECK(cuStreamEndCapture(a, &graph));
    const CUDA_HOST_NODE_PARAMS parameters = {.fn = post};
    sem_init(&filled, 0, 0);
    if (is_wrong)
        CHECK(cuGraphAddHostNode(&node, graph, NULL, 0, &parameters));
    CUgraphExec executable = instantiated(graph);
    CHECK(cuGraphLaunch(executable, a));
    if (is_wrong)
        synchronize(a);
    else
        await(b, e);
    copy(n, m, b);
    CHECK(cuGraphExecDestroy(executable));
    CHECK(cuGraphDestroy(graph));
}

static const struct {
    const char *name;
    void (*run)(bool is_wrong);
} cases[] = {
    {"two_buffers", two_buffers},
    {"early_wait", early_wait},
    {"early_record", early_record},
    {"event_reuse", event_reuse},
    {"fork_join", fork_join},
    {"query", query},
    {"never_recorded", never_recorded},
    {"stream_handle", stream_handle},
    {"legacy", legacy},
    {"per_thread", per_thread},
    {"memset_device", memset_device},
    {"contexts", contexts},
    {"pinned_ring", pinned_ring},
    {"host_free", host_free},
    {"columns", columns},
    {"pool_use", pool_use},
    {"pool_free", pool_free},
    {"held", held},
    {"batch", batch},
    {"graph_stream", graph_stream},
    {"graph_update", graph_update},
    {"graph_nodes", graph_nodes},
    {"capture_fork", capture_fork},
    {"threads", threads},
    {"unknown_host", unknown_host},
    {"unknown_values", unknown_values},
    {"unknown_flag", unknown_flag},
    {"unknown_graph", unknown_graph},
};

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
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (argc > 2 && strcmp(argv[1], cases[i].name) == 0)
            cases[i].run(strcmp(argv[2], "wrong") == 0);
        else if (argc == 1)
            puts(cases[i].name);
    }
    if (argc > 2 && strcmp(argv[1], "many") == 0)
        many(atoi(argv[2]));
    synchronize(a);
    synchronize(b);
    return 0;
}
