/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Captures: the work that is enqueued into a stream is recorded as a graph instead of being executed.
 *
 * @code
 * CUresult clear(struct cushim_stream *stream, void *memory) // a body
 * {
 *     return CUSHIM_CALL(MemsetD8Async_v1, *(CUdeviceptr *)memory, 0, 64, cushim_stream_handle(stream));
 * }
 *
 * CUresult record(struct cushim_stream *stream, CUdeviceptr memory, struct cushim_graph **out_graph)
 * {
 *     return cushim_stream_capture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, clear, &memory, out_graph);
 * }
 * @endcode
 *
 * The general rules stand in context.h. Captures need CUDA 10.0, and modes other than CU_STREAM_CAPTURE_MODE_RELAXED
 * need CUDA 10.1. A function that needs a newer version names it. Below these versions the code is
 * CUDA_ERROR_NOT_SUPPORTED.
 *
 * Some calls invalidate a capture: the capture accepts no more work but must still be ended, and ending it returns
 * CUDA_ERROR_STREAM_CAPTURE_INVALIDATED. tests/conformance/CAPTURE.md in cushim's sources lists which calls do this in
 * which mode, as observed on a GPU, and `cushim trace` names the call that did it in a program.
 *
 * **Threads.** If a call invalidates the capture of another thread at the moment when that thread ends the capture, the
 * driver can crash (observed with driver 580). Two kinds of calls invalidate captures of other threads:
 * - for a capture in CU_STREAM_CAPTURE_MODE_GLOBAL: queries, waits, instantiations, and the other calls that this mode
 *   forbids to every thread;
 * - for a capture of a blocking stream, in every mode: work in the legacy stream.
 *
 * A program that captures in one thread and makes such calls in another should capture non-blocking streams, in
 * CU_STREAM_CAPTURE_MODE_THREAD_LOCAL or CU_STREAM_CAPTURE_MODE_RELAXED.
 */
#ifndef CUSHIM_CAPTURE_H
#define CUSHIM_CAPTURE_H

#include "cushim/graph.h"
#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/** @name Scoped captures */
/** @{ */

/**
 * Begins a capture, calls body(stream, user), and ends the capture whether or not the body succeeded. The stream is
 * usable again afterwards. If a longjmp or an exception leaves the body, the capture stays open.
 *
 * @param stream     The stream.
 * @param mode       Which calls of other code invalidate the capture (CU_STREAM_CAPTURE_MODE_...).
 * @param body       The function that enqueues the work to capture.
 * @param user       Passed to the body.
 * @param out_graph  Receives the graph, which the caller owns.
 * @retval CUDA_ERROR_STREAM_CAPTURE_INVALIDATED  The body invalidated the capture.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNJOINED     The body forked to another stream and did not join it.
 * @retval CUDA_ERROR_ILLEGAL_STATE               The stream was already capturing; that capture goes on. Or the body
 *                                                ended the capture itself and returned CUDA_SUCCESS.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is the legacy stream, which cannot capture.
 * @retval CUDA_ERROR_INVALID_VALUE               body or out_graph is NULL, or mode is not a capture mode.
 * @return If the body returned an error, that error: the graph is destroyed, and if ending the capture failed too,
 *         cushim_error_last() describes that failure.
 */
CUSHIM_API CUresult cushim_stream_capture(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                          cushim_stream_body body, void *user, struct cushim_graph **out_graph);

/**
 * Captures as cushim_stream_capture() does and makes an executable graph. The executable graph is made for the context
 * of the stream or, if the stream was wrapped without a context, for the caller's current context.
 *
 * @param stream    The stream.
 * @param mode      As for cushim_stream_capture().
 * @param flags     As for cushim_graph_instantiate().
 * @param body      The function that enqueues the work to capture.
 * @param user      Passed to the body.
 * @param out_exec  Receives the executable graph, which the caller owns.
 * @return An error of cushim_stream_capture() or of cushim_graph_instantiate().
 */
CUSHIM_API CUresult cushim_stream_capture_executable(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                                     unsigned flags, cushim_stream_body body, void *user,
                                                     struct cushim_graph_exec **out_exec);

/**
 * Captures as cushim_stream_capture() does, into an existing graph. Needs CUDA 12.3; CUDA_ERROR_NOT_SUPPORTED below
 * that.
 *
 * The caller keeps the graph. If only the body fails, the graph contains what was captured until then. If the capture
 * itself fails, the driver destroys the graph (observed with driver 580): the object is then empty, and the only valid
 * call on it is cushim_graph_destroy().
 *
 * @param stream  The stream.
 * @param graph   The graph to add to.
 * @param nodes   The nodes of the graph on which the first captured node depends. NULL if count is 0.
 * @param edges   The data of the edges from these nodes, one for each node; NULL for plain edges.
 * @param count   The number of nodes.
 * @param mode    As for cushim_stream_capture().
 * @param body    The function that enqueues the work to capture.
 * @param user    Passed to the body.
 * @retval CUDA_ERROR_INVALID_HANDLE  stream or graph is NULL, or the driver destroyed the graph.
 * @retval CUDA_ERROR_INVALID_VALUE   body is NULL, nodes is NULL although count is not 0 or edges is not NULL, or mode
 *                                    is not a capture mode.
 * @return Another error of cushim_stream_capture().
 */
CUSHIM_API CUresult cushim_stream_capture_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                                   const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                                   CUstreamCaptureMode mode, cushim_stream_body body, void *user);

/** @} */

/** @name Open captures */
/** @{ */

/** An open capture. It holds a reference to its stream and to its graph, and knows the thread that began it. */
struct cushim_capture;

/**
 * Begins a capture. The caller ends it with cushim_capture_end(). Unless the mode is CU_STREAM_CAPTURE_MODE_RELAXED,
 * the same thread must do so.
 *
 * A capture of CU_STREAM_PER_THREAD must always be ended by the same thread, before that thread ends, because in
 * another thread the handle means another stream. Driver 580 crashes if a thread ends while such a capture is open and
 * invalidated. The capture belongs to the context that is current at the beginning, which must outlive it. At the end,
 * another context or none may be current.
 *
 * @param stream       The stream.
 * @param mode         As for cushim_stream_capture().
 * @param out_capture  Receives the capture, which the caller owns.
 * @retval CUDA_ERROR_ILLEGAL_STATE               The stream is already capturing; that capture goes on.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is the legacy stream, which cannot capture.
 * @retval CUDA_ERROR_INVALID_VALUE               out_capture is NULL, or mode is not a capture mode.
 */
CUSHIM_API CUresult cushim_capture_begin(struct cushim_stream *stream, CUstreamCaptureMode mode,
                                         struct cushim_capture **out_capture);

/**
 * Begins a capture into an existing graph. Needs CUDA 12.3; CUDA_ERROR_NOT_SUPPORTED below that. The rules of
 * cushim_capture_begin() apply to the capture, and the rules of cushim_stream_capture_to_graph() to the graph and to
 * `nodes`, `edges` and `count`.
 *
 * @retval CUDA_ERROR_ILLEGAL_STATE  Also: another capture into the graph is open. (Driver 580 crashes in that case if
 *                                   `nodes` are given.)
 */
CUSHIM_API CUresult cushim_capture_begin_to_graph(struct cushim_stream *stream, struct cushim_graph *graph,
                                                  const CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count,
                                                  CUstreamCaptureMode mode, struct cushim_capture **out_capture);

/**
 * Ends a capture. After every code except CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD and CUDA_ERROR_INVALID_VALUE the
 * capture is over, *capture is NULL, and the stream can be used again.
 *
 * @param capture    The address of the pointer to the capture.
 * @param out_graph  Receives the graph, which the caller owns. If it is NULL, the graph is destroyed. For a capture
 *                   into an existing graph it must be NULL, since the caller already has that graph.
 * @retval CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD  Only the thread that began the capture may end it. Nothing happened,
 *                                                 and the capture goes on (the driver would have ended it).
 * @retval CUDA_ERROR_INVALID_VALUE                out_graph is not NULL for a capture into an existing graph. Nothing
 *                                                 happened.
 * @retval CUDA_ERROR_STREAM_CAPTURE_INVALIDATED   The capture was invalidated, or its stream was destroyed.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNJOINED      Another stream was not joined.
 * @retval CUDA_ERROR_ILLEGAL_STATE                The capture had already been ended by other means than this function.
 */
CUSHIM_API CUresult cushim_capture_end(struct cushim_capture **capture, struct cushim_graph **out_graph);

/** @} */

/** @name Querying and changing a capture */
/** @{ */

/**
 * Returns whether the stream is capturing. Does not invalidate a capture.
 *
 * @param stream      The stream.
 * @param out_status  Receives the status. CU_STREAM_CAPTURE_STATUS_INVALIDATED: the stream is in a capture that was
 *                    invalidated.
 * @retval CUDA_ERROR_STREAM_CAPTURE_IMPLICIT  The stream is the legacy stream, and a blocking stream is capturing. That
 *                                             capture is not invalidated.
 */
CUSHIM_API CUresult cushim_stream_get_capture_status(struct cushim_stream *stream, CUstreamCaptureStatus *out_status);

/** Bits of struct cushim_capture_info: which of its members are valid. */
enum cushim_capture_valid {
    CUSHIM_CAPTURE_ID = 1,           /**< id. From CUDA 10.1. */
    CUSHIM_CAPTURE_GRAPH = 2,        /**< graph. From CUDA 11.3. */
    CUSHIM_CAPTURE_DEPENDENCIES = 4, /**< dependency_count, and nodes if the array had room for all. From CUDA 11.3. */
    CUSHIM_CAPTURE_EDGES = 8         /**< edges, if requested; all zero on a driver without edge data. */
};

/** The state of a capture. */
struct cushim_capture_info {
    CUstreamCaptureStatus status; /**< Whether the stream is capturing. */
    unsigned valid;               /**< Bits of enum cushim_capture_valid; 0 unless the status is ACTIVE. */
    cuuint64_t id;                /**< The id of this capture, unique in the process. */
    CUgraph graph;                /**< The driver's graph. It has no owner until the capture ends: do not destroy it. */
    size_t dependency_count;      /**< The number of nodes on which the next node will depend. */
    CUgraphNode *nodes;           /**< These nodes, in the caller's array or in the block of
                                   * cushim_capture_info_create(). NULL if the array was too small or NULL. */
    CUgraphEdgeData *edges;       /**< The data of the edges from these nodes, under the same conditions. */
    void *reserved[4];            /**< Zero. */
};

/**
 * Returns the state of the capture that a stream is in. If the stream is not capturing, the status is
 * CU_STREAM_CAPTURE_STATUS_NONE. The call works on every driver from CUDA 10.0; `valid` marks what the driver reports.
 * Does not invalidate a capture. No other thread may enqueue work into the stream during the call.
 *
 * The arrays are filled only if all dependencies fit. Otherwise dependency_count is the capacity that they need, and
 * CUSHIM_CAPTURE_DEPENDENCIES is not set.
 *
 * @param stream    The stream.
 * @param nodes     An array for the nodes. May be NULL.
 * @param edges     An array for the data of the edges. May be NULL, and must be NULL if nodes is.
 * @param capacity  The number of elements of each array.
 * @param out_info  Receives the state.
 * @retval CUDA_ERROR_LOSSY_QUERY              nodes is not NULL, edges is NULL, and an edge has data.
 * @retval CUDA_ERROR_STREAM_CAPTURE_IMPLICIT  As for cushim_stream_get_capture_status().
 * @retval CUDA_ERROR_INVALID_VALUE            out_info is NULL, or edges is not NULL and nodes is NULL.
 */
CUSHIM_API CUresult cushim_stream_get_capture_info(struct cushim_stream *stream, CUgraphNode *nodes,
                                                   CUgraphEdgeData *edges, size_t capacity,
                                                   struct cushim_capture_info *out_info);

/**
 * Returns the state of a capture like cushim_stream_get_capture_info(), with all nodes and edges, in one block of
 * memory.
 *
 * @param stream    The stream.
 * @param out_info  Receives the block, which the caller frees with cushim_capture_info_destroy().
 * @retval CUDA_ERROR_STREAM_CAPTURE_IMPLICIT  As for cushim_stream_get_capture_status().
 */
CUSHIM_API CUresult cushim_capture_info_create(struct cushim_stream *stream, struct cushim_capture_info **out_info);

/** Frees the block of cushim_capture_info_create() and sets *info to NULL. */
CUSHIM_API void cushim_capture_info_destroy(struct cushim_capture_info **info);

/**
 * Changes the nodes on which the next node will depend. Needs CUDA 11.3; CUDA_ERROR_NOT_SUPPORTED below that. Nodes
 * that are removed from the dependencies need not be joined any more.
 *
 * @param stream     The stream.
 * @param nodes      The nodes. NULL if count is 0.
 * @param edges      The data of the edges from these nodes, one for each node; NULL for plain edges. Other edges need
 *                   CUDA 12.3; CUDA_ERROR_NOT_SUPPORTED below that.
 * @param count      The number of nodes.
 * @param operation  CU_STREAM_ADD_CAPTURE_DEPENDENCIES, or CU_STREAM_SET_CAPTURE_DEPENDENCIES. Setting 0 nodes removes
 *                   all dependencies.
 * @retval CUDA_ERROR_ILLEGAL_STATE  The stream is not capturing.
 * @retval CUDA_ERROR_INVALID_VALUE  nodes is NULL although count is not 0 or edges is not NULL, or the operation is
 *                                   neither of the two.
 */
CUSHIM_API CUresult cushim_stream_update_capture_dependencies(struct cushim_stream *stream, const CUgraphNode *nodes,
                                                              const CUgraphEdgeData *edges, size_t count,
                                                              CUstreamUpdateCaptureDependencies_flags operation);

/**
 * Exchanges the capture mode of the calling thread (cuThreadExchangeStreamCaptureMode). A second call with the same
 * variable restores the previous mode. In CU_STREAM_CAPTURE_MODE_RELAXED, calls such as cuMemAlloc can be made while a
 * stream is capturing. Needs CUDA 10.1; CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * @param mode  The mode to set. Receives the previous mode.
 * @retval CUDA_ERROR_INVALID_VALUE  mode is NULL, or *mode is not a capture mode.
 */
CUSHIM_API CUresult cushim_capture_mode_exchange(CUstreamCaptureMode *mode);

/** @} */

#ifdef __cplusplus
}
#endif

#endif
