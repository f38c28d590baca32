/* SPDX-License-Identifier: MIT */
/*
 * graph.h - graphs and what is launched of them.
 *
 * As much as stream capture needs; nodes are added and looked at with the table's slots, by cushim_graph_handle(). The
 * general rules stand in context.h. Graphs need CUDA 10.0; below it all but destroying nothing is
 * CUDA_ERROR_NOT_SUPPORTED. Graphs and executables are not thread-safe (the driver's rule): one thread at a time.
 *
 * The common codes stand in context.h; CUDA_ERROR_INVALID_HANDLE is also said of a graph that the driver destroyed,
 * because a capture into it failed (see cushim_capture_begin_to_graph).
 */
#ifndef CUSHIM_GRAPH_H
#define CUSHIM_GRAPH_H

#include "cushim/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

struct cushim_graph;
struct cushim_graph_exec;

/* An empty graph. The caller owns *out_graph. */
CUSHIM_API CUresult cushim_graph_create(struct cushim_graph **out_graph);

/* Takes over a graph of the driver's: from now on it is *out_graph's to destroy. On failure it stays the caller's. */
CUSHIM_API CUresult cushim_graph_adopt(CUgraph handle, struct cushim_graph **out_graph);

/* A graph that is somebody else's, who keeps it alive; never destroyed by this. */
CUSHIM_API CUresult cushim_graph_borrow(CUgraph handle, struct cushim_graph **out_graph);

/* Gives the driver's handle to the caller, who owns it if the graph did, and ends the object: *graph becomes NULL.
 * CUDA_ERROR_ILLEGAL_STATE while a capture into it is open. */
CUSHIM_API CUresult cushim_graph_release(struct cushim_graph **graph, CUgraph *out_handle);

/*
 * Destroys the graph and sets *graph to NULL; NULL, or a pointer to NULL, is nothing to do. Executables made of it live
 * on. While a capture into it is open, it ends with that capture. The object is gone whatever the driver's code.
 */
CUSHIM_API CUresult cushim_graph_destroy(struct cushim_graph **graph);

/* The driver's handle, for slots of the table; NULL for NULL, and for a graph that the driver destroyed. */
CUSHIM_API CUgraph cushim_graph_handle(const struct cushim_graph *graph);

/*
 * Makes an executable graph for a context, which is made current for the call; NULL: for the caller's current one (the
 * driver needs one: observed with driver 580). `flags`: 0, or CUDA_GRAPH_INSTANTIATE_FLAG_... (CUDA 11.4;
 * CUDA_ERROR_NOT_SUPPORTED below that). The caller owns *out_exec; the graph stays as it is and may be destroyed before
 * it. The executable holds the context. Making an executable invalidates captures as cushim_event_query() does.
 */
CUSHIM_API CUresult cushim_graph_instantiate(struct cushim_graph *graph, struct cushim_context *context,
                                             unsigned long long flags, struct cushim_graph_exec **out_exec);

/* Destroys the executable and sets *exec to NULL; NULL, or a pointer to NULL, is nothing to do. Launches that are under
 * way finish. No capture is invalidated. The object is gone whatever the driver's code. */
CUSHIM_API CUresult cushim_graph_exec_destroy(struct cushim_graph_exec **exec);

/* The driver's handle, for slots of the table; NULL for NULL. */
CUSHIM_API CUgraphExec cushim_graph_exec_handle(const struct cushim_graph_exec *exec);

/* Launches the graph into a stream, behind the work that is there. One executable runs once at a time: a second launch
 * waits for the first. Not into a capture: CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, and that is invalidated. */
CUSHIM_API CUresult cushim_graph_exec_launch(struct cushim_graph_exec *exec, struct cushim_stream *stream);

/* Does the first launch's preparations ahead of it, in the stream's order. CUDA 11.1. Captures as for a launch. */
CUSHIM_API CUresult cushim_graph_exec_upload(struct cushim_graph_exec *exec, struct cushim_stream *stream);

/*
 * Gives the executable the parameters of `graph`, which must be of the same shape (CUDA 10.2; CUDA_ERROR_NOT_SUPPORTED
 * below). Far cheaper than instantiating again. What only the graph before held (release functions of its
 * host functions) is let go of.
 *   CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE  the shapes differ; *out_result, if not NULL, says how (it is written in this
 *                                         case too); the executable is as before
 */
CUSHIM_API CUresult cushim_graph_exec_update(struct cushim_graph_exec *exec, struct cushim_graph *graph,
                                             CUgraphExecUpdateResult *out_result);

#ifdef __cplusplus
}
#endif

#endif
