/* SPDX-License-Identifier: MIT */
/* cushim.h - all of cushim: one binary, any CUDA driver, or none. names.h, for porting, is included by itself. */
#ifndef CUSHIM_CUSHIM_H
#define CUSHIM_CUSHIM_H

#include "cushim/attributes.h"
#include "cushim/capture.h"
#include "cushim/completion.h"
#include "cushim/context.h"
#include "cushim/abi/cuda_abi.h"
#include "cushim/event.h"
#include "cushim/graph.h"
#include "cushim/loader.h"
#include "cushim/stream.h"

#endif
