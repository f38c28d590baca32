/* SPDX-License-Identifier: MIT */
/* cushim.h - all of cushim: one binary, any CUDA driver, or none. names.h, for porting, is included by itself. */
#ifndef CUSHIM_CUSHIM_H
#define CUSHIM_CUSHIM_H

#include "cushim/attributes.h"
#include "cushim/cuda_abi.h"
#include "cushim/loader.h"

#endif
