/* SPDX-License-Identifier: MIT */
/* Sets of nodes, in the order in which the nodes were added. A set with many nodes has an index: a table of hashes with
 * the position of each node plus 1, or 0. */
#include "engine.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_INDEXED_COUNT = 16 };

static const CUgraphEdgeData plain;

/* The place in the index that has the node, or where it would be added. */
static size_t *index_place(const struct node_set *set, const struct node *node)
{
    size_t at = handle_hash(node) & (set->index_size - 1);
    while (set->index[at] != 0 && set->nodes[set->index[at] - 1] != node)
        at = (at + 1) & (set->index_size - 1);
    return &set->index[at];
}

static void index_fill(struct node_set *set)
{
    if (set->index_size == 0)
        return;
    memset(set->index, 0, set->index_size * sizeof(size_t));
    for (size_t i = 0; i < set->count; i++)
        *index_place(set, set->nodes[i]) = i + 1;
}

/* Makes the index large enough for so many nodes; false if out of memory. */
static bool index_reserve(struct node_set *set, size_t count)
{
    if (count < FIRST_INDEXED_COUNT || count * 2 <= set->index_size)
        return true;
    size_t size = set->index_size == 0 ? FIRST_INDEXED_COUNT * 4 : set->index_size * 2;
    size_t *larger = malloc(size * sizeof(size_t));
    if (larger == NULL)
        return false;
    free(set->index);
    set->index = larger;
    set->index_size = size;
    index_fill(set);
    return true;
}

size_t node_set_find(const struct node_set *set, const struct node *node)
{
    size_t at = 0;
    if (set->index_size > 0)
        return *index_place(set, node) - 1; /* 0 becomes NODE_SET_NONE */
    while (at < set->count && set->nodes[at] != node)
        at++;
    return at < set->count ? at : NODE_SET_NONE;
}

bool node_set_add(struct node_set *set, struct node *node, const CUgraphEdgeData *data)
{
    if (node_set_find(set, node) != NODE_SET_NONE)
        return true;
    size_t count = set->count + 1;
    if (!soft_reserve((void **)&set->nodes, &set->node_capacity, count, sizeof(struct node *))
        || !soft_reserve((void **)&set->data, &set->data_capacity, count, sizeof(CUgraphEdgeData))
        || !index_reserve(set, count))
        return false;
    set->nodes[set->count] = node;
    set->data[set->count] = data == NULL ? plain : *data;
    set->count = count;
    if (set->index_size > 0)
        *index_place(set, node) = count;
    return true;
}

bool node_set_add_all(struct node_set *set, const struct node_set *more)
{
    size_t before = set->count;
    for (size_t i = 0; i < more->count; i++) {
        if (!node_set_add(set, more->nodes[i], &more->data[i])) {
            set->count = before;
            index_fill(set);
            return false;
        }
    }
    return true;
}

void node_set_remove(struct node_set *set, const struct node *node)
{
    size_t at = node_set_find(set, node);
    if (at == NODE_SET_NONE)
        return;
    size_t rest = --set->count - at;
    memmove(&set->nodes[at], &set->nodes[at + 1], rest * sizeof(struct node *));
    memmove(&set->data[at], &set->data[at + 1], rest * sizeof(CUgraphEdgeData));
    index_fill(set);
}

void node_set_clear(struct node_set *set)
{
    free(set->nodes);
    free(set->data);
    free(set->index);
    *set = (struct node_set){0};
}

bool node_set_has_data(const struct node_set *set)
{
    for (size_t i = 0; i < set->count; i++)
        if (memcmp(&set->data[i], &plain, sizeof plain) != 0)
            return true;
    return false;
}
