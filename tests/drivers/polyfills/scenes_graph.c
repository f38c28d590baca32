/* SPDX-License-Identifier: MIT */
/* Scenes: graphs, and the data on their edges. */
#include "scene.h"

#include <stdio.h>
#include <string.h>

enum { ROOM = 6 };

static CUgraph graph;
static CUgraphNode nodes[4];

static void fill(CUgraphNode *from, CUgraphNode *to, CUgraphEdgeData *edges)
{
    for (int i = 0; i < ROOM; i++) {
        from[i] = UNTOUCHED_POINTER;
        to[i] = UNTOUCHED_POINTER;
    }
    memset(edges, UNTOUCHED, ROOM * sizeof *edges);
}

static char edge_letter(const CUgraphEdgeData *edge)
{
    CUgraphEdgeData sample;
    memset(&sample, 0, sizeof sample);
    if (memcmp(edge, &sample, sizeof sample) == 0)
        return '-';
    memset(&sample, UNTOUCHED, sizeof sample);
    return memcmp(edge, &sample, sizeof sample) == 0 ? '?' : '!'; /* ? untouched, ! data */
}

static void print_answer(enum cushim_slot slot, const char *step, CUresult result, CUgraphNode *from, CUgraphNode *to,
                         const CUgraphEdgeData *edges, size_t count)
{
    char text[256];
    size_t length = 0;
    text[0] = '\0';
    for (int i = 0; i < ROOM; i++)
        length += (size_t)snprintf(text + length, sizeof text - length, " %s>%s%c", scene_name_of(from[i]),
                                   scene_name_of(to[i]), edge_letter(&edges[i]));
    scene_step(slot, step, result, "count %zu:%s", count, text);
}

/* The arrays that a query is given. */
enum { FROM = 1, TO = 2, DATA = 4 };

static void get_edges(const char *step, int given, size_t room)
{
    CUgraphNode from[ROOM];
    CUgraphNode to[ROOM];
    CUgraphEdgeData edges[ROOM];
    fill(from, to, edges);
    CUresult result = TABLE->GraphGetEdges_v2(graph, (given & FROM) != 0 ? from : NULL, (given & TO) != 0 ? to : NULL,
                                              (given & DATA) != 0 ? edges : NULL, &room);
    print_answer(CUSHIM_SLOT_GraphGetEdges_v2, step, result, from, to, edges, room);
}

static void get_neighbours(const char *step, CUgraphNode node, int given, size_t room)
{
    char name[96];
    CUgraphNode before[ROOM];
    CUgraphNode after[ROOM];
    CUgraphEdgeData edges[ROOM];
    size_t count = room;
    fill(before, after, edges);
    CUresult result = TABLE->GraphNodeGetDependencies_v2(node, (given & FROM) != 0 ? before : NULL,
                                                         (given & DATA) != 0 ? edges : NULL, &count);
    snprintf(name, sizeof name, "dependencies/%s", step);
    print_answer(CUSHIM_SLOT_GraphNodeGetDependencies_v2, name, result, before, after, edges, count);

    count = room;
    fill(before, after, edges);
    result = TABLE->GraphNodeGetDependentNodes_v2(node, (given & FROM) != 0 ? after : NULL,
                                                  (given & DATA) != 0 ? edges : NULL, &count);
    snprintf(name, sizeof name, "dependents/%s", step);
    print_answer(CUSHIM_SLOT_GraphNodeGetDependentNodes_v2, name, result, before, after, edges, count);
}

static void print_query(const char *where)
{
    char step[64];
    static const struct {
        const char *name;
        int given;
        size_t room;
    } wishes[] = {
        {"count", 0, 0},
        {"room to spare", FROM | TO | DATA, ROOM},
        {"too little room", FROM | TO | DATA, 1},
        {"no room", FROM | TO | DATA, 0},
        {"nodes only", FROM | TO, ROOM},
        {"data only", DATA, ROOM},
    };
    for (size_t i = 0; i < sizeof wishes / sizeof wishes[0]; i++) {
        snprintf(step, sizeof step, "%s/edges/%s", where, wishes[i].name);
        get_edges(step, wishes[i].given, wishes[i].room);
        for (int j = 0; j < 2; j++) {
            snprintf(step, sizeof step, "%s/%c/%s", where, 'A' + j, wishes[i].name);
            get_neighbours(step, nodes[j], wishes[i].given, wishes[i].room);
        }
    }
    snprintf(step, sizeof step, "%s/edges/from only", where);
    get_edges(step, FROM, ROOM);
    snprintf(step, sizeof step, "%s/edges/to and data", where);
    get_edges(step, TO | DATA, ROOM);
}

static size_t count_edges(void)
{
    size_t count = UNTOUCHED;
    if (TABLE->GraphGetEdges_v1(graph, NULL, NULL, &count) != CUDA_SUCCESS)
        return UNTOUCHED;
    return count;
}

static void add_edges(const char *step, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                      size_t count)
{
    CUresult result = TABLE->GraphAddDependencies_v2(graph, from, to, data, count);
    STEP(GraphAddDependencies_v2, step, result, "%zu edges", count_edges());
}

static void remove_edges(const char *step, const CUgraphNode *from, const CUgraphNode *to, const CUgraphEdgeData *data,
                         size_t count)
{
    CUresult result = TABLE->GraphRemoveDependencies_v2(graph, from, to, data, count);
    STEP(GraphRemoveDependencies_v2, step, result, "%zu edges", count_edges());
}

void scene_graph(void)
{
    static const char *const letters[] = {"A", "B", "C", "D"};
    CUgraphEdgeData plain[3];
    CUgraphEdgeData data[3];
    CUgraph other;
    CUgraphNode foreign;
    memset(plain, 0, sizeof plain);
    memset(data, 0, sizeof data);
    data[0].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    MUST(TABLE->GraphCreate_v1(&graph, 0));
    MUST(TABLE->GraphCreate_v1(&other, 0));
    for (int i = 0; i < 4; i++) {
        MUST(TABLE->GraphAddEmptyNode_v1(&nodes[i], graph, NULL, 0));
        scene_name(nodes[i], letters[i]);
    }
    MUST(TABLE->GraphAddEmptyNode_v1(&foreign, other, NULL, 0));

    print_query("empty");
    add_edges("add/one", &nodes[0], &nodes[1], NULL, 1);
    const CUgraphNode from[] = {nodes[0], nodes[0]};
    const CUgraphNode to[] = {nodes[2], nodes[3]};
    add_edges("add/two, plain", from, to, plain, 2);
    add_edges("add/twice", &nodes[0], &nodes[1], NULL, 1);
    add_edges("add/to itself", &nodes[0], &nodes[0], NULL, 1);
    add_edges("add/backwards", &nodes[1], &nodes[0], NULL, 1);
    remove_edges("remove/backwards", &nodes[1], &nodes[0], NULL, 1);
    add_edges("add/other graph", &foreign, &nodes[1], NULL, 1);
    add_edges("add/none", from, to, NULL, 0);
    add_edges("add/none, NULL", NULL, NULL, NULL, 0);
    add_edges("add/data", &nodes[1], &nodes[2], data, 1);
    add_edges("add/data, but none", &nodes[1], &nodes[2], data, 0);
    print_query("edges");
    remove_edges("remove/data on a plain one", &nodes[0], &nodes[1], data, 1);
    remove_edges("remove/one that is not", &nodes[1], &nodes[2], NULL, 1);
    remove_edges("remove/none", from, to, NULL, 0);
    remove_edges("remove/one", &nodes[0], &nodes[1], NULL, 1);
    remove_edges("remove/two, plain", from, to, plain, 2);
    print_query("emptied");
    MUST(TABLE->GraphDestroy_v1(graph));
    MUST(TABLE->GraphDestroy_v1(other));
}

static void instantiate(const char *step, unsigned long long flags)
{
    CUgraphExec executable = UNTOUCHED_POINTER;
    CUresult launched = CUDA_SUCCESS;
    CUresult result = TABLE->GraphInstantiateWithFlags_v1(&executable, graph, flags);
    bool made = result == CUDA_SUCCESS;
    if (made) {
        launched = TABLE->GraphLaunch_v1(executable, stage.a);
        MUST(TABLE->StreamSynchronize_v1(stage.a));
        MUST(TABLE->GraphExecDestroy_v1(executable));
    }
    STEP(GraphInstantiateWithFlags_v1, step, result, "executable %s, launched %d",
         made ? "new" : scene_name_of(executable), (int)launched);
}

void scene_instantiate(void)
{
    MUST(TABLE->GraphCreate_v1(&graph, 0));
    instantiate("empty graph", 0);
    MUST(TABLE->GraphAddEmptyNode_v1(&nodes[0], graph, NULL, 0));
    instantiate("no flags", 0);
    instantiate("again", 0);
    instantiate("free on launch", CUDA_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH);
    instantiate("upload", CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD);
    instantiate("device launch", CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH);
    instantiate("node priority", CUDA_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY);
    instantiate("flag unknown", 16);
    instantiate("flag unknown beside a known one", 17);
    instantiate("flag beyond 32 bits", 1ull << 32);
    scene_enter(NULL);
    CUgraphExec executable = UNTOUCHED_POINTER;
    CUresult result = TABLE->GraphInstantiateWithFlags_v1(&executable, graph, 0);
    STEP(GraphInstantiateWithFlags_v1, "no context", result, "executable %s",
         result == CUDA_SUCCESS ? "new" : scene_name_of(executable));
    scene_enter(stage.primary);
    MUST(TABLE->GraphDestroy_v1(graph));
}

/* Programmatic edges: a kernel may start before the one that it depends on has ended. */

static CUgraphNode add_kernel(CUfunction function)
{
    CUgraphNode node;
    CUDA_KERNEL_NODE_PARAMS_v2 parameters;
    memset(&parameters, 0, sizeof parameters);
    parameters.func = function;
    parameters.gridDimX = parameters.gridDimY = parameters.gridDimZ = 1;
    parameters.blockDimX = parameters.blockDimY = parameters.blockDimZ = 1;
    MUST(TABLE->GraphAddKernelNode_v2(&node, graph, NULL, 0, &parameters));
    return node;
}

static void print_capture_query(const char *step, bool with_edges)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)UNTOUCHED;
    cuuint64_t id = UNTOUCHED;
    const CUgraphNode *dependencies = UNTOUCHED_POINTER;
    const CUgraphEdgeData *edges = UNTOUCHED_POINTER;
    size_t count = UNTOUCHED;
    CUresult result =
        TABLE->StreamGetCaptureInfo_v3(stage.a, &status, &id, NULL, &dependencies, with_edges ? &edges : NULL, &count);
    bool has_edges = edges != NULL && (void *)edges != UNTOUCHED_POINTER && count == 1;
    STEP(StreamGetCaptureInfo_v3, step, result, "status %d, id %s, dependencies %s, edges %s, count %zu", (int)status,
         id == UNTOUCHED ? "untouched" : "given", (void *)dependencies == UNTOUCHED_POINTER ? "untouched" : "given",
         has_edges ? (edges[0].type != 0 ? "data" : "plain") : scene_name_of(edges), count);
}

void scene_edges(void)
{
    CUgraphEdgeData data[1];
    CUfunction function = scene_kernel("nothing");
    if (function == NULL)
        return;
    memset(data, 0, sizeof data);
    data[0].from_port = CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC;
    data[0].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    MUST(TABLE->GraphCreate_v1(&graph, 0));
    nodes[0] = add_kernel(function);
    nodes[1] = add_kernel(function);
    scene_name(nodes[0], "A");
    scene_name(nodes[1], "B");
    add_edges("add/data", &nodes[0], &nodes[1], data, 1);
    print_query("graph");
    remove_edges("remove/plain", &nodes[0], &nodes[1], NULL, 1);
    remove_edges("remove/data", &nodes[0], &nodes[1], data, 1);

    MUST(TABLE->StreamBeginCaptureToGraph_v1(stage.a, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    CUresult result =
        TABLE->StreamUpdateCaptureDependencies_v2(stage.a, &nodes[0], data, 1, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
    CODE(StreamUpdateCaptureDependencies_v2, "capture/update", result);
    print_capture_query("capture/with edges", true);
    print_capture_query("capture/without edges", false);
    scene_end(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "capture/end", stage.a);
}
