/* SPDX-License-Identifier: MIT */
/*
 * The trace layer: a function for each slot, which records the call and makes it. entry_points.h and fields.inc have
 * everything that it needs to know of a slot.
 */
#include "record.h"

#include <string.h>

#include "cushim/abi/egl.h"
#include "cushim/attributes.h"
#include "cushim/layer.h"
#include "arguments.h"
#include "fields.inc"
#include "loaded.h"
#include "schema.h"

static struct cushim_layer trace_layer;

static uint8_t states_of_slots[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];

static uint64_t *write_bytes(uint64_t *at, const void *bytes, size_t size)
{
    size_t words = TRACE_WORDS_OF(size);
    if (words > 0)
        at[words - 1] = 0;
    if (bytes != NULL)
        memcpy(at, bytes, size);
    else
        memset(at, 0, size);
    return at + words;
}

static uint64_t *write_text(uint64_t *at, const char *text)
{
    at[0] = (uint64_t)(uintptr_t)text;
    at[1] = text != NULL ? strnlen(text, TRACE_TEXT_MAX) : 0;
    return write_bytes(at + 2, text, at[1]);
}

/* The most words of a field. */
#define WORDS_VALUE(type) TRACE_WORDS_OF(sizeof(type))
#define WORDS_OUT(type) 1 + TRACE_WORDS_OF(sizeof *(type)0)
#define WORDS_IN(type) WORDS_OUT(type)
#define WORDS_IN_OUT(type) 1 + 2 * TRACE_WORDS_OF(sizeof *(type)0)
#define WORDS_TEXT(type) TRACE_TEXT_WORDS
#define WORDS_POINTER(type) 1
#define WORDS(kind, type, name) +WORDS_##kind(type)

/* Before the call. trace_at points to the field in the record. */
#define POINTER_BEFORE(name) *trace_at++ = (uint64_t)(uintptr_t)(name)
#define BEFORE_VALUE(name) trace_at = write_bytes(trace_at, &(name), sizeof(name));
#define BEFORE_OUT(name)                                                                                               \
    POINTER_BEFORE(name);                                                                                              \
    trace_at = write_bytes(trace_at, NULL, sizeof *(name));
#define BEFORE_IN(name)                                                                                                \
    POINTER_BEFORE(name);                                                                                              \
    trace_at = write_bytes(trace_at, name, sizeof *(name));
#define BEFORE_IN_OUT(name) BEFORE_IN(name) trace_at = write_bytes(trace_at, NULL, sizeof *(name));
#define BEFORE_TEXT(name) trace_at = write_text(trace_at, name);
#define BEFORE_POINTER(name) POINTER_BEFORE(name);
#define BEFORE(kind, type, name) BEFORE_##kind(name)

/* After a call that succeeded. */
#define AFTER_VALUE(name) trace_at += TRACE_WORDS_OF(sizeof(name));
#define AFTER_OUT(name) trace_at = write_bytes(trace_at + 1, name, sizeof *(name));
#define AFTER_IN(name) trace_at += 1 + TRACE_WORDS_OF(sizeof *(name));
#define AFTER_IN_OUT(name) trace_at = write_bytes(trace_at + 1 + TRACE_WORDS_OF(sizeof *(name)), name, sizeof *(name));
#define AFTER_TEXT(name) trace_at += 2 + TRACE_WORDS_OF(trace_at[1]);
#define AFTER_POINTER(name) trace_at++;
#define AFTER(kind, type, name) AFTER_##kind(name)

/* Whether the fields of a slot are an array in which it returns kernels, the length of the array, and the module or
 * library with the kernels. */
#define IS_ENUMERATION(slot)                                                                                           \
    (CUSHIM_SLOT_##slot == CUSHIM_SLOT_ModuleEnumerateFunctions_v1                                                     \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_LibraryEnumerateKernels_v1)
enum { ENUMERATION_WORDS = 3 };
static void kernels_name(const struct cushim_dispatch_table *next, unsigned slot, const uint64_t *fields);

/* Whether a call of this slot creates what programs forget, frees it, loads code, or waits, perhaps for ever. Not those
 * that are in the order of a stream, which take less time than it takes to find the place. */
static inline bool wants_place(unsigned slot)
{
    switch (slot) {
#define TRACE_PLACED(slot) case CUSHIM_SLOT_##slot:
#include "placed.inc"
        return true;
    default:
        return false;
    }
}

/* Whether a call of this slot uses memory in the order of a stream: it can be a part of a race, so the first ones have
 * their lines of Python. */
static inline bool wants_sample(unsigned slot)
{
    switch (slot) {
#define TRACE_SAMPLED(slot) case CUSHIM_SLOT_##slot:
#include "sampled.inc"
        return true;
    default:
        return false;
    }
}

/* Whether the call has written why it failed. */
#define WRITES_REASON(slot, result)                                                                                    \
    ((result) == CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE                                                                  \
     && (CUSHIM_SLOT_##slot == CUSHIM_SLOT_GraphExecUpdate_v1                                                          \
         || CUSHIM_SLOT_##slot == CUSHIM_SLOT_GraphExecUpdate_v2))

/* Whether a call of this slot launches a kernel; whether one can end functions, whose handles then mean others. */
#define IS_LAUNCH(slot)                                                                                                \
    (CUSHIM_SLOT_##slot == CUSHIM_SLOT_LaunchKernel_v1 || CUSHIM_SLOT_##slot == CUSHIM_SLOT_LaunchCooperativeKernel_v1 \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_LaunchKernelEx_v1)
#define ENDS_FUNCTIONS(slot)                                                                                           \
    (CUSHIM_SLOT_##slot == CUSHIM_SLOT_ModuleUnload_v1 || CUSHIM_SLOT_##slot == CUSHIM_SLOT_LibraryUnload_v1           \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_CtxDestroy_v1 || CUSHIM_SLOT_##slot == CUSHIM_SLOT_CtxDestroy_v2             \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_CtxDetach_v1 || CUSHIM_SLOT_##slot == CUSHIM_SLOT_DevicePrimaryCtxReset_v1   \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_DevicePrimaryCtxReset_v2                                                     \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_DevicePrimaryCtxRelease_v1                                                   \
     || CUSHIM_SLOT_##slot == CUSHIM_SLOT_DevicePrimaryCtxRelease_v2)
/* Whether a call gets the function of a kernel, its last parameter. */
#define GETS_FUNCTION(slot) (CUSHIM_SLOT_##slot == CUSHIM_SLOT_KernelGetFunction_v1)
#define IS_BATCH(slot)                                                                                                 \
    (CUSHIM_SLOT_##slot == CUSHIM_SLOT_MemcpyBatchAsync_v1 || CUSHIM_SLOT_##slot == CUSHIM_SLOT_MemcpyBatchAsync_v2)
static void arguments_note(const struct cushim_dispatch_table *next, unsigned slot, struct trace_thread *own,
                           const uint64_t *record, const uint64_t *end);
static void batch_note(struct trace_thread *own, const uint64_t *record);
static void functions_forget(void);

#define WRAPPER(wrapper, kind, slot, parameters, arguments)                                                            \
    static CUresult CUDAAPI wrapper parameters                                                                         \
    {                                                                                                                  \
        const struct cushim_dispatch_table *const trace_next = cushim_layer_next(&trace_layer, kind);                  \
        struct trace_thread *const trace_thread =                                                                      \
            record_begin(TRACE_HEAD TRACE_FIELDS_##slot(WORDS), CUSHIM_RETURN_ADDRESS());                              \
        if (trace_thread == NULL)                                                                                      \
            return trace_next->slot arguments;                                                                         \
        uint64_t *const trace_record = trace_thread->at, *trace_at = trace_record + TRACE_HEAD;                        \
        TRACE_FIELDS_##slot(BEFORE);                                                                                   \
        const uint64_t trace_key = GETS_FUNCTION(slot) ? loaded_key(trace_next, trace_at[-1]) : 0;                     \
        const bool trace_is_loaded = GETS_FUNCTION(slot) && loaded_has(trace_key);                                     \
        (wants_place(CUSHIM_SLOT_##slot) && !trace_is_loaded ? record_call_with_place                                  \
         : wants_sample(CUSHIM_SLOT_##slot)                                                                            \
             ? record_call_with_sample                                                                                 \
             : record_call)(trace_thread, CUSHIM_SLOT_##slot | (uint64_t)kind << TRACE_KIND_SHIFT, trace_at);          \
        if (IS_LAUNCH(slot) && trace_thread->wants_arguments)                                                          \
            arguments_note(trace_next, CUSHIM_SLOT_##slot, trace_thread, trace_record, trace_at);                      \
        if (ENDS_FUNCTIONS(slot))                                                                                      \
            functions_forget();                                                                                        \
        const CUresult trace_result = trace_next->slot arguments;                                                      \
        if (trace_result == CUDA_SUCCESS || WRITES_REASON(slot, trace_result)) {                                       \
            trace_at = trace_record + TRACE_HEAD;                                                                      \
            TRACE_FIELDS_##slot(AFTER)                                                                                 \
        }                                                                                                              \
        if (GETS_FUNCTION(slot) && trace_result == CUDA_SUCCESS)                                                       \
            loaded_add(trace_key);                                                                                     \
        uint64_t trace_fields[ENUMERATION_WORDS] = {0};                                                                \
        if (IS_ENUMERATION(slot))                                                                                      \
            memcpy(trace_fields, trace_record + TRACE_HEAD, sizeof trace_fields);                                      \
        if (IS_BATCH(slot) && trace_result == CUDA_SUCCESS)                                                            \
            batch_note(trace_thread, trace_record);                                                                    \
        record_return(trace_thread, trace_record, (unsigned)trace_result);                                             \
        if (IS_ENUMERATION(slot) && trace_result == CUDA_SUCCESS)                                                      \
            kernels_name(trace_next, CUSHIM_SLOT_##slot, trace_fields);                                                \
        return trace_result;                                                                                           \
    }

/* clang-format off */
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments)                                                    \
    WRAPPER(trace_##function##_##abi, CUSHIM_DEFAULT_STREAM_LEGACY, function##_##abi, parameters, arguments)
#define CUSHIM_ENTRY_BY_KIND(function, abi, version, parameters, arguments)                                            \
    WRAPPER(trace_##function##_##abi##_legacy, CUSHIM_DEFAULT_STREAM_LEGACY, function##_##abi, parameters, arguments)  \
    WRAPPER(trace_##function##_##abi##_per_thread, CUSHIM_DEFAULT_STREAM_PER_THREAD, function##_##abi, parameters,     \
            arguments)
#include "cushim/entry_points.h"
/* clang-format on */

/* ---- the names of kernels ---- */

static bool is_native(unsigned slot)
{
    return states_of_slots[CUSHIM_DEFAULT_STREAM_LEGACY][slot] == CUSHIM_STATE_NATIVE;
}

/* The number of kernels in a module or library whose names the driver can return; 0: none, or unknown. */
static unsigned kernels_count(const struct cushim_dispatch_table *next, bool is_library, void *whole)
{
    unsigned count = 0;
    if (is_library && is_native(CUSHIM_SLOT_LibraryGetKernelCount_v1) && is_native(CUSHIM_SLOT_KernelGetName_v1)
        && next->LibraryGetKernelCount_v1(&count, (CUlibrary)whole) == CUDA_SUCCESS)
        return count;
    if (!is_library && is_native(CUSHIM_SLOT_ModuleGetFunctionCount_v1) && is_native(CUSHIM_SLOT_FuncGetName_v1)
        && next->ModuleGetFunctionCount_v1(&count, (CUmodule)whole) == CUDA_SUCCESS)
        return count;
    return 0;
}

/* A program that gets kernels in an array need not know their names, so the driver is asked. An array that is longer
 * than the number of kernels is not written to its end. Driver 580 invalidates no capture then; in the relaxed mode,
 * no driver does. */
static void kernels_name(const struct cushim_dispatch_table *next, unsigned slot, const uint64_t *fields)
{
    void *const *kernels = (void *const *)(uintptr_t)fields[0];
    void *whole = (void *)(uintptr_t)fields[2];
    bool is_library = slot == CUSHIM_SLOT_LibraryEnumerateKernels_v1;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    if (kernels == NULL || next->ThreadExchangeStreamCaptureMode_v1(&mode) != CUDA_SUCCESS)
        return;
    unsigned size = (unsigned)fields[1], count = kernels_count(next, is_library, whole);
    for (unsigned i = 0; i < size && i < count; i++) {
        const char *name = NULL;
        CUresult result = is_library ? next->KernelGetName_v1(&name, (CUkernel)kernels[i])
                                     : next->FuncGetName_v1(&name, (CUfunction)kernels[i]);
        if (result == CUDA_SUCCESS && name != NULL)
            record_kernel(slot, fields[2], (uint64_t)(uintptr_t)kernels[i], name);
    }
    (void)next->ThreadExchangeStreamCaptureMode_v1(&mode);
}

/* ---- what kernels get ---- */

/* The words of a launch that name the function, and its arguments: in an array of pointers, or in a buffer. */
static void arguments_note(const struct cushim_dispatch_table *next, unsigned slot, struct trace_thread *own,
                           const uint64_t *record, const uint64_t *end)
{
    bool has_extra = slot != CUSHIM_SLOT_LaunchCooperativeKernel_v1, is_first = slot != CUSHIM_SLOT_LaunchKernelEx_v1;
    const uint64_t *parameters = has_extra ? end - 2 : end - 1;
    uint64_t words[TRACE_ARGUMENTS_WORDS - TRACE_HEAD], length = own->log_length;
    const struct arguments_launch launch = {
        .function = is_first ? record[TRACE_HEAD] : parameters[-1],
        .parameters = (void *const *)(uintptr_t)parameters[0],
        .extra = has_extra ? (void *const *)(uintptr_t)parameters[1] : NULL,
    };
    size_t count = is_native(CUSHIM_SLOT_FuncGetParamInfo_v1)
                       ? arguments_read(next, &launch, &words[1], sizeof words / sizeof words[0] - 1)
                       : 0;
    own->log_length = (uint32_t)length; /* the driver explains the errors of the questions, too */
    if (count > 0)
        record_arguments(own, record, words, 1 + count);
}

/* The driver has read the arrays, so they can be read. */
static void batch_note(struct trace_thread *own, const uint64_t *record)
{
    uint64_t words[TRACE_ARGUMENTS_WORDS - TRACE_HEAD];
    const uint64_t *fields = &record[TRACE_HEAD];
    const struct arguments_batch batch = {
        .targets = (const CUdeviceptr *)(uintptr_t)fields[0],
        .sources = (const CUdeviceptr *)(uintptr_t)fields[1],
        .sizes = (const size_t *)(uintptr_t)fields[2],
        .count = (size_t)fields[3],
        .attributes = (const CUmemcpyAttributes *)(uintptr_t)fields[4],
        .first_of = (const size_t *)(uintptr_t)fields[5],
        .attribute_count = (size_t)fields[6],
    };
    if (batch.count > 0 && batch.attribute_count > 0)
        record_arguments(own, record, words,
                         1 + arguments_read_batch(&batch, &words[1], sizeof words / sizeof *words - 1));
}

static void functions_forget(void)
{
    arguments_forget();
    loaded_forget();
}

/* ---- what the driver logs ---- */

/* The driver calls this on the thread of the call that fails, before that call returns. */
static void CUDA_CB log_on_line(void *user, CUlogLevel level, char *line, size_t length)
{
    (void)user;
    if (level == CU_LOG_LEVEL_ERROR && line != NULL)
        record_log(line, strnlen(line, length));
}

/* The program can register functions of its own beside this one. */
static void driver_log_register(void)
{
    static CUlogsCallbackHandle registration;
    const struct cushim_dispatch_table *next = cushim_layer_next(&trace_layer, CUSHIM_DEFAULT_STREAM_LEGACY);
    if (is_native(CUSHIM_SLOT_LogsRegisterCallback_v1))
        (void)next->LogsRegisterCallback_v1(log_on_line, NULL, &registration);
}

/* Whether the result is an answer, whoever asks. */
static bool is_expected(unsigned slot, unsigned result)
{
    enum { ANYBODY, CUDA_LIBRARY, NEW_VERSION, NO_FUNCTION };
    static const struct {
        enum trace_function function;
        unsigned result, asker;
    } answers[] = {
#define TRACE_ANSWER(function, result, asker, meaning) {TRACE_FUNCTION_##function, result, asker},
#include "../file/answers.inc"
    };
    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
        if (answers[i].result == result && answers[i].asker == ANYBODY
            && (answers[i].function == TRACE_FUNCTION_ANY || answers[i].function == schema_function(slot)))
            return true;
    }
    return false;
}

/* ---- the layer ---- */

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    static const struct trace_schema schema = {(const uint8_t *)states_of_slots, CUSHIM_SLOT_COUNT, schema_write,
                                               driver_log_register, is_expected};
    (void)next, (void)user;
    if (!record_prepare(&schema))
        return CUDA_ERROR_NOT_PERMITTED;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        states_of_slots[kind][slot] = (uint8_t)states[slot];
    /* These two are adapted on every driver and still call it, so the state says nothing about a call. */
    static const enum cushim_slot passing[] = {CUSHIM_SLOT_Init_v1, CUSHIM_SLOT_GetErrorString_v1};
    for (size_t i = 0; i < sizeof passing / sizeof passing[0]; i++) {
        if (states[passing[i]] == CUSHIM_STATE_ADAPTED)
            states_of_slots[kind][passing[i]] = CUSHIM_STATE_NATIVE;
    }
#define CUSHIM_ENTRY(function, abi, version, parameters, arguments) table->function##_##abi = trace_##function##_##abi;
#define CUSHIM_ENTRY_BY_KIND(function, abi, version, parameters, arguments)                                            \
    table->function##_##abi = CUSHIM_LAYER_OF_KIND(trace_##function##_##abi, kind);
#include "cushim/entry_points.h"
    return CUDA_SUCCESS;
}

static struct cushim_layer trace_layer = CUSHIM_LAYER("trace", install, NULL);
CUSHIM_LAYER_ENTRY(trace_layer)
