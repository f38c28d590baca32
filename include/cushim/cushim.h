/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Includes every public header except names.h, which a program that is ported includes by itself, and last.
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
