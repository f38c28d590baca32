/* SPDX-License-Identifier: MIT */
/* Graphs and executables. */
#include "operations.h"

static int number_of(const struct graph_slot *slot)
{
    return (int)(slot - objects->graphs);
}

static struct graph_slot *free_graph(void)
{
    for (int i = 0; i < GRAPHS; i++)
        if (objects->graphs[i].graph == NULL)
            return &objects->graphs[i];
    return NULL;
}

void graph_keep(struct cushim_graph *made)
{
    struct graph_slot *slot = free_graph();
    if (slot != NULL)
        *slot = (struct graph_slot){made, true};
    else
        cushim_graph_destroy(&made);
}

void exec_keep(struct cushim_graph_exec *made)
{
    for (int i = 0; i < EXECS; i++) {
        if (objects->execs[i] == NULL) {
            objects->execs[i] = made;
            return;
        }
    }
    cushim_graph_exec_destroy(&made);
}

void op_graph_create(void)
{
    struct cushim_graph *made = NULL;
    CUresult result = noted(cushim_graph_create(&made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (made != NULL)
        graph_keep(made);
}

/* One of the driver's, taken over or borrowed. */
void op_graph_wrap(void)
{
    struct graph_slot *slot = free_graph();
    struct cushim_graph *made = NULL;
    CUgraph handle = NULL;
    bool adopts = one_in(2);
    if (slot == NULL || objects->driver_graph == NULL)
        return;
    if (adopts && driver()->GraphCreate_v1(&handle, 0) != CUDA_SUCCESS)
        return;
    note("graph %d, %s", number_of(slot), adopts ? "adopted" : "borrowed");
    CUresult result =
        noted(adopts ? cushim_graph_adopt(handle, &made) : cushim_graph_borrow(objects->driver_graph, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (result != CUDA_SUCCESS && adopts)
        driver()->GraphDestroy_v1(handle);
    *slot = (struct graph_slot){made, adopts};
}

void op_graph_clone(void)
{
    struct graph_slot *slot = pick_graph();
    struct cushim_graph *made = NULL;
    CUgraph handle = NULL;
    if (slot == NULL || cushim_graph_handle(slot->graph) == NULL)
        return;
    note("graph %d", number_of(slot));
    if (noted_outer(driver()->GraphClone_v1(&handle, cushim_graph_handle(slot->graph))) != CUDA_SUCCESS)
        return;
    if (cushim_graph_adopt(handle, &made) == CUDA_SUCCESS)
        graph_keep(made);
    else
        driver()->GraphDestroy_v1(handle);
}

void op_graph_release(void)
{
    struct graph_slot *slot = pick_graph();
    CUgraph handle = (CUgraph)(uintptr_t)77;
    if (slot == NULL)
        return;
    note("graph %d", number_of(slot));
    if (noted(cushim_graph_release(&slot->graph, &handle)) != CUDA_SUCCESS)
        check(slot->graph != NULL && handle == (CUgraph)(uintptr_t)77, "a refusal changed something");
    else if (slot->owned)
        driver()->GraphDestroy_v1(handle);
}

void op_graph_destroy(void)
{
    struct graph_slot *slot = pick_graph();
    if (slot == NULL)
        return;
    note("graph %d", number_of(slot));
    noted(cushim_graph_destroy(&slot->graph));
    check(slot->graph == NULL, "the variable is not NULL");
}

void op_graph_instantiate(void)
{
    struct graph_slot *slot = pick_graph();
    struct cushim_graph_exec *made = NULL;
    struct cushim_context *context = one_in(4) ? NULL : pick_base()->context;
    if (slot == NULL)
        return;
    note("graph %d, %s", number_of(slot), context != NULL ? "with a context" : "in the current one");
    CUresult result = noted(cushim_graph_instantiate(slot->graph, context, 0, &made));
    check((result == CUDA_SUCCESS) == (made != NULL), "a result was not written, or in spite of a failure");
    if (made != NULL)
        exec_keep(made);
}

void op_graph_update(void)
{
    struct graph_slot *slot = pick_graph();
    struct cushim_graph_exec **exec = pick_exec();
    CUgraphExecUpdateResult reason = CU_GRAPH_EXEC_UPDATE_ERROR;
    if (slot == NULL || exec == NULL)
        return;
    note("graph %d, executable %d", number_of(slot), (int)(exec - objects->execs));
    if (noted(cushim_graph_exec_update(*exec, slot->graph, &reason)) == CUDA_SUCCESS)
        check(reason == CU_GRAPH_EXEC_UPDATE_SUCCESS, "the result of an update is not success");
}

void op_exec_destroy(void)
{
    struct cushim_graph_exec **exec = pick_exec();
    if (exec == NULL)
        return;
    note("executable %d", (int)(exec - objects->execs));
    noted(cushim_graph_exec_destroy(exec));
    check(*exec == NULL, "the variable is not NULL");
}

/* Not in the streams of contexts that may go while the executable is there. */
static struct stream_slot *pick_lasting_stream(void)
{
    struct stream_slot *slot = pick_stream();
    if (slot == NULL || slot->shared)
        return slot;
    const struct driver_stream *of = driver_stream_of(slot);
    return of == NULL || !of->own_context ? slot : NULL;
}

void op_exec_launch(void)
{
    struct cushim_graph_exec **exec = pick_exec();
    struct stream_slot *slot = pick_lasting_stream();
    if (exec == NULL || slot == NULL)
        return;
    note("executable %d, stream %d", (int)(exec - objects->execs), (int)(slot - objects->streams));
    noted(cushim_graph_exec_launch(*exec, slot->stream));
}

void op_exec_upload(void)
{
    struct cushim_graph_exec **exec = pick_exec();
    struct stream_slot *slot = pick_lasting_stream();
    if (exec == NULL || slot == NULL)
        return;
    note("executable %d, stream %d", (int)(exec - objects->execs), (int)(slot - objects->streams));
    noted(cushim_graph_exec_upload(*exec, slot->stream));
}
