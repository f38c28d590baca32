/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Includes every public header except names.h and names_interop.h, which a ported program includes itself and last,
 * abi/egl.h, and the headers of compat.
 */
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
