/* SPDX-License-Identifier: MIT */
/* Adding nodes to graphs. */
#ifndef SOFT_GRAPH_NODES_H
#define SOFT_GRAPH_NODES_H

#include "soft.h"

#include "work.h"

/* Creates work from an event or a graph. Fails with 1, 801, or 2. */
CUresult work_from_event(enum work_kind kind, CUevent event, struct work **out_work);
CUresult work_from_child(CUgraph child, struct work **out_work);

#endif
