/* SPDX-License-Identifier: MIT */
/* Graphs as a whole: nodes and edges, copies, and the user objects that a graph retains. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

static const CUgraphEdgeData plain;

/* Only a kernel can signal before its end: when its blocks are launched, and to a programmatic edge also at will. */
static bool edge_is_allowed(const struct node *from, const CUgraphEdgeData *data)
{
    if (memcmp(data, &plain, sizeof plain) == 0)
        return true;
    static const unsigned char none[sizeof data->reserved];
    bool is_programmatic = data->type == CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC;
    bool is_port = data->from_port == CU_GRAPH_KERNEL_NODE_PORT_LAUNCH_ORDER
                   || (is_programmatic && data->from_port == CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    return from->work->kind == WORK_KERNEL && (is_programmatic || data->type == CU_GRAPH_DEPENDENCY_TYPE_DEFAULT)
           && is_port && data->to_port == 0 && memcmp(data->reserved, none, sizeof none) == 0;
}

CUresult graph_read_edges(struct graph *graph, const CUgraphNode *nodes, const CUgraphEdgeData *data, size_t count,
                          bool repeats, struct node_set *out_set)
{
    CUresult result = count > 0 && nodes == NULL ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
    for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++) {
        struct node *node = handle_find(OBJECT_NODE, nodes[i]);
        if (node == NULL || node->graph != graph || (data != NULL && !edge_is_allowed(node, &data[i])))
            result = CUDA_ERROR_INVALID_VALUE;
        else if (!node_set_add(out_set, node, data == NULL ? NULL : &data[i]))
            result = CUDA_ERROR_OUT_OF_MEMORY;
        else if (!repeats && out_set->count != i + 1) /* a node was given twice */
            result = CUDA_ERROR_INVALID_VALUE;
    }
    if (result != CUDA_SUCCESS)
        node_set_clear(out_set);
    return result;
}

void user_object_ref(struct user_object *object, unsigned count)
{
    object->count += count;
}

void user_object_unref(struct user_object *object, unsigned count)
{
    object->count -= count;
    if (object->count != 0)
        return;
    handle_withdraw(object);
    queue_defer(object->destroy, object->data);
    object_unref(object);
}

static void node_free(void *object)
{
    struct node *node = object;
    handle_withdraw(node);
    work_unref(node->work);
    node_set_clear(&node->dependencies);
    free(node);
}

static void graph_free_contents(struct graph *graph)
{
    for (size_t i = 0; i < graph->count; i++)
        object_unref(graph->nodes[i]);
    for (size_t i = 0; i < graph->retained_count; i++)
        user_object_unref(graph->retained[i].object, graph->retained[i].count);
    free(graph->nodes);
    free(graph->retained);
    free(graph);
}

/* Child graphs are freed after the graph that contains them, because graphs can be nested deeper than a stack is. */
static void graph_free(void *object)
{
    static struct graph *unused;
    static bool freeing;
    struct graph *graph = object;
    graph->outer = unused;
    unused = graph;
    if (freeing)
        return;
    freeing = true;
    while (unused != NULL) {
        graph = unused;
        unused = graph->outer;
        graph_free_contents(graph);
    }
    freeing = false;
}

struct graph *graph_new(void)
{
    struct graph *graph = object_new(OBJECT_GRAPH, sizeof *graph, graph_free);
    if (graph == NULL || !handle_publish(graph)) {
        free(graph);
        return NULL;
    }
    graph->id = soft_next_id();
    return graph;
}

void graph_remove(struct graph *graph, struct node *node)
{
    size_t at = 0;
    while (graph->nodes[at] != node)
        at++;
    memmove(&graph->nodes[at], &graph->nodes[at + 1], (--graph->count - at) * sizeof(struct node *));
    for (size_t k = 0; k < node->dependencies.count; k++)
        node->dependencies.nodes[k]->dependents--;
    for (size_t i = 0; node->dependents > 0; i++)
        node_release(graph->nodes[i], node);
    object_unref(node);
}

void graph_destroy(struct graph *graph)
{
    handle_withdraw(graph);
    object_unref(graph);
}

static CUgraphNodeType node_type(enum work_kind kind)
{
    switch (kind) {
    case WORK_KERNEL:
        return CU_GRAPH_NODE_TYPE_KERNEL;
    case WORK_COPY:
        return CU_GRAPH_NODE_TYPE_MEMCPY;
    case WORK_SET:
        return CU_GRAPH_NODE_TYPE_MEMSET;
    case WORK_HOST:
        return CU_GRAPH_NODE_TYPE_HOST;
    case WORK_RECORD:
        return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
    case WORK_WAIT:
        return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
    case WORK_ALLOC:
        return CU_GRAPH_NODE_TYPE_MEM_ALLOC;
    case WORK_FREE:
        return CU_GRAPH_NODE_TYPE_MEM_FREE;
    case WORK_VALUES:
        return CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
    case WORK_CHILD:
        return CU_GRAPH_NODE_TYPE_GRAPH;
    case WORK_STATUS:
    case WORK_EMPTY:
    case WORK_KEEP_GRAPH:
        break;
    }
    return CU_GRAPH_NODE_TYPE_EMPTY;
}

bool node_depend(struct node *node, struct node *before, const CUgraphEdgeData *data)
{
    size_t count = node->dependencies.count;
    if (!node_set_add(&node->dependencies, before, data))
        return false;
    before->dependents += node->dependencies.count - count;
    return true;
}

void node_release(struct node *node, struct node *before)
{
    size_t count = node->dependencies.count;
    node_set_remove(&node->dependencies, before);
    before->dependents -= count - node->dependencies.count;
}

struct node *graph_add(struct graph *graph, struct work *work, const struct node_set *dependencies)
{
    struct node *node = work == NULL ? NULL : object_new(OBJECT_NODE, sizeof *node, node_free);
    if (node == NULL) {
        work_unref(work);
        return NULL;
    }
    node->work = work;
    node->type = node_type(work->kind);
    node->graph = graph;
    bool whole = node_set_add_all(&node->dependencies, dependencies)
                 && soft_reserve((void **)&graph->nodes, &graph->capacity, graph->count + 1, sizeof(struct node *))
                 && handle_publish(node);
    if (!whole) {
        object_unref(node);
        return NULL;
    }
    for (size_t k = 0; k < dependencies->count; k++)
        dependencies->nodes[k]->dependents++;
    graph->nodes[graph->count++] = node;
    graph->memory_nodes += work_is_of_memory(work);
    if (work->kind == WORK_ALLOC && work->block->allocated_in == 0)
        work->block->allocated_in = graph->id;
    return node;
}

/* Work does not change, so the copies of a graph share it. A child graph that the program has obtained can change. */
static struct work *work_copy(struct work *work)
{
    if (work->kind == WORK_CHILD && work->child->obtained)
        return work_new_child(work->child);
    work_ref(work);
    return work;
}

static bool graph_copy_nodes(struct graph *copy, const struct graph *graph)
{
    static const struct node_set none;
    for (size_t i = 0; i < graph->count; i++) {
        struct node *from = graph->nodes[i];
        struct node *node = graph_add(copy, work_copy(from->work), &none);
        if (node == NULL)
            return false;
        node->original = from;
        from->index = i;
    }
    for (size_t i = 0; i < graph->count; i++) {
        const struct node_set *from = &graph->nodes[i]->dependencies;
        for (size_t k = 0; k < from->count; k++)
            if (!node_depend(copy->nodes[i], copy->nodes[from->nodes[k]->index], &from->data[k]))
                return false;
    }
    return true;
}

struct graph *graph_copy(struct graph *graph)
{
    struct graph *copy = graph_new();
    if (copy == NULL)
        return NULL;
    bool room = soft_reserve((void **)&copy->retained, &copy->retained_capacity, graph->retained_count,
                             sizeof(struct retained));
    if (!room || !graph_copy_nodes(copy, graph)) {
        graph_destroy(copy);
        return NULL;
    }
    for (size_t i = 0; i < graph->retained_count; i++) {
        copy->retained[i] = (struct retained){graph->retained[i].object, 1};
        user_object_ref(graph->retained[i].object, 1);
    }
    copy->retained_count = graph->retained_count;
    return copy;
}

struct work *work_new_child(struct graph *graph)
{
    struct work *work = work_new(WORK_CHILD);
    struct graph *copy = work == NULL ? NULL : graph_copy(graph);
    if (copy == NULL) {
        free(work);
        return NULL;
    }
    copy->embedded = true;
    work->child = copy;
    return work;
}

struct graph *node_child(struct node *node)
{
    if (node->work->references > 1) {
        const struct graph *shared = node->work->child;
        struct work *own = work_new_child(node->work->child);
        if (own == NULL)
            return NULL;
        for (size_t i = 0; i < shared->count; i++)
            own->child->nodes[i]->original = shared->nodes[i]->original;
        work_unref(node->work);
        node->work = own;
    }
    node->work->child->obtained = true;
    return node->work->child;
}
