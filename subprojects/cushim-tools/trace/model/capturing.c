/* SPDX-License-Identifier: MIT */
#include "capturing.h"

#include <stdlib.h>

#include "cushim/abi/cuda_abi.h"

enum { MEMBER_STREAM = 1, MEMBER_EVENT, MEMBER_THREAD };

/* A stream, an event or a thread. */
struct member {
    struct trace_key key;
    uint64_t capture; /* to which the stream belongs, or that recorded the event; 0: none */
    unsigned mode;    /* of a thread */
    bool is_non_blocking;
};

static struct member *member_add(struct trace_capturing *capturing, size_t process, uint32_t kind, uint64_t id)
{
    capturing->members.size = sizeof(struct member);
    return trace_table_add(&capturing->members, (struct trace_key){id, (uint32_t)process, kind});
}

static const struct member *member_find(const struct trace_capturing *capturing, size_t process, uint32_t kind,
                                        uint64_t id)
{
    return trace_table_find(&capturing->members, (struct trace_key){id, (uint32_t)process, kind});
}

static struct trace_stream_capture *capture_find(const struct trace_capturing *capturing, uint64_t number)
{
    for (size_t i = 0; number != 0 && i < capturing->count; i++) {
        if (capturing->list[i].number == number)
            return &capturing->list[i];
    }
    return NULL;
}

uint64_t trace_capture_of_stream(const struct trace_capturing *capturing, size_t process, uint64_t stream)
{
    const struct member *member = member_find(capturing, process, MEMBER_STREAM, stream);
    const struct trace_stream_capture *capture = member != NULL ? capture_find(capturing, member->capture) : NULL;
    return capture != NULL && capture->state != TRACE_CAPTURE_ENDED ? member->capture : 0;
}

uint64_t trace_capture_of_event(const struct trace_capturing *capturing, size_t process, uint64_t event)
{
    const struct member *member = member_find(capturing, process, MEMBER_EVENT, event);
    return member != NULL ? member->capture : 0;
}

bool trace_stream_is_non_blocking(const struct trace_capturing *capturing, size_t process, uint64_t stream)
{
    const struct member *member = member_find(capturing, process, MEMBER_STREAM, stream);
    return member != NULL && member->is_non_blocking;
}

unsigned trace_capture_thread_mode(const struct trace_capturing *capturing, size_t process, long thread)
{
    const struct member *member = member_find(capturing, process, MEMBER_THREAD, (uint64_t)thread);
    return member != NULL ? member->mode : CU_STREAM_CAPTURE_MODE_GLOBAL;
}

/* ---- the states of a capture ---- */

/* What a call shows about the capture of its stream. */
enum event { NOTHING, PROOF, LOSS, END, EVENTS };

/* Proof after a loss belongs to an overlapping call. */
static const enum trace_capture_state next_states[EVENTS][TRACE_CAPTURE_ENDED + 1] = {
    /*            active                lost                 ended */
    [NOTHING] = {TRACE_CAPTURE_ACTIVE, TRACE_CAPTURE_LOST, TRACE_CAPTURE_ENDED},
    [PROOF] = {TRACE_CAPTURE_ACTIVE, TRACE_CAPTURE_LOST, TRACE_CAPTURE_ENDED},
    [LOSS] = {TRACE_CAPTURE_LOST, TRACE_CAPTURE_LOST, TRACE_CAPTURE_ENDED},
    [END] = {TRACE_CAPTURE_ENDED, TRACE_CAPTURE_ENDED, TRACE_CAPTURE_ENDED},
};

static bool ends_capture(unsigned result)
{
    return result == CUDA_SUCCESS || result == CUDA_ERROR_ILLEGAL_STATE
           || result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || result == CUDA_ERROR_STREAM_CAPTURE_UNJOINED
           || result == CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

static enum event event_of(const struct trace_capturing_call *read, const struct trace_stream_capture *capture)
{
    enum trace_role_kind role = read->role->kind;
    unsigned result = read->call->result;
    uint64_t status = trace_capture_status(read->role, read->call);
    if (role == TRACE_END_CAPTURE && ends_capture(result))
        return END;
    if (result == CUDA_ERROR_STREAM_CAPTURE_INVALIDATED || status == CU_STREAM_CAPTURE_STATUS_INVALIDATED)
        return LOSS;
    if (status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return PROOF;
    if (result != CUDA_SUCCESS)
        return NOTHING;
    if (role == TRACE_WORK || role == TRACE_RECORD_EVENT || role == TRACE_WAIT_EVENT)
        return PROOF;
    return role == TRACE_DESTROY_STREAM && capture->stream == read->stream ? END : NOTHING;
}

static void capture_follow(struct trace_stream_capture *capture, const struct trace_capturing_call *read)
{
    enum event event = event_of(read, capture);
    enum trace_capture_state next = next_states[event][capture->state];
    if (event == PROOF && next == TRACE_CAPTURE_ACTIVE)
        capture->active = read->call->begin;
    if (next == TRACE_CAPTURE_LOST && capture->state == TRACE_CAPTURE_ACTIVE)
        capture->lost = read->moment;
    if (next == TRACE_CAPTURE_ENDED && capture->state != TRACE_CAPTURE_ENDED)
        capture->ended = read->moment;
    capture->state = next;
}

/* ---- streams, events and threads ---- */

static bool capture_begin(struct trace_capturing *capturing, const struct trace_capturing_call *read)
{
    const struct trace_role *role = read->role;
    struct member *stream = member_add(capturing, read->call->process, MEMBER_STREAM, read->stream);
    struct trace_stream_capture *grown = realloc(capturing->list, (capturing->count + 1) * sizeof *grown);
    if (grown != NULL)
        capturing->list = grown;
    if (stream == NULL || grown == NULL)
        return false;
    stream->capture = ++capturing->began;
    grown[capturing->count++] = (struct trace_stream_capture){
        .number = capturing->began,
        .stream = read->stream,
        .mode = role->value >= 0 ? (unsigned)trace_word(read->call, role->value) : CU_STREAM_CAPTURE_MODE_GLOBAL,
        .began = read->moment,
        .active = read->call->begin,
        .is_blocking = !stream->is_non_blocking, /* the per-thread stream blocks, too */
    };
    return true;
}

/* An event belongs to the capture of the stream that recorded it, and a stream joins the capture of an event for which
 * it waits. */
static bool event_follow(struct trace_capturing *capturing, const struct trace_capturing_call *read)
{
    size_t process = read->call->process;
    uint64_t event = trace_word(read->call, read->role->event);
    uint64_t of_stream = trace_capture_of_stream(capturing, process, read->stream);
    uint64_t of_event = trace_capture_of_event(capturing, process, event);
    struct trace_stream_capture *capture = capture_find(capturing, of_event);
    bool is_external = (trace_word(read->call, read->role->value) & 1) != 0;
    struct member *member;
    if (is_external)
        return true;
    if (read->role->kind == TRACE_RECORD_EVENT && of_event != of_stream) {
        if ((member = member_add(capturing, process, MEMBER_EVENT, event)) != NULL)
            member->capture = of_stream;
        return member != NULL;
    }
    if (read->role->kind == TRACE_WAIT_EVENT && capture != NULL && capture->state != TRACE_CAPTURE_ENDED
        && of_stream == 0) {
        if ((member = member_add(capturing, process, MEMBER_STREAM, read->stream)) == NULL)
            return false;
        member->capture = of_event;
        capture->is_blocking |= !member->is_non_blocking;
    }
    return true;
}

/* A new stream or event can have the handle of a destroyed one, which belonged to a capture. */
static bool handle_renew(struct trace_capturing *capturing, const struct trace_capturing_call *read)
{
    size_t process = read->call->process;
    struct member *member;
    if (read->renewed_event != 0 && trace_capture_of_event(capturing, process, read->renewed_event) != 0) {
        if ((member = member_add(capturing, process, MEMBER_EVENT, read->renewed_event)) == NULL)
            return false;
        member->capture = 0;
    }
    if (read->created_stream != 0) {
        if ((member = member_add(capturing, process, MEMBER_STREAM, read->created_stream)) == NULL)
            return false;
        member->capture = 0;
        member->is_non_blocking = (trace_word(read->call, read->role->value) & CU_STREAM_NON_BLOCKING) != 0;
    }
    return true;
}

static bool call_follow(struct trace_capturing *capturing, const struct trace_capturing_call *read)
{
    const struct trace_role *role = read->role;
    struct member *member;
    switch (role->kind) {
    case TRACE_BEGIN_CAPTURE:
        return capture_begin(capturing, read);
    case TRACE_RECORD_EVENT:
    case TRACE_WAIT_EVENT:
        return capturing->began == 0 || event_follow(capturing, read);
    case TRACE_EXCHANGE_MODE:
        member = member_add(capturing, read->call->process, MEMBER_THREAD, (uint64_t)read->call->thread);
        if (member != NULL)
            member->mode = (unsigned)trace_word(read->call, role->value);
        return member != NULL;
    case TRACE_DESTROY_STREAM:
        member = member_add(capturing, read->call->process, MEMBER_STREAM, read->stream);
        if (member != NULL)
            member->capture = 0;
        return member != NULL;
    default:
        return handle_renew(capturing, read);
    }
}

bool trace_capturing_read(struct trace_capturing *capturing, const struct trace_capturing_call *read)
{
    size_t kept = 0;
    for (size_t i = 0; i < capturing->count; i++) {
        if (capturing->list[i].state != TRACE_CAPTURE_ENDED)
            capturing->list[kept++] = capturing->list[i];
    }
    capturing->count = kept;
    if (!read->call->returned)
        return true;
    struct trace_stream_capture *capture =
        read->stream != 0 && kept > 0
            ? capture_find(capturing, trace_capture_of_stream(capturing, read->call->process, read->stream))
            : NULL;
    if (capture != NULL)
        capture_follow(capture, read);
    return read->call->result != CUDA_SUCCESS || call_follow(capturing, read);
}

void trace_capturing_free(struct trace_capturing *capturing)
{
    free(capturing->members.entries);
    free(capturing->list);
}
