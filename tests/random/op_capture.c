/* SPDX-License-Identifier: MIT */
/* Captures, with work that forks to a second stream, and launches of what was captured. */
#include <stdlib.h>

#include "random.h"

/* The driver's stream must have no other object: ending the capture of one can end that of another. */
static struct stream *pick_to_capture(void)
{
    struct stream *found = pick_own();
    return found == NULL || found->of != NULL || found->wrappers != 0 || found->context == OWN ? NULL : found;
}

/* Unsafe calls of every thread invalidate captures in the global mode, and a driver can crash then. */
static CUstreamCaptureMode choose_mode(void)
{
    return settings.threads == 1 && one_in(3) ? CU_STREAM_CAPTURE_MODE_GLOBAL
           : one_in(2)                        ? CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
                                              : CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* The nodes on which the next one in the stream, and in the one that joined its capture, depends. */
struct branches {
    struct stream *stream, *fork;
    struct recipe *recipe;
    unsigned after, fork_after;
};

static struct marker *node_new(struct recipe *recipe, unsigned needs)
{
    struct marker *node = recipe->count < NODES ? marker_new(&me->lines, NODE, operation) : NULL;
    if (node == NULL)
        return NULL;
    node->recipe = recipe;
    node->needs = needs;
    return node;
}

static void node_given(struct marker *node, CUresult result, unsigned *after)
{
    marker_given(node, result);
    if (result != CUDA_SUCCESS)
        return;
    if (after != NULL)
        *after = 1u << node->recipe->count;
    node->recipe->nodes[node->recipe->count++] = node;
}

static void add_node(struct stream *stream, struct recipe *recipe, unsigned *after)
{
    struct marker *node = node_new(recipe, *after);
    if (node == NULL)
        return;
    void (*release)(void *) = cushim_driver_version() >= 11030 ? marker_choose_release(node) : NULL;
    note("capture node %u in line %u, after %#x", recipe->count, stream->line, *after);
    node_given(node, noted(cushim_stream_launch_host(stream->stream, marker_host_function, node, release)), after);
}

/* Its callback is called at each launch, also after it was detached. */
static void add_completion(struct branches *branches)
{
    struct cushim_completion *completion = NULL;
    struct marker *node = node_new(branches->recipe, branches->after);
    if (node == NULL)
        return;
    note("capture a completion in line %u, after %#x", branches->stream->line, branches->after);
    if (noted(cushim_completion_create_captured(branches->stream->stream, &completion)) != CUDA_SUCCESS)
        return;
    void (*release)(void *) = marker_choose_release(node);
    node_given(node, cushim_completion_set_inline_callback(completion, marker_fired, node, release), NULL);
    cushim_completion_detach(&completion);
}

static void fork_off(struct branches *branches)
{
    struct stream *fork = pick_to_capture();
    if (branches->fork != NULL || fork == NULL)
        return;
    note("line %u joins the capture", fork->line);
    if (noted(cushim_stream_wait_for(fork->stream, branches->stream->stream)) == CUDA_SUCCESS) {
        fork->busy = true;
        branches->fork = fork;
        branches->fork_after = branches->after;
    }
}

static CUresult capture_body(struct cushim_stream *stream, void *user)
{
    struct branches *branches = user;
    for (unsigned i = 1 + choose(NODES); i != 0; i--) {
        if (one_in(2))
            fork_off(branches);
        if (branches->fork != NULL && one_in(2))
            add_node(branches->fork, branches->recipe, &branches->fork_after);
        else if (one_in(4))
            add_completion(branches);
        else
            add_node(branches->stream, branches->recipe, &branches->after);
    }
    if (branches->fork != NULL) {
        note("line %u ends the part in line %u", branches->stream->line, branches->fork->line);
        noted(cushim_stream_wait_for(stream, branches->fork->stream));
        branches->after |= branches->fork_after;
        add_node(branches->stream, branches->recipe, &branches->after);
    }
    return CUDA_SUCCESS;
}

static CUresult capture_and_instantiate(struct branches *branches)
{
    struct cushim_graph *graph = NULL;
    CUresult result =
        noted(cushim_stream_capture(branches->stream->stream, choose_mode(), capture_body, branches, &graph));
    check((result == CUDA_SUCCESS) == (graph != NULL), "a graph was not written, or in spite of a failure");
    note("instantiate");
    if (graph != NULL)
        result = noted(cushim_graph_instantiate(graph, bases[branches->stream->context], 0, &branches->recipe->exec));
    cushim_graph_destroy(&graph);
    return result;
}

void op_capture(void)
{
    struct recipe **place = FIND(me->execs, false);
    struct branches branches = {.stream = pick_to_capture()};
    if (place == NULL || branches.stream == NULL)
        return;
    struct recipe *recipe = branches.recipe = calloc(1, sizeof *recipe);
    if (recipe == NULL)
        return;
    recipe->next = me->recipes;
    me->recipes = recipe;
    recipe->context = branches.stream->context;
    branches.stream->busy = true;
    note("capture line %u", branches.stream->line);
    CUresult result = one_in(2) ? capture_and_instantiate(&branches)
                                : noted(cushim_stream_capture_executable(branches.stream->stream, choose_mode(), 0,
                                                                         capture_body, &branches, &recipe->exec));
    check((result == CUDA_SUCCESS) == (recipe->exec != NULL), "a result was not written, or in spite of a failure");
    check(result == CUDA_SUCCESS || may_fail() || cushim_driver_version() < 10010, "nothing was captured");
    branches.stream->busy = false;
    if (branches.fork != NULL)
        branches.fork->busy = false;
    if (recipe->exec != NULL)
        *place = recipe;
}

/* Nothing that is safe ends the capture; a query and a wait do, depending on its mode. */
void op_capture_open(void)
{
    bool spoils = one_in(3);
    struct stream *stream = pick_to_capture();
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    if (stream == NULL)
        return;
    note("begin a capture of line %u", stream->line);
    if (noted(cushim_capture_begin(stream->stream, choose_mode(), &capture)) != CUDA_SUCCESS)
        return;
    stream->busy = me->capturing = true;
    for (unsigned i = 1 + choose(4); i != 0; i--) {
        op_any(true);
        if (spoils && one_in(2))
            op_wait_for_work();
        else if (spoils && one_in(2))
            (void)cushim_stream_query(stream->stream);
    }
    stream->busy = me->capturing = false;
    note("end the capture of line %u", stream->line);
    CUresult result = cushim_stream_get_capture_status(stream->stream, &status);
    check((result == CUDA_SUCCESS && status == CU_STREAM_CAPTURE_STATUS_ACTIVE) || spoils || may_fail(),
          "an operation invalidated the capture");
    result = noted(cushim_capture_end(&capture, &graph));
    check((result == CUDA_SUCCESS) == (graph != NULL) && capture == NULL, "a capture has not ended");
    check(result == CUDA_SUCCESS || spoils || may_fail(), "a capture failed");
    cushim_graph_destroy(&graph);
}

void op_launch(void)
{
    struct recipe **place = FIND(me->execs, true);
    struct stream *stream = pick();
    if (place == NULL || stream == NULL || stream->context != (*place)->context || (*place)->launches == LAUNCHES)
        return;
    struct recipe *recipe = *place;
    recipe->before[recipe->launches] = *clock_of(stream);
    note("launch %u in line %u", recipe->launches + 1, stream->line);
    if (noted(cushim_graph_exec_launch(recipe->exec, stream->stream)) == CUDA_SUCCESS) {
        recipe->launches++;
        work_add(stream, recipe);
    }
}

/* A launch that is still running goes on. */
void op_exec_destroy(void)
{
    struct recipe **place = FIND(me->execs, true);
    if (place == NULL)
        return;
    note("destroy an executable");
    noted(cushim_graph_exec_destroy(&(*place)->exec));
    check((*place)->exec == NULL, "the variable is not NULL");
    *place = NULL;
}
