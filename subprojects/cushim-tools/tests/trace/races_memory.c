/* SPDX-License-Identifier: MIT */
/* Memory of the host, rows, memory of a pool, and memory that kernels and batches of copies use. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "races.h"
#include "softcuda.h"

SCENARIO(pinned_ring)
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

SCENARIO(host_free)
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
SCENARIO(columns)
{
    half_copy(0, 128, a);
    half_copy(is_wrong ? 127 : 128, 128, b);
    CHECK(cuMemsetD2D8Async(m + SIZE / 2, 256, 0, 128, 64, b));
    CHECK(cuMemsetD2D8Async(m + SIZE / 2 + 128, 256, 0, 128, 64, a));
}

/* Memory that a allocates, used in b. It is then freed and allocated again: the pool orders that. */
SCENARIO(pool_use)
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

/* The host polls for bytes that b copies, which are too many to be a flag for trace: the program does not break by its
 * error, and nothing orders the free. */
SCENARIO(pool_free)
{
    enum { BYTES = 16 };
    char *copied = pinned();
    memset(copied, 0, SIZE);
    fill(n, b);
    for (int i = 0; i < 4; i++) {
        CUdeviceptr memory = allocate_async(a);
        record(e, a);
        await(b, e);
        fill(memory, b);
        CHECK(cuMemcpyDtoHAsync_v2(copied + i * BYTES, n, BYTES, b));
        record(f, b);
        if (!is_wrong)
            await(a, f);
        while (*(volatile char *)(copied + i * BYTES) != MARK)
            usleep(1000);
        CHECK(cuMemFreeAsync(memory, a));
    }
}

static void *memory_free(void *memory)
{
    CHECK(cuCtxSetCurrent(context));
    CHECK(cuMemFreeAsync((CUdeviceptr)(uintptr_t)memory, a));
    return NULL;
}

static void *host_memory_free(void *memory)
{
    CHECK(cuMemFreeHost(memory));
    return NULL;
}

/* A thread frees memory and, before that call returns, this one gets the address again and uses it: under
 * reusing_layer.c. Both modes are right: "wrong" has memory of the host. */
SCENARIO(unknown_reuse)
{
    pthread_t thread;
    CUdeviceptr memory = 0;
    char *host = NULL;
    if (is_wrong)
        host = pinned();
    else
        memory = allocate_async(a);
    if (pthread_create(&thread, NULL, is_wrong ? host_memory_free : memory_free,
                       is_wrong ? host : (void *)(uintptr_t)memory)
        != 0)
        exit(3);
    if (is_wrong) {
        host = pinned();
        CHECK(cuMemcpyDtoHAsync_v2(host, m, SIZE, b));
    } else {
        memory = allocate_async(b);
        fill(memory, b);
    }
    pthread_join(thread, NULL);
    if (!is_wrong)
        fill(memory, b);
    synchronize(b);
    if (is_wrong)
        CHECK(cuMemFreeHost(host));
    else
        CHECK(cuMemFreeAsync(memory, b));
}

/* ---- kernels and batches ---- */

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
SCENARIO(held)
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

/* An attribute of a launch records the event; softcuda does not look at attributes. */
SCENARIO(unknown_attribute)
{
    CUdeviceptr memory = m;
    unsigned number = 7;
    void *parameters[] = {&memory, &number};
    CUlaunchAttribute attribute = {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT,
                                   .value.launchCompletionEvent.event = e};
    const CUlaunchConfig config = {.gridDimX = 1,
                                   .gridDimY = 1,
                                   .gridDimZ = 1,
                                   .blockDimX = 1,
                                   .blockDimY = 1,
                                   .blockDimZ = 1,
                                   .hStream = a,
                                   .attrs = &attribute,
                                   .numAttrs = 1};
    fill(m, a);
    CHECK(cuLaunchKernelEx(&config, kernel_of_pointer(), parameters, NULL));
    if (is_wrong)
        CHECK(cuEventSynchronize(e));
    else
        await(b, e);
    copy(n, m, b);
}

/* A batch of copies reads what another stream fills; the second attribute is that of the last two copies, which may
 * have read when the call returns. Under batching_layer.c. */
SCENARIO(batch)
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
