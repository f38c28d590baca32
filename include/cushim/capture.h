/* SPDX-License-Identifier: MIT */
/*
 * capture.h - record what is enqueued into a stream as a graph, instead of doing it.
 *
 * The general rules stand in context.h. Captures need CUDA 10.0; modes other than CU_STREAM_CAPTURE_MODE_RELAXED need
 * 10.1; what needs more says so, and is CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * Some calls invalidate a capture: it takes no more work and must still be ended, and ending it says
 * CUDA_ERROR_STREAM_CAPTURE_INVALIDATED. Which calls, and in which mode, was measured: tests/conformance/CAPTURE.md in
 * cushim's sources.
 */
#ifndef CUSHIM_CAPTURE_H
#define CUSHIM_CAPTURE_H

#include "cushim/graph.h"
#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The scoped form ---- */

/*
 * Begins a capture, calls body(stream, user), and ends the capture whatever the body did; the stream is usable again.
 * It must return: a longjmp or an exception out of it is not caught. Gives a graph that the caller owns.
 *   the body's own error                   the graph is destroyed; if ending failed too, cushim_last_error() has that
 *   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED  something in the body invalidated the capture
 *   CUDA_ERROR_STREAM_CAPTURE_UNJOINED     the body forked to another stream and did not join
 *   CUDA_ERROR_ILLEGAL_STATE               the stream was capturing already, which goes on; or the body ended the
 *                                          capture itself, and had no error of its own
 *   CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  the legacy stream cannot capture
 *   CUDA_ERROR_INVALID_VALUE               body or out_graph is NULL, or the mode is none
 */
CUSHIM_API CUresult cushim_stream_capture(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                          cushim_stream_body body, void *user, struct cushim_graph **out_graph);

/* The same, and straight to an executable for the stream's context, or, where it was wrapped without one, for the
 * caller's current one; `flags` as cushim_graph_instantiate(). */
CUSHIM_API CUresult cushim_stream_capture_executable(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                                     unsigned long long flags, cushim_stream_body body, void *user,
                                                     struct cushim_graph_exec **out_exec);

/*
 * The same into a graph that is there (CUDA 12.3): what is captured first depends on `nodes`, with the edges that
 * `edges` describe (NULL: plain ones), `count` of each. The graph stays the caller's, with what was captured until then
 * if only the body fails. But the driver destroys the graph when the capture itself fails (observed with driver 580):
 * it is then an object with nothing in it, which can only be destroyed.
 */
CUSHIM_API CUresult cushim_stream_capture_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                                   const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                                   CUstreamCaptureMode mode, cushim_stream_body body, void *user);

/* ---- The open form ---- */

/* An open capture: what was begun, and by whom. Holds its stream and its graph. */
struct cushim_capture;

/*
 * Begins a capture. The caller owns *out_capture and ends it with cushim_capture_end(), in the same thread unless the
 * mode is RELAXED (of CU_STREAM_PER_THREAD always, as another thread means another stream by that). Errors as above,
 * those of beginning.
 */
CUSHIM_API CUresult cushim_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                         struct cushim_capture **out_capture);

/* Into a graph that is there, as cushim_stream_capture_to_graph(). */
CUSHIM_API CUresult cushim_capture_begin_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                                  const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                                  CUstreamCaptureMode mode, struct cushim_capture **out_capture);

/*
 * Ends it, sets *capture to NULL, and gives the graph, which the caller owns. out_graph NULL: the graph is destroyed;
 * of a capture into a graph that is there it must be NULL, since that graph is the caller's already.
 *   CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD  it is for the thread that began it to end. Nothing happened, and the
 *                                           capture goes on (the driver would have ended it)
 *   CUDA_ERROR_INVALID_VALUE                out_graph is not as said. Nothing happened
 *   CUDA_ERROR_STREAM_CAPTURE_INVALIDATED   something invalidated it, or its stream was destroyed
 *   CUDA_ERROR_STREAM_CAPTURE_UNJOINED      another stream was not joined
 *   CUDA_ERROR_ILLEGAL_STATE                it was ended by somebody else
 * Except with the first two, the capture is over, *capture is NULL, and the stream can be used again.
 */
CUSHIM_API CUresult cushim_capture_end(struct cushim_capture **capture, struct cushim_graph **out_graph);

/* ---- Asking and steering ---- */

/* Whether the stream is capturing, or was and something invalidated that (CU_STREAM_CAPTURE_STATUS_INVALIDATED).
 * Harmless. CUDA_ERROR_STREAM_CAPTURE_IMPLICIT: the legacy stream, while a blocking stream captures; harmless too. */
CUSHIM_API CUresult cushim_stream_capture_status(struct cushim_stream *stream, CUstreamCaptureStatus *out_status);

/* Which members of struct cushim_capture_info are valid. */
enum cushim_capture_valid {
    CUSHIM_CAPTURE_ID = 1,           /* from CUDA 10.1 */
    CUSHIM_CAPTURE_GRAPH = 2,        /* from CUDA 11.3 */
    CUSHIM_CAPTURE_DEPENDENCIES = 4, /* from CUDA 11.3: dependency_count, and the nodes if there was room for all */
    CUSHIM_CAPTURE_EDGES = 8         /* the edge data, if asked for; all zero on a driver that has none */
};

struct cushim_capture_info {
    CUstreamCaptureStatus status;
    unsigned valid;          /* enum cushim_capture_valid, or-ed; 0 unless status is ACTIVE */
    cuuint64_t id;           /* of this capture, unique in the process */
    CUgraph graph;           /* the driver's, which nobody owns before the capture ends: not to be destroyed */
    size_t dependency_count; /* on how many nodes the next one will depend */
    CUgraphNode *nodes;      /* where they are: the caller's array, or the copy's; NULL if not asked for, or no room */
    CUgraphEdgeData *edges;  /* the same */
};

/*
 * What there is to know about the capture that a stream is in; a status of NONE if it is in none. `nodes` and `edges`
 * (NULL: not wanted) have room for `capacity` each, and are filled only if all dependencies fit: else dependency_count
 * says how much room it takes, and CUSHIM_CAPTURE_DEPENDENCIES is not set. The same call on every driver from CUDA
 * 10.0: what it does not know is not in `valid`. Harmless. Nothing may be enqueued into the stream in the meantime.
 *   CUDA_ERROR_LOSSY_QUERY    nodes were asked for without edges, and there is edge data
 *   CUDA_ERROR_STREAM_CAPTURE_IMPLICIT  as with cushim_stream_capture_status()
 *   CUDA_ERROR_INVALID_VALUE  out_info is NULL, or there are edges without nodes
 */
CUSHIM_API CUresult cushim_stream_capture_info(struct cushim_stream *stream, CUgraphNode *nodes, CUgraphEdgeData *edges,
                                               size_t capacity, struct cushim_capture_info *out_info);

/* The same, with nodes and edges in one block that the caller ends with cushim_capture_info_destroy(). */
CUSHIM_API CUresult cushim_stream_capture_info_copy(struct cushim_stream *stream,
                                                    struct cushim_capture_info **out_info);

/* Frees a copy and sets *info to NULL; NULL, or a pointer to NULL, is nothing to do. */
CUSHIM_API void cushim_capture_info_destroy(struct cushim_capture_info **info);

/*
 * Changes on which nodes the next one will depend (CUDA 11.3): `operation` is CU_STREAM_ADD_CAPTURE_DEPENDENCIES, or
 * CU_STREAM_SET_CAPTURE_DEPENDENCIES, which with a count of 0 means none. `edges` (NULL: plain ones; others need CUDA
 * 12.3) has as many elements as `nodes`. Nodes that are taken off need not be joined any more.
 *   CUDA_ERROR_ILLEGAL_STATE  the stream is not capturing
 *   CUDA_ERROR_INVALID_VALUE  nodes is NULL with a count, there are edges without nodes, or the operation is none
 */
CUSHIM_API CUresult cushim_stream_update_dependencies(struct cushim_stream *stream, const CUgraphNode *nodes,
                                                      const CUgraphEdgeData *edges, size_t count,
                                                      CUstreamUpdateCaptureDependencies_flags operation);

/*
 * Sets this thread's capture mode to *mode and writes the previous mode there, so that a second call restores it. In
 * RELAXED mode, calls such as cuMemAlloc can be made while a stream captures. Needs CUDA 10.1.
 * (cuThreadExchangeStreamCaptureMode)
 *   CUDA_ERROR_INVALID_VALUE  mode is NULL, or *mode is not a capture mode
 */
CUSHIM_API CUresult cushim_capture_mode_exchange(CUstreamCaptureMode *mode);

#ifdef __cplusplus
}
#endif

#endif
