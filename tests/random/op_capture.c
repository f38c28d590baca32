/* SPDX-License-Identifier: MIT */
/* Captures: the open and the scoped forms, questions and steering. */
#include "operations.h"

static struct capture_slot *free_capture(void)
{
    for (int i = 0; i < CAPTURES; i++)
        if (objects->captures[i].capture == NULL)
            return &objects->captures[i];
    return NULL;
}

static void keep(struct capture_slot *place, struct stream_slot *slot, struct cushim_capture *made, bool into)
{
    struct driver_stream *of = driver_stream_of(slot);
    *place = (struct capture_slot){made, slot->serial, slot->of, of != NULL ? of->serial : 0, into};
    if (of != NULL)
        of->capturing = true;
}

/* Nodes that the graph has, for what is captured to depend on. */
static size_t pick_nodes(struct cushim_graph *graph, CUgraphNode *nodes, size_t capacity)
{
    size_t count = capacity;
    if (one_in(2) || driver()->GraphGetNodes_v1(cushim_graph_handle(graph), nodes, &count) != CUDA_SUCCESS)
        return 0;
    return count < capacity ? count : capacity;
}

/* A graph that is not the caller's to lose is not captured into: the driver destroys it if the capture fails. */
static struct graph_slot *pick_graph_to_fill(void)
{
    struct graph_slot *graph = pick_graph();
    return graph != NULL && graph->owned ? graph : NULL;
}

/*
 * If one driver stream has two wrappers, ending with one of them a capture that was begun with the other one also
 * destroys the graph that is captured into, and the library cannot know. So the program never does this.
 */
static bool may_capture(const struct stream_slot *slot)
{
    const struct driver_stream *of = driver_stream_of(slot);
    if (of == NULL)
        return true;
    for (int i = 0; i < CAPTURES; i++)
        if (objects->captures[i].capture != NULL && objects->captures[i].of == slot->of
            && objects->captures[i].of_serial == of->serial && objects->captures[i].serial != slot->serial)
            return false;
    return of->bodies == slot->bodies;
}

/* Unsafe calls of every thread invalidate captures in the global mode. */
static CUstreamCaptureMode choose_mode(void)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)choose(3);
    return mode == CU_STREAM_CAPTURE_MODE_GLOBAL && !may_invalidate_others() ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                                                                             : mode;
}

static void begin(bool into)
{
    struct capture_slot *place = free_capture();
    struct stream_slot *slot = pick_own_stream();
    struct graph_slot *graph = into ? pick_graph_to_fill() : NULL;
    CUstreamCaptureMode mode = choose_mode();
    struct cushim_capture *made = NULL;
    CUgraphNode nodes[4];
    CUresult result;
    if (place == NULL || slot == NULL || (into && graph == NULL) || !may_capture(slot))
        return;
    note("capture %d, stream %d of driver stream %d, mode %d, graph %d", (int)(place - objects->captures),
         (int)(slot - objects->streams), slot->of, (int)mode, into ? (int)(graph - objects->graphs) : -1);
    if (into) {
        size_t count = cushim_graph_handle(graph->graph) != NULL ? pick_nodes(graph->graph, nodes, 4) : 0;
        result = noted(cushim_capture_begin_to_graph(slot->stream, graph->graph, count != 0 ? nodes : NULL, NULL, count,
                                                     mode, &made));
    } else {
        result = noted(cushim_capture_begin(slot->stream, mode, &made));
    }
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (made != NULL)
        keep(place, slot, made, into);
}

void op_capture_begin(void)
{
    begin(false);
}

void op_capture_begin_to_graph(void)
{
    begin(true);
}

void graph_keep(struct cushim_graph *made);
void exec_keep(struct cushim_graph_exec *made);

void op_capture_end(void)
{
    struct capture_slot *slot = pick_capture();
    struct cushim_graph *made = NULL;
    if (slot == NULL)
        return;
    bool wants = !slot->into && !one_in(4);
    note("capture %d of driver stream %d", (int)(slot - objects->captures), slot->of);
    if (slot->of >= 0 && objects->drivers[slot->of].serial == slot->of_serial)
        objects->drivers[slot->of].capturing = false;
    CUresult result = noted(cushim_capture_end(&slot->capture, wants ? &made : NULL));
    check((wants && result == CUDA_SUCCESS) == (made != NULL), "a graph was not written, or in spite of a failure");
    check(slot->capture == NULL, "the variable is not NULL");
    if (made != NULL)
        graph_keep(made);
}

static void check_body(const struct body *body, CUresult result)
{
    if (body->ran && body->result != CUDA_SUCCESS && !faults)
        check(result == body->result, "the error of the body was not returned");
}

enum form { TO_NEW_GRAPH, TO_EXECUTABLE, TO_GRAPH };

static void capture_with_body(enum form form)
{
    struct stream_slot *slot = pick_own_stream();
    struct graph_slot *graph = form == TO_GRAPH ? pick_graph_to_fill() : NULL;
    struct expectation *expectation = expectation_new(DO_NOTHING, 0);
    CUstreamCaptureMode mode = choose_mode();
    struct cushim_graph *made = NULL;
    struct cushim_graph_exec *exec = NULL;
    struct body body;
    CUresult result;
    if (slot == NULL || expectation == NULL || (form == TO_GRAPH && graph == NULL) || !may_capture(slot))
        return;
    body_open(&body, slot, expectation, false);
    note("stream %d of driver stream %d, mode %d, graph %d%s", (int)(slot - objects->streams), slot->of, (int)mode,
         graph != NULL ? (int)(graph - objects->graphs) : -1, body.result != CUDA_SUCCESS ? ", fails" : "");
    if (form == TO_NEW_GRAPH)
        result = cushim_stream_capture(slot->stream, mode, body_of_work, expectation, &made);
    else if (form == TO_EXECUTABLE)
        result = cushim_stream_capture_executable(slot->stream, mode, 0, body_of_work, expectation, &exec);
    else
        result =
            cushim_stream_capture_to_graph(slot->stream, graph->graph, NULL, NULL, 0, mode, body_of_work, expectation);
    noted_outer(result);
    body_close(&body);
    check_body(&body, result);
    check(result != CUDA_SUCCESS || form == TO_GRAPH || made != NULL || exec != NULL, "no result was written");
    check(result == CUDA_SUCCESS || (made == NULL && exec == NULL), "a result was written in spite of a failure");
    if (made != NULL)
        graph_keep(made);
    if (exec != NULL)
        exec_keep(exec);
}

void op_capture_scoped(void)
{
    capture_with_body(TO_NEW_GRAPH);
}

void op_capture_executable(void)
{
    capture_with_body(TO_EXECUTABLE);
}

void op_capture_to_graph(void)
{
    capture_with_body(TO_GRAPH);
}

void op_capture_query_all(void)
{
    struct stream_slot *slot = pick_stream();
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)77;
    struct cushim_capture_info info = {.valid = 77};
    struct cushim_capture_info *copy = NULL;
    CUgraphNode nodes[8];
    if (slot == NULL)
        return;
    note("stream %d", (int)(slot - objects->streams));
    CUresult result = noted(cushim_stream_get_capture_status(slot->stream, &status));
    check((result == CUDA_SUCCESS) == ((int)status != 77), "a status was not written, or in spite of a failure");
    result = noted(cushim_stream_get_capture_info(slot->stream, one_in(2) ? nodes : NULL, NULL, choose(9), &info));
    check((result == CUDA_SUCCESS) == (info.valid != 77), "info was not written, or in spite of a failure");
    if (result == CUDA_SUCCESS && !faults && settings.threads == 1)
        check(info.status == status, "two questions had two answers");
    result = noted(cushim_capture_info_create(slot->stream, &copy));
    check((result == CUDA_SUCCESS) == (copy != NULL), "a copy was not written, or in spite of a failure");
    cushim_capture_info_destroy(&copy);
}

/* Takes some of the dependencies, or none. */
void op_capture_dependencies(void)
{
    struct stream_slot *slot = pick_own_stream();
    struct cushim_capture_info *info = NULL;
    if (slot == NULL || cushim_capture_info_create(slot->stream, &info) != CUDA_SUCCESS)
        return;
    if (info->status == CU_STREAM_CAPTURE_STATUS_ACTIVE && (info->valid & CUSHIM_CAPTURE_DEPENDENCIES) != 0) {
        size_t count = choose((unsigned)info->dependency_count + 1);
        note("stream %d, %zu of %zu", (int)(slot - objects->streams), count, info->dependency_count);
        noted(cushim_stream_update_capture_dependencies(slot->stream, info->nodes, NULL, count,
                                                        CU_STREAM_SET_CAPTURE_DEPENDENCIES));
    }
    cushim_capture_info_destroy(&info);
}

void op_capture_mode(void)
{
    CUstreamCaptureMode mode = (CUstreamCaptureMode)choose(3);
    CUstreamCaptureMode previous = mode;
    note("%d", (int)mode);
    if (noted(cushim_capture_mode_exchange(&previous)) != CUDA_SUCCESS)
        check(previous == mode, "a mode was written in spite of a failure");
    else if (one_in(2))
        noted(cushim_capture_mode_exchange(&previous));
}
