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

static CUresult free_async(struct invalidation *h)
{
    CUresult result = cu->MemFreeAsync_v1(h->victim, h->stream);
    if (result == CUDA_SUCCESS)
        h->victim = 0;
    return result;
}

static CUresult free_memory(struct invalidation *h)
{
    CUresult result = cu->MemFree_v2(h->victim);
    if (result == CUDA_SUCCESS)
        h->victim = 0;
    return result;
}

static CUresult free_host(struct invalidation *h)
{
    CUresult result = cu->MemFreeHost_v1(h->host_victim);
    if (result == CUDA_SUCCESS)
        h->host_victim = NULL;
    return result;
}

static CUresult destroy_event(struct invalidation *h)
{
    CUresult result = cu->EventDestroy_v2(h->event_victim);
    if (result == CUDA_SUCCESS)
        h->event_victim = NULL;
    return result;
}

static CUresult destroy_context(struct invalidation *h)
{
    CUresult result = cu->CtxDestroy_v2(h->context_victim);
    if (result == CUDA_SUCCESS)
        h->context_victim = NULL;
    return result;
}

static CUresult destroy_graph(struct invalidation *h)
{
    CUresult result = cu->GraphDestroy_v1(h->graph_victim);
    if (result == CUDA_SUCCESS)
        h->graph_victim = NULL;
    return result;
}

static CUresult destroy_executable(struct invalidation *h)
{
    CUresult result = cu->GraphExecDestroy_v1(h->executable_victim);
    if (result == CUDA_SUCCESS)
        h->executable_victim = NULL;
    return result;
}

static CUresult unload_module(struct invalidation *h)
{
    CUresult result = cu->ModuleUnload_v1(h->module_victim);
    if (result == CUDA_SUCCESS)
        h->module_victim = NULL;
    return result;
}

/* The spare stream replaces the other one, which the framework still needs. */
static CUresult destroy_stream(struct invalidation *h)
{
    CUresult result = cu->StreamDestroy_v2(h->spare);
    if (result == CUDA_SUCCESS)
        h->spare = NULL;
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

static CUresult set_limit(struct invalidation *h)
{
    (void)h;
    return cu->CtxSetLimit_v1(CU_LIMIT_STACK_SIZE, 2048);
}

static CUresult retain_primary(struct invalidation *h)
{
    CUresult result = cu->DevicePrimaryCtxRetain_v1(&h->context, the_device);
    return result != CUDA_SUCCESS ? result : cu->DevicePrimaryCtxRelease_v1(the_device);
}

static CUresult register_host(struct invalidation *h)
{
    (void)h;
    CUresult result = cu->MemHostRegister_v1(registered, sizeof registered, 0);
    return result;
}

/* The memory was registered before the capture. */
static CUresult unregister_host(struct invalidation *h)
{
    (void)h;
    return cu->MemHostUnregister_v1(registered);
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
    CUmemPoolProps properties;
    memset(&properties, 0, sizeof properties);
    properties.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = the_device;
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
    CUmemAllocationProp properties;
    CUmemGenericAllocationHandle handle;
    (void)h;
    memset(&properties, 0, sizeof properties);
    properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    properties.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    properties.location.id = the_device;
    CUresult result = cu->MemCreate_v1(&handle, (size_t)2 << 20, &properties, 0);
    return result != CUDA_SUCCESS ? result : cu->MemRelease_v1(handle);
}

static CUresult load_module(struct invalidation *h)
{
    CUfunction function = NULL;
    (void)h;
    return kernel_get("conformance_nothing", &function);
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
    need("managed", cu->MemAllocManaged_v1(&kept.managed, 4096, CU_MEM_ATTACH_GLOBAL));
    need("graph", cu->GraphCreate_v1(&kept.graph, 0));
    need("node", cu->GraphAddEmptyNode_v1(&node, kept.graph, NULL, 0));
    need("instantiate", cu->GraphInstantiateWithFlags_v1(&kept.executable, kept.graph, 0));
    need("kernel", kernel_get("conformance_nothing", &kept.function));
}

static void prepare(struct invalidation *h)
{
    *h = kept;
    h->spare = stream_new();
    h->outside = event_new();
    h->unrecorded = event_new();
    h->captured = event_new();
    h->event_victim = event_new();
    need("event", cu->EventCreate_v1(&h->timed, CU_EVENT_DEFAULT));
    need("record", cu->EventRecord_v1(h->outside, h->spare));
    need("record", cu->EventRecord_v1(h->timed, h->spare));
    need("victim", cu->MemAlloc_v2(&h->victim, 64));
    need("synchronize", cu->StreamSynchronize_v1(h->spare));
}

static void clear(struct invalidation *h)
{
    if (h->victim != 0)
        need("free", cu->MemFree_v2(h->victim));
    if (h->new_memory != 0)
        need("free", cu->MemFree_v2(h->new_memory));
    if (h->host_victim != NULL)
        need("free", cu->MemFreeHost_v1(h->host_victim));
    if (h->new_host != NULL)
        need("free", cu->MemFreeHost_v1(h->new_host));
    if (h->event_victim != NULL)
        need("event", cu->EventDestroy_v2(h->event_victim));
    if (h->new_event != NULL)
        need("event", cu->EventDestroy_v2(h->new_event));
    if (h->new_stream != NULL)
        stream_end(h->new_stream);
    if (h->new_executable != NULL)
        need("executable", cu->GraphExecDestroy_v1(h->new_executable));
    if (h->new_graph != NULL)
        need("graph", cu->GraphDestroy_v1(h->new_graph));
    if (h->executable_victim != NULL)
        need("executable", cu->GraphExecDestroy_v1(h->executable_victim));
    if (h->graph_victim != NULL)
        need("graph", cu->GraphDestroy_v1(h->graph_victim));
    if (h->module_victim != NULL)
        need("module", cu->ModuleUnload_v1(h->module_victim));
    if (h->new_context != NULL)
        need("context", cu->CtxDestroy_v2(h->new_context));
    if (h->context_victim != NULL)
        need("context", cu->CtxDestroy_v2(h->context_victim));
    need("event", cu->EventDestroy_v2(h->outside));
    need("event", cu->EventDestroy_v2(h->unrecorded));
    need("event", cu->EventDestroy_v2(h->captured));
    need("event", cu->EventDestroy_v2(h->timed));
    if (h->spare != NULL)
        need("spare", cu->StreamDestroy_v2(h->spare));
}

struct errand {
    call_function call;
    struct invalidation *h;
    CUresult result;
};

static void call_on_thread(void *user)
{
    struct errand *errand = user;
    errand->result = errand->call(errand->h);
}

/* A capture that the call itself began. */
static void end_other_capture(CUstream other)
{
    CUgraph graph = NULL;
    if (cu->StreamEndCapture_v1(other, &graph) == CUDA_SUCCESS && graph != NULL && graph != kept.graph)
        need("graph", cu->GraphDestroy_v1(graph));
}

/* Objects that only some calls need, created before the capture. */
static void prepare_for(struct invalidation *h, const char *name)
{
    if (strcmp(name, "CtxDestroy") == 0 || strcmp(name, "CtxSynchronize_v2_other_context") == 0) {
        CUcontext popped = NULL;
        need("context", cu->CtxCreate_v2(&h->context_victim, 0, the_device));
        need("pop", cu->CtxPopCurrent_v2(&popped));
    }
    if (strcmp(name, "MemFreeHost") == 0)
        need("host", cu->MemHostAlloc_v1(&h->host_victim, 64, CU_MEMHOSTALLOC_PORTABLE));
    if (strcmp(name, "MemHostUnregister") == 0)
        need("register", cu->MemHostRegister_v1(registered, sizeof registered, 0));
    if (strcmp(name, "GraphDestroy") == 0)
        need("graph", cu->GraphClone_v1(&h->graph_victim, kept.graph));
    if (strcmp(name, "GraphExecDestroy") == 0)
        need("executable", cu->GraphInstantiateWithFlags_v1(&h->executable_victim, kept.graph, 0));
    if (strcmp(name, "ModuleUnload") == 0)
        need("module", kernel_module(&h->module_victim));
    if (strcmp(name, "MemFreeAsync") == 0) {
        need("victim", cu->MemFree_v2(h->victim));
        h->victim = 0;
        need("victim", cu->MemAllocAsync_v1(&h->victim, 64, h->spare));
        need("synchronize", cu->StreamSynchronize_v1(h->spare));
    }
}

static void one_try(call_function call, bool on_capturing, bool elsewhere, int mode, const char *name, const char *key)
{
    struct invalidation h;
    char value[64];
    CUstream stream = stream_new();
    CUstream other = stream_new();
    prepare(&h);
    prepare_for(&h, name);
    h.stream = on_capturing ? stream : other;
    struct errand errand = {call, &h, CUDA_ERROR_UNKNOWN};
    need("begin", cu->StreamBeginCapture_v2(stream, (CUstreamCaptureMode)mode));
    need("record", cu->EventRecord_v1(h.captured, stream));
    if (elsewhere)
        on_thread(call_on_thread, &errand);
    else
        call_on_thread(&errand);
    const char *status = capture_status(stream);
    CUgraph graph = NULL;
    CUresult end = cu->StreamEndCapture_v1(stream, &graph);
    snprintf(value, sizeof value, "%d %s %d", (int)errand.result, status, (int)end);
    saw_text(key, value);
    fixture_restore();
    if (!on_capturing)
        end_other_capture(other);
    if (strcmp(name, "MemAllocAsync") == 0 && h.pointer != 0 && !on_capturing && errand.result == CUDA_SUCCESS)
        need("free-async", cu->MemFreeAsync_v1(h.pointer, other));
    if (graph != NULL && graph != h.new_graph)
        need("graph", cu->GraphDestroy_v1(graph));
    if (strcmp(name, "MemHostRegister") == 0 && errand.result == CUDA_SUCCESS)
        need("unregister", cu->MemHostUnregister_v1(registered));
    if (strcmp(name, "MemHostUnregister") == 0 && errand.result != CUDA_SUCCESS)
        need("unregister", cu->MemHostUnregister_v1(registered));
    stream_end(other);
    stream_end(stream);
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
    static void try_##name(void)                                                                                       \
    {                                                                                                                  \
        try_call(#name, kind, call_##name);                                                                            \
    }
#include "invalidate_calls.inc"

static const struct check checks[] = {
#define CALL(name, slot, kind, ...)                                                                                    \
    {"invalidate." #name, try_##name, 0, {S(ThreadExchangeStreamCaptureMode_v1), S(slot)}},
#include "invalidate_calls.inc"
    {NULL, NULL, 0, {0}},
};

const struct subject subject_invalidate = {"invalidate", checks};
