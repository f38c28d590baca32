/* SPDX-License-Identifier: MIT */
/*
 * Which driver calls invalidate a capture: each call of invalidate_calls.inc, in the three modes, on the capturing
 * stream and on another one, from the capturing thread and from another one.
 *
 *   invalidate.StreamQuery.global.capturing.same-thread <tab> 900 invalidated 901
 *
 * means: the call returned 900, the capture was then invalidated, and cuStreamEndCapture returned 901.
 */
#include "invalidate.h"

#include <stdio.h>
#include <string.h>

static unsigned char pageable[64];
static unsigned char registered[8192];

static CUresult set_attribute(struct invalidation *h)
{
    memset(&h->attribute, 0, sizeof h->attribute);
    h->attribute.syncPolicy = CU_SYNC_POLICY_AUTO;
    return cu->StreamSetAttribute_v1(h->stream, (CUstreamAttrID)3, &h->attribute);
}

static CUresult batch(struct invalidation *h)
{
    CUstreamBatchMemOpParams operation;
    memset(&operation, 0, sizeof operation);
    operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
    operation.writeValue.address = h->memory;
    return cu->StreamBatchMemOp_v2(h->stream, 1, &operation, 0);
}

/* The result of a call that destroys the victim. */
static CUresult gone(struct invalidation *h, CUresult result)
{
    if (result == CUDA_SUCCESS)
        (void)disown(h->victim);
    return result;
}

static CUresult exchange_mode(struct invalidation *h)
{
    h->mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    CUresult result = cu->ThreadExchangeStreamCaptureMode_v1(&h->mode);
    return result != CUDA_SUCCESS ? result : cu->ThreadExchangeStreamCaptureMode_v1(&h->mode);
}

static CUresult push_pop(struct invalidation *h)
{
    CUresult result = cu->CtxPushCurrent_v2(the_context);
    return result != CUDA_SUCCESS ? result : cu->CtxPopCurrent_v2(&h->context);
}

static CUresult set_flags(struct invalidation *h)
{
    CUresult result = cu->CtxGetFlags_v1(&h->flags);
    return result != CUDA_SUCCESS ? result : cu->CtxSetFlags_v1(h->flags & CU_CTX_SCHED_MASK);
}

static CUresult retain_primary(struct invalidation *h)
{
    CUresult result = cu->DevicePrimaryCtxRetain_v1(&h->context, the_device);
    return result != CUDA_SUCCESS ? result : cu->DevicePrimaryCtxRelease_v1(the_device);
}

static CUresult set_pool(struct invalidation *h)
{
    CUresult result = cu->DeviceGetDefaultMemPool_v1(&h->pool, the_device);
    return result != CUDA_SUCCESS ? result : cu->DeviceSetMemPool_v1(the_device, h->pool);
}

static CUresult trim_pool(struct invalidation *h)
{
    CUresult result = cu->DeviceGetDefaultMemPool_v1(&h->pool, the_device);
    return result != CUDA_SUCCESS ? result : cu->MemPoolTrimTo_v1(h->pool, 0);
}

static CUresult create_pool(struct invalidation *h)
{
    const CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                       .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = the_device}};
    CUresult result = cu->MemPoolCreate_v1(&h->pool, &properties);
    return result != CUDA_SUCCESS ? result : cu->MemPoolDestroy_v1(h->pool);
}

static CUresult reserve_address(struct invalidation *h)
{
    const size_t size = (size_t)2 << 20;
    CUresult result = cu->MemAddressReserve_v1(&h->pointer, size, 0, 0, 0);
    return result != CUDA_SUCCESS ? result : cu->MemAddressFree_v1(h->pointer, size);
}

static CUresult create_memory(struct invalidation *h)
{
    const CUmemAllocationProp properties = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                            .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = the_device}};
    CUmemGenericAllocationHandle handle;
    CUresult result = cu->MemCreate_v1(&handle, (size_t)2 << 20, &properties, 0);
    return result != CUDA_SUCCESS ? result : cu->MemRelease_v1(handle);
}

typedef CUresult (*call_function)(struct invalidation *h);

enum kind { STREAM, OTHER, PLAIN };

static struct invalidation kept;

static void prepare_once(void)
{
    CUgraphNode node = NULL;
    if (kept.memory != 0)
        return;
    kept.memory = memory_new(256, 0);
    kept.pinned = host_new(256, NULL);
    require("managed", cu->MemAllocManaged_v1(&kept.managed, 4096, CU_MEM_ATTACH_GLOBAL));
    kept.graph = graph_new();
    require("node", cu->GraphAddEmptyNode_v1(&node, kept.graph, NULL, 0));
    kept.executable = exec_new(kept.graph);
    kept.function = kernel_new("conformance_nothing");
    keep_objects();
}

static void prepare(struct invalidation *h)
{
    *h = kept;
    h->spare = stream_new();
    h->outside = event_new();
    h->unrecorded = event_new();
    h->captured = event_new();
    h->timed = event_timed();
    require("record", cu->EventRecord_v1(h->outside, h->spare));
    require("record", cu->EventRecord_v1(h->timed, h->spare));
    require("synchronize", cu->StreamSynchronize_v1(h->spare));
}

/* Destroys the objects that the call created. */
static void clear(const struct invalidation *h)
{
    if (h->new_memory != 0)
        require("free", cu->MemFree_v2(h->new_memory));
    if (h->new_host != NULL)
        require("free", cu->MemFreeHost_v1(h->new_host));
    if (h->new_event != NULL)
        require("event", cu->EventDestroy_v2(h->new_event));
    if (h->new_stream != NULL)
        stream_end(h->new_stream);
    if (h->new_executable != NULL)
        require("executable", cu->GraphExecDestroy_v1(h->new_executable));
    if (h->new_graph != NULL)
        require("graph", cu->GraphDestroy_v1(h->new_graph));
    if (h->new_context != NULL)
        require("context", cu->CtxDestroy_v2(h->new_context));
    destroy_objects();
}

struct job {
    call_function call;
    struct invalidation *h;
    CUresult result;
};

static void call_on_thread(void *user)
{
    struct job *job = user;
    job->result = job->call(job->h);
}

/* A capture that the call itself began. */
static void end_other_capture(CUstream other)
{
    CUgraph graph = NULL;
    if (cu->StreamEndCapture_v1(other, &graph) == CUDA_SUCCESS && graph != NULL && graph != kept.graph)
        require("graph", cu->GraphDestroy_v1(graph));
}

static void end_module(void *module)
{
    require("module", cu->ModuleUnload_v1(module));
}

static void end_library(void *library)
{
    require("library", cu->LibraryUnload_v1(library));
}

static void end_async(void *memory)
{
    require("free", cu->MemFree_v2((CUdeviceptr)(size_t)memory));
}

static void end_registered(void *memory)
{
    require("unregister", cu->MemHostUnregister_v1(memory));
}

/* The object that the call destroys, or that only this call needs: created before the capture. */
static void *victim_new(CUstream spare, const char *name)
{
    if (strcmp(name, "StreamDestroy") == 0)
        return spare;
    if (strcmp(name, "EventDestroy") == 0)
        return event_new();
    if (strcmp(name, "CtxDestroy") == 0 || strcmp(name, "CtxSynchronize_v2_other_context") == 0) {
        CUcontext contexts[CONTEXT_COUNT];
        contexts_new(contexts);
        return contexts[CONTEXT_SECOND];
    }
    if (strcmp(name, "MemFree") == 0)
        return (void *)(size_t)memory_new(64, 0);
    if (strcmp(name, "MemFreeAsync") == 0) {
        CUdeviceptr memory = 0;
        require("victim", cu->MemAllocAsync_v1(&memory, 64, spare));
        require("synchronize", cu->StreamSynchronize_v1(spare));
        defer(end_async, (void *)(size_t)memory);
        return (void *)(size_t)memory;
    }
    if (strcmp(name, "MemFreeHost") == 0)
        return host_new(64, NULL);
    if (strcmp(name, "MemHostUnregister") == 0) {
        require("register", cu->MemHostRegister_v1(registered, sizeof registered, 0));
        defer(end_registered, registered);
        return registered;
    }
    if (strcmp(name, "GraphDestroy") == 0)
        return graph_new();
    if (strcmp(name, "GraphExecDestroy") == 0)
        return exec_new(kept.graph);
    if (strncmp(name, "Module", 6) == 0) {
        CUmodule module = NULL;
        require("module", kernel_module(&module));
        defer(end_module, module);
        return module;
    }
    if (strncmp(name, "Library", 7) == 0 || strncmp(name, "Kernel", 6) == 0) {
        CUlibrary library = NULL;
        CUkernel kernel = NULL;
        require("library", kernel_library(&library));
        defer(end_library, library);
        if (name[0] == 'L')
            return library;
        require("kernel", cu->LibraryGetKernel_v1(&kernel, library, "conformance_nothing"));
        return kernel;
    }
    return NULL;
}

static void one_try(call_function call, bool on_capturing, bool elsewhere, int mode, const char *name, const char *key)
{
    struct invalidation h;
    char value[64];
    CUstream stream = stream_new();
    CUstream other = stream_new();
    prepare(&h);
    h.victim = victim_new(h.spare, name);
    h.stream = on_capturing ? stream : other;
    struct job job = {call, &h, CUDA_ERROR_UNKNOWN};
    require("begin", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
    require("record", cu->EventRecord_v1(h.captured, stream));
    if (elsewhere)
        on_thread(call_on_thread, &job);
    else
        call_on_thread(&job);
    const char *status = capture_status(stream);
    CUgraph graph = NULL;
    CUresult end = cu->StreamEndCapture_v1(stream, &graph);
    snprintf(value, sizeof value, "%d %s %d", (int)job.result, status, (int)end);
    observe_text(key, value);
    fixture_restore();
    if (!on_capturing)
        end_other_capture(other);
    if (strcmp(name, "MemAllocAsync") == 0 && h.pointer != 0 && !on_capturing && job.result == CUDA_SUCCESS)
        require("free-async", cu->MemFreeAsync_v1(h.pointer, other));
    if (graph != NULL && graph != h.new_graph)
        require("graph", cu->GraphDestroy_v1(graph));
    if (strcmp(name, "MemHostRegister") == 0 && job.result == CUDA_SUCCESS)
        require("unregister", cu->MemHostUnregister_v1(registered));
    clear(&h);
}

static void try_call(const char *name, enum kind kind, call_function call)
{
    static const char *const modes[] = {"global", "thread-local", "relaxed"};
    static const char *const threads[] = {"same-thread", "other-thread"};
    prepare_once();
    for (int mode = 0; mode < 3; mode++) {
        for (int thread = 0; thread < 2; thread++) {
            if (kind == STREAM)
                one_try(call, true, thread == 1, mode, name, key_of(modes[mode], "capturing", threads[thread]));
            if (kind != PLAIN)
                one_try(call, false, thread == 1, mode, name, key_of(modes[mode], "other", threads[thread]));
            else
                one_try(call, false, thread == 1, mode, name, key_of(modes[mode], "any", threads[thread]));
        }
    }
}

#define CALL(name, slot, kind, ...)                                                                                    \
    static CUresult call_##name(struct invalidation *h)                                                                \
    {                                                                                                                  \
        (void)h;                                                                                                       \
        return __VA_ARGS__;                                                                                            \
    }                                                                                                                  \
    CHECK(try_##name, "invalidate." #name, .needs = {S(ThreadExchangeStreamCaptureMode_v1), S(slot)})                  \
    {                                                                                                                  \
        try_call(#name, kind, call_##name);                                                                            \
    }
#include "invalidate_calls.inc"
