/* SPDX-License-Identifier: MIT */
#ifndef SOFT_GRAPH_PARAMS_H
#define SOFT_GRAPH_PARAMS_H

#include "graph.h"

/* Replaces the work of a node of that kind if the new work was created (`result`); takes over the reference to it. */
CUresult node_set_work(CUgraphNode handle, enum work_kind kind, CUresult result, struct work *work);

/* The older description of a kernel is the beginning of the newer one. */
CUDA_KERNEL_NODE_PARAMS_v1 kernel_params_older(const CUDA_KERNEL_NODE_PARAMS_v2 *params);
CUDA_KERNEL_NODE_PARAMS_v2 kernel_params_newer(const CUDA_KERNEL_NODE_PARAMS_v1 *params);

#endif
