/* SPDX-License-Identifier: MIT */
/* The objects of the stream layer, and the functions that its files and those of completions share. */
#ifndef CUSHIM_STREAM_INTERNAL_H
#define CUSHIM_STREAM_INTERNAL_H

#include "../../loader/common/atomic.h"

#include "cushim/capture.h"
#include "cushim/event.h"

/*
 * Calls of the driver, and the errors that functions of many files return. `function` is the name of the public
 * function.
 */

/* CUSHIM_CALL() in the legacy table, where stream 0 means the same for every user of this code. */
#define CUSH_CALL(...) CUSHIM_EXPAND(CUSHIM_CALL_IN(cushim_table_legacy(), __VA_ARGS__))

static inline CUresult fail_null_context(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_CONTEXT, function, "The context is NULL or was destroyed.");
}

static inline CUresult fail_null_stream(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function, "The stream is NULL or was destroyed.");
}

static inline CUresult fail_null_event(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function, "The event is NULL or was destroyed.");
}

static inline CUresult fail_null_graph(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_HANDLE, function,
                            "The graph is NULL, was destroyed, or was lost in a failed capture into it.");
}

static inline CUresult fail_null_output(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The output pointer is NULL.");
}

static inline CUresult fail_null_body(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The body is NULL.");
}

static inline CUresult fail_null_function(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function, "The function is NULL.");
}

static inline CUresult fail_edges_without_nodes(const char *function)
{
    return cushim_error_set(CUDA_ERROR_INVALID_VALUE, function,
                            "The nodes are NULL, although the count is not 0 or the edges are not NULL.");
}

static inline CUresult fail_out_of_memory(const char *function)
{
    return cushim_error_set(CUDA_ERROR_OUT_OF_MEMORY, function, "The host is out of memory.");
}

/* For prototypes that lack a const. */
static inline void *without_const(const void *memory)
{
    union {
        const void *constant;
        void *writable;
    } same = {memory};
    return same.writable;
}

/* ---- context.c ---- */

enum context_kind { CONTEXT_PRIMARY, CONTEXT_OWN, CONTEXT_BORROWED };

struct cushim_context {
    atomic_uint references;
    CUcontext handle;
    CUgreenCtx green; /* or NULL */
    CUdevice device;
    enum context_kind kind;
};

/* Both accept NULL. Dropping the last reference releases or destroys the driver's context and returns the code. */
struct cushim_context *cush_context_ref(struct cushim_context *context);
CUresult cush_context_unref(struct cushim_context *context);

/* Makes a context current for a block of calls, like cushim_context_enter() and cushim_context_leave(), but records no
 * error, and makes no change if it is current. The first returns the driver's code. */
CUresult cush_context_push(CUcontext context, CUcontext *out_before);
void cush_context_pop(CUcontext context, CUcontext before);

/* The id of a context is never used again, as its handle can be. Needs CUDA 12.0. */
CUresult cush_context_find_id(CUcontext context, unsigned long long *out_id);
/* Returns CUDA_SUCCESS if the context exists, CUDA_ERROR_CONTEXT_IS_DESTROYED if not, CUDA_ERROR_NOT_READY if the
 * driver gives no certain answer, or an error that it repeats. */
CUresult cush_context_check_id(CUcontext context, unsigned long long id);

/* ---- stream_object.c and notification_stream.c ---- */

/* The properties that a stream remembers. */
enum known_property { KNOWN_FLAGS = 1, KNOWN_DEVICE = 2, KNOWN_ID = 4, KNOWN_CONTEXT = 8 };

struct notification_stream;

/* Members that can change after the object was created are atomic. */
struct cushim_stream {
    atomic_uint references; /* of the object: the caller, each open capture and each use */
    atomic_uint uses;       /* of the driver's stream: the caller, and each body that runs with it */
    CUstream handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
    bool special; /* 0, legacy or per-thread: a different stream in each thread or context */
    /* The open capture that cushim began, unless special. Only the thread that takes it from here may end it. */
    _Atomic(struct cushim_capture *) capture;
    atomic_uint known; /* bits of enum known_property, each set after its value below */
    atomic_uint flags;
    atomic_int device;
    atomic_ullong id;
    _Atomic(CUcontext) driver_context;
    _Atomic(CUgreenCtx) green;
    atomic_ullong context_id; /* of the context in which completions record events; 0: not known yet */
    _Atomic(struct notification_stream *) notification; /* NULL: not chosen yet */
};

/* Creates an object. Returns NULL if the host is out of memory. */
struct cushim_stream *cush_stream_new(CUstream handle, bool owned);

/* References to the object alone. */
struct cushim_stream *cush_stream_ref(struct cushim_stream *stream);
void cush_stream_unref(struct cushim_stream *stream);

/*
 * Keeps the object and the driver's stream alive, even if cushim_stream_destroy() is called in the meantime. The end of
 * the last use destroys an owned stream and returns the driver's code.
 */
void cush_stream_use(struct cushim_stream *stream);
CUresult cush_stream_end_use(struct cushim_stream *stream);

/*
 * Sets the capture mode of this thread to relaxed: calls then invalidate no capture of another stream, and are not
 * refused because of one. Each relax needs a restore. Neither records an error.
 */
bool cush_capture_mode_relax(CUstreamCaptureMode *out_previous);
void cush_capture_mode_restore(bool changed, CUstreamCaptureMode previous);

/*
 * Chooses the driver stream to which the callbacks of completions are added, unless it is chosen: a notification
 * stream, or the stream itself. `context` is the context of the stream and `id` its id; an id of 0 means that there are
 * only callbacks.
 */
void cush_notification_choose(struct cushim_stream *stream, CUcontext context, unsigned long long id);
/*
 * Writes the chosen driver stream. A notification stream then waits for the work that is in the stream now. Records an
 * error; it is that of a capture if one began during the call.
 */
CUresult cush_notification_follow(const char *function, struct cushim_stream *stream, CUstream *out_handle);
/* Destroys the notification stream, if there is one. Callbacks that are due there still come. */
void cush_notification_end(struct cushim_stream *stream);

/*
 * Waits for the work of the stream in the relaxed capture mode, which invalidates no capture of another stream. Returns
 * the driver's code and records no error.
 */
CUresult cush_stream_wait_relaxed(struct cushim_stream *stream);

/* ---- property.c ---- */

/* Remembers the properties of a stream that was just created, so that no later call needs to ask the driver. */
void cush_stream_remember(struct cushim_stream *stream, unsigned flags);

/*
 * Returns whether the stream is in a capture, active or invalidated, or is the legacy stream while a blocking stream is
 * in one. If the driver does not answer, it returns false and records no error.
 */
bool cush_stream_is_capturing(CUstream handle);

/* Fails with CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and a message that says which stream is capturing, if the former
 * returns true. */
CUresult cush_stream_check_capture(const char *function, CUstream handle);

/* Writes the contexts of a stream that is not special like cushim_stream_get_driver_context(), but records no error. */
CUresult cush_stream_find_context(struct cushim_stream *stream, CUcontext *out_context, CUgreenCtx *out_green);

/* ---- event.c ---- */

/*
 * Records an event in a stream. Creates it in the context of the stream if *event is NULL. If a capture of the stream
 * began during the call, fails and forgets the event: any further call on it would invalidate that capture.
 */
CUresult cush_event_record(const char *function, struct cushim_stream *stream, CUcontext context, CUevent *event);

struct cushim_event {
    CUevent handle;
    struct cushim_context *context; /* or NULL */
    bool owned;
};

/* ---- graph.c ---- */

struct cushim_graph {
    atomic_uint references;  /* the caller, and each open capture into the graph */
    _Atomic(CUgraph) handle; /* NULL: the driver destroyed the graph */
    bool owned;
    atomic_uint captures; /* open captures into the graph */
};

/* Creates an object; handle may be NULL and be set later. Returns NULL if the host is out of memory. */
struct cushim_graph *cush_graph_new(CUgraph handle, bool owned);

struct cushim_graph *cush_graph_ref(struct cushim_graph *graph);

/* Accepts NULL. Dropping the last reference destroys an owned graph and returns the driver's code; records no error. */
CUresult cush_graph_unref(struct cushim_graph *graph);

/* ---- captured_call.c: calls of host functions in streams, and such calls in a capture ---- */

/* A host function or a status callback, with its user data. */
struct host_call {
    CUhostFn host;           /* NULL for a status callback */
    CUstreamCallback status; /* NULL for a host function */
    void *user;
    void (*destroy_user)(void *user); /* or NULL */
};

/* Destroys the user data of a call that was made or will not be made. Returns `result`. */
static inline CUresult host_call_destroy_user(const struct host_call *call, CUresult result)
{
    if (call->destroy_user != NULL)
        call->destroy_user(call->user);
    return result;
}

/* A host function in a capture. Its user data lives as long as the graph and everything that was made from it. */
struct captured_call;

/*
 * Launches a host function into the capture whose graph is `graph`. On success the caller has a reference to *out_call;
 * on failure the user data was destroyed.
 */
CUresult cush_captured_call_launch(const char *function, CUstream stream, CUgraph graph, const struct host_call *call,
                                   struct captured_call **out_call);

void cush_captured_call_unref(struct captured_call *call);

/* Takes a reference for a list, and returns the address of the call's link to the next call in that list. */
struct captured_call **cush_captured_call_ref_next(struct captured_call *call);

/*
 * Drops the calls of a capture that is over. With `has_sticky_error` no call will be made, and the driver may never
 * destroy the user objects, so the user data is destroyed here. Otherwise the user objects destroy it: an executable
 * graph or a copy that was made while the capture was open may still make the calls.
 */
void cush_captured_calls_end(struct captured_call *calls, bool has_sticky_error);

/* ---- capture.c ---- */

/* Returns whether a code means that a capture prevents a call, or that a capture failed. */
static inline bool is_capture_error(CUresult code)
{
    return code >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && code <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

/* Returns whether a capture is open that was begun with this object; of a special stream, in this thread. */
bool cush_capture_is_open(struct cushim_stream *stream);

/*
 * Ends the open capture of a stream that is about to be destroyed. The capture object stays until the caller of
 * cushim_capture_begin() ends it. Returns whether a capture was open.
 */
bool cush_capture_abandon(struct cushim_stream *stream);

/*
 * Ends the capture in which a body has left the stream, because the work would never run. Returns whether the stream
 * was in a capture. The stream can still be capturing afterwards: a stream that joined the capture of another stream
 * leaves it only when that capture ends.
 */
bool cush_capture_end_leftover(struct cushim_stream *stream);

/* Adds a call to the open capture of the stream. Does nothing if cushim did not begin that capture. */
void cush_capture_add_call(struct cushim_stream *stream, struct captured_call *call);

#endif
