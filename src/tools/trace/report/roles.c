/* SPDX-License-Identifier: MIT */
/* What the functions of a trace are to streams and captures, and the streams of calls. */
#include "findings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By names without an ABI version. */
static const struct {
    const char *name;
    enum trace_role_kind kind;
    bool is_of_stream_alone, no_mode_permits;
} named_roles[] = {
    {"cuStreamBeginCapture", TRACE_BEGIN_CAPTURE, false, false},
    {"cuStreamBeginCaptureToGraph", TRACE_BEGIN_CAPTURE, false, false},
    {"cuStreamBeginRecaptureToGraph", TRACE_BEGIN_CAPTURE, false, false},
    {"cuStreamEndCapture", TRACE_END_CAPTURE, false, false},
    {"cuStreamIsCapturing", TRACE_CAPTURE_STATUS, false, false},
    {"cuStreamGetCaptureInfo", TRACE_CAPTURE_STATUS, false, false},
    {"cuThreadExchangeStreamCaptureMode", TRACE_EXCHANGE_MODE, false, false},
    {"cuEventRecord", TRACE_RECORD_EVENT, false, false},
    {"cuEventRecordWithFlags", TRACE_RECORD_EVENT, false, false},
    {"cuStreamWaitEvent", TRACE_WAIT_EVENT, false, false},
    {"cuEventElapsedTime", TRACE_ELAPSED_TIME, false, false},
    {"cuStreamCreate", TRACE_CREATE_STREAM, false, false},
    {"cuStreamCreateWithPriority", TRACE_CREATE_STREAM, false, false},
    {"cuGreenCtxStreamCreate", TRACE_CREATE_STREAM, false, false},
    {"cuStreamDestroy", TRACE_DESTROY_STREAM, false, false},
    {"cuStreamSynchronize", TRACE_SYNCHRONIZE_STREAM, false, false},
    {"cuEventSynchronize", TRACE_SYNCHRONIZE_EVENT, false, false},
    {"cuCtxSynchronize", TRACE_SYNCHRONIZE_CONTEXT, false, true},
    {"cuCtxRecordEvent", TRACE_OTHER, false, true},
    {"cuCtxWaitEvent", TRACE_OTHER, false, true},
    {"cuStreamQuery", TRACE_OTHER, false, false},
    {"cuStreamGetFlags", TRACE_OTHER, true, false},
    {"cuStreamGetId", TRACE_OTHER, true, false},
    {"cuStreamGetDevice", TRACE_OTHER, true, false},
    {"cuStreamAddCallback", TRACE_WORK, true, false},
    {"cuMemPrefetchAsync", TRACE_WORK, true, false},
    {"cuGraphLaunch", TRACE_WORK, true, false},
    {"cuGraphUpload", TRACE_WORK, true, false},
    {"cuMemFree", TRACE_SYNCHRONOUS, false, false},
    {"cuMemFreeHost", TRACE_SYNCHRONOUS, false, false},
};

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

/* The places of the arguments. Those behind a text have none. */
static void role_find_arguments(const struct trace_slot *slot, struct trace_role *role)
{
    int place = 0;
    role->stream = role->event = role->value = -1;
    for (size_t i = 0; i < slot->field_count; i++) {
        const struct trace_slot_field *field = &slot->fields[i];
        bool is_value = field->kind == TRACE_VALUE;
        if (trace_field_stream(field) >= 0 && role->stream < 0)
            role->stream = place + trace_field_stream(field);
        else if (is_value && strcmp(field->type, "CUevent") == 0 && role->event < 0)
            role->event = place;
        else if (strcmp(field->type, "CUstreamCaptureMode") == 0 || starts_with(field->type, "CUstreamCaptureMode *"))
            role->value = place + (is_value ? 0 : 1);
        else if (field->kind == TRACE_OUT && starts_with(field->type, "CUstreamCaptureStatus"))
            role->value = place + 1;
        else if (is_value && (strcmp(field->name, "Flags") == 0 || strcmp(field->name, "flags") == 0))
            role->value = place;
        if (field->kind == TRACE_TEXT)
            break;
        place += (int)trace_field_words(field, NULL, SIZE_MAX);
    }
}

const struct trace_role *trace_role_of(struct trace_findings *findings, const struct trace_reader *reader,
                                       unsigned slot_number)
{
    if (findings->roles == NULL && (findings->roles = calloc(reader->slot_count, sizeof *findings->roles)) == NULL) {
        findings->failed = true;
        return NULL;
    }
    struct trace_role *role = &findings->roles[slot_number];
    if (role->is_known)
        return role;
    const struct trace_slot *slot = &reader->slots[slot_number];
    size_t length = trace_plain_length(slot->function), i = 0, count = sizeof named_roles / sizeof named_roles[0];
    role->is_known = true;
    role_find_arguments(slot, role);
    while (i < count
           && (strncmp(named_roles[i].name, slot->function, length) != 0 || named_roles[i].name[length] != '\0'))
        i++;
    if (i < count) {
        role->kind = named_roles[i].kind;
        role->is_of_stream_alone = named_roles[i].is_of_stream_alone;
        role->no_mode_permits = named_roles[i].no_mode_permits;
    } else if (role->stream >= 0) {
        role->kind = starts_with(slot->function, "cuStreamGet") || starts_with(slot->function, "cuStreamSet")
                             || starts_with(slot->function, "cuStreamBegin")
                             || starts_with(slot->function, "cuStreamEnd")
                             || starts_with(slot->function, "cuStreamCopyAttributes")
                             || starts_with(slot->function, "cuStreamUpdate")
                         ? TRACE_OTHER
                         : TRACE_WORK;
    } else if (starts_with(slot->function, "cuMemcpy") || starts_with(slot->function, "cuMemset")) {
        role->kind = TRACE_SYNCHRONOUS;
    }
    return role;
}

uint64_t trace_capture_status(const struct trace_role *role, const struct trace_call *call)
{
    bool has_status = call->returned && call->result == CUDA_SUCCESS && role->kind == TRACE_CAPTURE_STATUS
                      && role->value > 0 && trace_word(call, role->value - 1) != 0;
    return has_status ? trace_word(call, role->value) : CU_STREAM_CAPTURE_STATUS_NONE;
}

uint64_t trace_stream_of(const struct trace_findings *findings, const struct trace_role *role,
                         const struct trace_call *call)
{
    return trace_stream_number(findings, call, trace_word(call, role->stream));
}

/* That of a per-thread stream: the highest bit, the number of the context, the thread. */
uint64_t trace_stream_number(const struct trace_findings *findings, const struct trace_call *call, uint64_t stream)
{
    if (stream == 0)
        stream = call->kind == CUSHIM_DEFAULT_STREAM_LEGACY ? TRACE_LEGACY_STREAM : TRACE_PER_THREAD_STREAM;
    if (stream != TRACE_PER_THREAD_STREAM)
        return stream;
    uint64_t context = trace_object_number(findings, call->process, "CUcontext", trace_current_context(findings, call));
    return UINT64_C(1) << 63 | context << 32 | (uint32_t)call->thread;
}

struct trace_text trace_stream_name(const struct trace_findings *findings, size_t process, uint64_t stream)
{
    struct trace_text name = {""};
    unsigned context = (unsigned)(stream >> 32) & INT32_MAX;
    if (findings != NULL)
        name = trace_object_name(findings, process, "CUstream", stream);
    if (stream == TRACE_LEGACY_STREAM)
        snprintf(name.text, sizeof name.text, "the legacy stream");
    else if (stream >> 63 != 0)
        snprintf(name.text, sizeof name.text,
                 context > 1 ? "the per-thread stream of thread %u in context %u"
                             : "the per-thread stream of thread %u",
                 (unsigned)stream, context);
    else if (name.text[0] == '\0')
        snprintf(name.text, sizeof name.text, "stream 0x%" PRIx64, stream);
    return name;
}
