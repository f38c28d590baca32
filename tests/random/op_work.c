/* SPDX-License-Identifier: MIT */
/* What is put into streams: host functions, callbacks, values, memory, attributes. */
#include "operations.h"

#include "kernels.h"

static int number_of(const struct stream_slot *slot)
{
    return (int)(slot - objects->streams);
}

release_fn choose_release(struct expectation *expectation)
{
    expectation->has_release = !one_in(4);
    atomic_store(&expectation->given, true);
    return expectation->has_release ? expected_release : NULL;
}

/* A refusal releases before it returns. */
static void check_refused(struct expectation *expectation, CUresult result)
{
    if (result != CUDA_SUCCESS && expectation->has_release)
        check(atomic_load(&expectation->releases) == 1, "a refused function was not released");
    if (result != CUDA_SUCCESS)
        check(atomic_load(&expectation->calls) == 0 || faults, "a refused function was called");
}

void op_stream_launch_host(void)
{
    struct stream_slot *slot = pick_stream();
    struct expectation *expectation = expectation_new(DO_NOTHING, 0);
    if (slot == NULL || expectation == NULL)
        return;
    bool idle = is_idle(slot->stream);
    release_fn release = choose_release(expectation);
    note("stream %d, %s, %s", number_of(slot), idle ? "idle" : "capturing", release != NULL ? "releases" : "");
    atomic_store(&expectation->quiet, true);
    expectation->most = idle ? 1 : 0;
    expectation->covers_call = true;
    if (idle)
        expectation_cover(expectation, slot->stream);
    CUresult result = noted(cushim_stream_launch_host(slot->stream, expected_host_function, expectation, release));
    check_refused(expectation, result);
    if (result == CUDA_SUCCESS && idle)
        atomic_store(&expectation->must_call, true);
}

void op_stream_add_callback(void)
{
    struct stream_slot *slot = pick_stream();
    struct expectation *expectation = expectation_new(DO_NOTHING, 1);
    if (slot == NULL || expectation == NULL)
        return;
    bool idle = is_idle(slot->stream);
    release_fn release = choose_release(expectation);
    note("stream %d, %s", number_of(slot), idle ? "idle" : "capturing");
    atomic_store(&expectation->quiet, true);
    expectation->covers_call = true;
    expectation_cover(expectation, slot->stream);
    CUresult result = noted(cushim_stream_add_callback(slot->stream, expected_callback, expectation, release));
    check_refused(expectation, result);
    if (result == CUDA_SUCCESS)
        atomic_store(&expectation->must_call, true);
}

/* Memory and values: a word has but one value that is ever written there. */

static unsigned value_of(unsigned word)
{
    return word * 2654435761u | 1u;
}

static CUdeviceptr address_of(unsigned word)
{
    return objects->device_words + (CUdeviceptr)word * 4;
}

/* A word that some work writes which was enqueued before; -1 for none. */
static int pick_written(void)
{
    unsigned start = choose(WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        if (objects->written[(start + i) % WORDS])
            return (int)((start + i) % WORDS);
    return -1;
}

/* A graph keeps the context of these operations, which therefore must outlive all graphs. */
static bool may_use_values(const struct stream_slot *slot)
{
    const struct driver_stream *of = driver_stream_of(slot);
    return of == NULL || !of->own_context || is_idle(slot->stream);
}

void op_stream_write_value(void)
{
    struct stream_slot *slot = pick_own_stream();
    unsigned word = choose(WORDS);
    if (slot == NULL || !may_use_values(slot))
        return;
    bool idle = is_idle(slot->stream);
    note("stream %d, word %u", number_of(slot), word);
    CUresult result = noted(cushim_stream_write_value32(slot->stream, address_of(word), value_of(word),
                                                        choose(2) * CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER));
    objects->written[word] |= result == CUDA_SUCCESS && idle;
}

void op_stream_wait_value(void)
{
    static const unsigned ways[] = {CU_STREAM_WAIT_VALUE_GEQ, CU_STREAM_WAIT_VALUE_EQ, CU_STREAM_WAIT_VALUE_AND};
    struct stream_slot *slot = pick_stream();
    int word = pick_written();
    unsigned way = ways[choose(3)];
    if (slot == NULL || word < 0 || !may_use_values(slot))
        return;
    note("stream %d, word %d, way %u", number_of(slot), word, way);
    noted(cushim_stream_wait_value32(slot->stream, address_of((unsigned)word), value_of((unsigned)word), way));
}

void op_stream_batch(void)
{
    struct stream_slot *slot = pick_own_stream();
    CUstreamBatchMemOpParams ops[3] = {{0}};
    unsigned word = choose(WORDS);
    if (slot == NULL || !may_use_values(slot))
        return;
    bool idle = is_idle(slot->stream);
    unsigned count = 1 + choose(3);
    for (unsigned i = 0; i < count; i++) {
        bool waits = i != 0;
        ops[i].operation = waits ? CU_STREAM_MEM_OP_WAIT_VALUE_32 : CU_STREAM_MEM_OP_WRITE_VALUE_32;
        ops[i].writeValue.address = address_of(word);
        ops[i].writeValue.value = value_of(word);
        ops[i].writeValue.flags = waits ? CU_STREAM_WAIT_VALUE_EQ : CU_STREAM_WRITE_VALUE_DEFAULT;
    }
    note("stream %d, word %u, %u operations", number_of(slot), word, count);
    CUresult result = noted(cushim_stream_batch_memory_ops(slot->stream, count, ops, 0));
    objects->written[word] |= result == CUDA_SUCCESS && idle;
}

/* Each into a place of its own, so that no two streams write the same. */
void op_stream_memory(void)
{
    static atomic_uint places;
    struct stream_slot *slot = pick_stream();
    if (slot == NULL || !is_idle(slot->stream))
        return;
    unsigned place = atomic_fetch_add(&places, 1) + 1;
    CUdeviceptr to = shared_objects.memory + (CUdeviceptr)place * MEMORY_PIECE;
    note("stream %d, place %u", number_of(slot), place);
    if (place >= MEMORY_PIECES)
        return;
    if (one_in(2))
        noted_outer(driver()->MemsetD8Async_v1(to, (unsigned char)choose(256), MEMORY_PIECE,
                                               cushim_stream_handle(slot->stream)));
    else
        noted_outer(
            driver()->MemcpyDtoDAsync_v2(to, shared_objects.memory, MEMORY_PIECE, cushim_stream_handle(slot->stream)));
}

void op_stream_attach_memory(void)
{
    static const unsigned all[] = {CU_MEM_ATTACH_GLOBAL, CU_MEM_ATTACH_HOST, CU_MEM_ATTACH_SINGLE, 0};
    struct stream_slot *slot = pick_stream();
    unsigned flags = all[choose(4)];
    if (slot == NULL || shared_objects.managed == 0)
        return;
    note("stream %d, flags %u", number_of(slot), flags);
    noted(cushim_stream_attach_memory(slot->stream, shared_objects.managed, 0, flags));
}

static void set_priority(struct stream_slot *slot)
{
    CUlaunchAttributeValue value = {{0}};
    int priority = 77;
    value.priority = -(int)choose(6);
    note("stream %d, priority %d", number_of(slot), value.priority);
    CUresult result =
        noted(cushim_stream_set_attribute(slot->stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
    if (result == CUDA_SUCCESS && settings.threads == 1 && !faults
        && cushim_stream_get_priority(slot->stream, &priority) == CUDA_SUCCESS)
        check(priority == value.priority, "the priority is not the one that was set");
}

void op_stream_attributes(void)
{
    struct stream_slot *slot = pick_stream();
    struct stream_slot *other = pick_stream();
    CUlaunchAttributeValue value = {{0}};
    if (slot == NULL || other == NULL)
        return;
    switch (choose(3)) {
    case 0:
        set_priority(slot);
        break;
    case 1:
        note("stream %d, get", number_of(slot));
        noted(cushim_stream_get_attribute(slot->stream, (CUstreamAttrID)CU_LAUNCH_ATTRIBUTE_PRIORITY, &value));
        break;
    default:
        note("stream %d, from %d", number_of(slot), number_of(other));
        if (slot->of >= 0 && other->of >= 0 && !slot->shared && !other->shared)
            noted(cushim_stream_copy_attributes(slot->stream, other->stream));
    }
}

/* A sticky error: once in a program, in which from there on everything may fail, but must end. */

void op_kernel_fault(void)
{
    struct stream_slot *slot = pick_stream();
    CUfunction function = NULL;
    if (slot == NULL || !may_break || atomic_load(&broken) || objects->number != 0 || objects->operation < 1000
        || !is_idle(slot->stream))
        return;
    driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[0].context));
    if (kernel_get("conformance_fault", &function) == CUDA_SUCCESS) {
        atomic_store(&broken, true);
        noted_outer(kernel_launch(function, cushim_stream_handle(slot->stream), NULL));
    }
    driver()->CtxSetCurrent_v1(objects->current);
}
