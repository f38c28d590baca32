/* SPDX-License-Identifier: MIT */
/* A scene: calls that change the dependencies of a capture. */
#include "scene.h"

#include <string.h>

enum { MOST_NODES = 64 };
static CUgraph update_graph;

static size_t list_nodes(CUgraphNode *nodes)
{
    size_t count = MOST_NODES;
    MUST(TABLE->GraphGetNodes_v1(update_graph, nodes, &count));
    return count;
}

/* Adds a node to the capture and prints the number of its dependencies. */
static size_t count_dependencies(void)
{
    CUgraphNode before[MOST_NODES];
    CUgraphNode after[MOST_NODES];
    size_t before_count = list_nodes(before);
    scene_add_node(stage.a);
    size_t after_count = list_nodes(after);
    size_t dependencies = UNTOUCHED;
    for (size_t i = 0; i < after_count; i++) {
        size_t j = 0;
        while (j < before_count && before[j] != after[i])
            j++;
        if (j == before_count)
            MUST(TABLE->GraphNodeGetDependencies_v1(after[i], NULL, &dependencies));
    }
    return dependencies;
}

/* Updates the dependencies, then prints those of a new node. */
static void update(const char *step, CUgraphNode *nodes, const CUgraphEdgeData *edges, size_t count, unsigned int flags)
{
    CUresult result = TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, edges, count, flags);
    STEP(StreamUpdateCaptureDependencies_v2, step, result, "the next node depends on %zu", count_dependencies());
}

void scene_update(void)
{
    static const CUgraphEdgeData plain[2];
    CUgraphEdgeData data[2];
    CUgraphNode nodes[2];
    CUgraphNode foreign;
    CUgraph other;
    memset(data, 0, sizeof data);
    MUST(TABLE->GraphCreate_v1(&update_graph, 0));
    MUST(TABLE->GraphCreate_v1(&other, 0));
    for (int i = 0; i < 2; i++)
        MUST(TABLE->GraphAddEmptyNode_v1(&nodes[i], update_graph, NULL, 0));
    MUST(TABLE->GraphAddEmptyNode_v1(&foreign, other, NULL, 0));

    CODE(StreamUpdateCaptureDependencies_v2, "idle",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, NULL, 1, 0));
    CODE(StreamUpdateCaptureDependencies_v2, "idle, nothing",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, NULL, NULL, 0, 0));
    CODE(StreamUpdateCaptureDependencies_v2, "stream 0",
         TABLE->StreamUpdateCaptureDependencies_v2(NULL, nodes, NULL, 1, 0));
    MUST(TABLE->StreamBeginCaptureToGraph_v1(stage.a, update_graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    scene_add_node(stage.a);
    const unsigned int add = CU_STREAM_ADD_CAPTURE_DEPENDENCIES;
    const unsigned int set = CU_STREAM_SET_CAPTURE_DEPENDENCIES;
    update("add one", nodes, NULL, 1, add);
    update("add two, plain", nodes, plain, 2, add);
    update("set one", nodes, NULL, 1, set);
    update("set two, plain", nodes, plain, 2, set);
    update("set none", NULL, NULL, 0, set);
    update("set none, with arrays", nodes, plain, 0, set);
    update("add none", NULL, NULL, 0, add);
    update("flag unknown", nodes, NULL, 1, 2);
    update("flags all", nodes, NULL, 1, 0xffffffffu);
    update("node of another graph", &foreign, NULL, 1, set);
    nodes[1] = nodes[0];
    update("the same twice", nodes, NULL, 2, set);
    data[1].type = CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    update("data after a plain one", nodes, data, 2, set);
    update("data beyond the count", nodes, data, 1, set);
    data[0].from_port = 1;
    update("port", nodes, data, 1, set);
    update("port, flag unknown", nodes, data, 1, 2);
    memset(data, 0, sizeof data);
    data[0].reserved[4] = 1;
    update("reserved byte", nodes, data, 1, set);
    update("data, but none", NULL, data, 0, set);
    scene_enter(NULL);
    CODE(StreamUpdateCaptureDependencies_v2, "no context",
         TABLE->StreamUpdateCaptureDependencies_v2(stage.a, nodes, NULL, 1, set));
    scene_enter(stage.primary);
    scene_end(CUSHIM_SLOT_StreamUpdateCaptureDependencies_v2, "end", stage.a);
}
