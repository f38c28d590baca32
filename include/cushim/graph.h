/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Graphs and executable graphs, as far as stream capture needs them.
 *
 * @code
 * CUresult launch_often(struct cushim_graph *graph, struct cushim_stream *stream, int count)
 * {
 *     struct cushim_graph_exec *exec = NULL;
 *     CUresult result = cushim_graph_instantiate(graph, cushim_stream_context(stream), 0, &exec);
 *     for (int i = 0; i < count && result == CUDA_SUCCESS; i++)
 *         result = cushim_graph_exec_launch(exec, stream);
 *     CUresult destroyed = cushim_graph_exec_destroy(&exec); // launches that are in progress finish
 *     return result != CUDA_SUCCESS ? result : destroyed;
 * }
 * @endcode
 *
 * Nodes are added and inspected with slots of the table, through cushim_graph_handle().
 *
 * The general rules stand in context.h, with two differences:
 * - Graphs need CUDA 10.0. Below that, cushim_graph_create() returns CUDA_ERROR_NOT_SUPPORTED, and no graph exists that
 *   the other functions could use.
 * - Graphs and executable graphs are not thread-safe, as in the driver: one thread at a time may use one.
 *
 * CUDA_ERROR_INVALID_HANDLE also means that the driver destroyed the graph because a capture into it failed, see
 * cushim_capture_begin_to_graph().
 */
#ifndef CUSHIM_GRAPH_H
#define CUSHIM_GRAPH_H

#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_graph;
struct cushim_graph_exec;

/** Creates an empty graph. The caller owns *out_graph. */
CUSHIM_API CUresult cushim_graph_create(struct cushim_graph **out_graph);

/**
 * Takes ownership of a graph of the driver: cushim destroys it together with *out_graph. On failure the caller still
 * owns it.
 */
CUSHIM_API CUresult cushim_graph_adopt(CUgraph handle, struct cushim_graph **out_graph);

/** Wraps a graph of the driver without taking ownership: cushim never destroys it, and its owner must keep it alive. */
CUSHIM_API CUresult cushim_graph_borrow(CUgraph handle, struct cushim_graph **out_graph);

/**
 * Ends the object without destroying the driver's graph, and sets *graph to NULL. If the object owned the driver's
 * graph, the caller owns it now.
 *
 * @param graph       The graph.
 * @param out_handle  Receives the driver's handle.
 * @retval CUDA_ERROR_ILLEGAL_STATE  A capture into the graph is open. Nothing changed.
 */
CUSHIM_API CUresult cushim_graph_release(struct cushim_graph **graph, CUgraph *out_handle);

/**
 * Destroys the graph. Executable graphs that were made from it remain valid. While a capture into the graph is open,
 * the driver's graph stays alive until that capture ends.
 *
 * @param graph  The address of the pointer to the graph. *graph is set to NULL.
 * @return The code of cuGraphDestroy.
 */
CUSHIM_API CUresult cushim_graph_destroy(struct cushim_graph **graph);

/**
 * Returns the driver's handle, for slots of the table; NULL for NULL, and for a graph that the driver destroyed. The
 * graph keeps the ownership.
 */
CUSHIM_API CUgraph cushim_graph_handle(const struct cushim_graph *graph);

/**
 * Makes an executable graph. The graph is not changed and may be destroyed before the executable graph.
 *
 * @note Making an executable graph invalidates captures as cushim_event_query() does.
 *
 * @param graph     The graph.
 * @param context   The context for which to make it; the executable graph holds a reference to it. NULL for the
 *                  caller's current context: the driver needs one (observed with driver 580).
 * @param flags     0, or CUDA_GRAPH_INSTANTIATE_FLAG_... (CUDA 11.4; CUDA_ERROR_NOT_SUPPORTED below that).
 * @param out_exec  Receives the executable graph, which the caller owns.
 */
CUSHIM_API CUresult cushim_graph_instantiate(struct cushim_graph *graph, struct cushim_context *context, unsigned flags,
                                             struct cushim_graph_exec **out_exec);

/**
 * Destroys the executable graph. Launches that are in progress finish. No capture is invalidated.
 *
 * @param exec  The address of the pointer to the executable graph. *exec is set to NULL.
 * @return The code of cuGraphExecDestroy or of the release of the context.
 */
CUSHIM_API CUresult cushim_graph_exec_destroy(struct cushim_graph_exec **exec);

/** Returns the driver's handle, for slots of the table; NULL for NULL. The executable graph keeps the ownership. */
CUSHIM_API CUgraphExec cushim_graph_exec_handle(const struct cushim_graph_exec *exec);

/**
 * Launches the graph into a stream, behind the work that is in the stream. The launches of one executable graph do not
 * overlap: a second launch waits for the first one.
 *
 * @param exec    The executable graph.
 * @param stream  The stream.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing. The capture is invalidated.
 */
CUSHIM_API CUresult cushim_graph_exec_launch(struct cushim_graph_exec *exec, struct cushim_stream *stream);

/**
 * Performs the preparations of the first launch in advance, in the order of the stream. Needs CUDA 11.1;
 * CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * @param exec    The executable graph.
 * @param stream  The stream.
 * @retval CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED  The stream is capturing. The capture is invalidated.
 */
CUSHIM_API CUresult cushim_graph_exec_upload(struct cushim_graph_exec *exec, struct cushim_stream *stream);

/**
 * Gives an executable graph the parameters of a graph that has the same topology. This is far cheaper than making a new
 * executable graph. Resources that only the earlier graph held are released: for example, the destroy functions of its
 * host functions are called. Needs CUDA 10.2; CUDA_ERROR_NOT_SUPPORTED below that.
 *
 * @param exec        The executable graph.
 * @param graph       The graph with the new parameters.
 * @param out_result  Receives the driver's reason. May be NULL. It is also written if the call returns
 *                    CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE.
 * @retval CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE  The topologies differ; *out_result describes how. The executable graph
 *                                               is unchanged.
 */
CUSHIM_API CUresult cushim_graph_exec_update(struct cushim_graph_exec *exec, struct cushim_graph *graph,
                                             CUgraphExecUpdateResult *out_result);

#ifdef __cplusplus
}
#endif

#endif
