/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Includes every public header except names.h and names_interop.h, which a ported program includes itself and last,
 * untyped.h, abi/egl.h, the headers of compat, ffnvcodec.h, which is for programs that use FFmpeg's header, and
 * cushim.hpp, which is for C++ and includes this header.
 *
 * @mainpage
 * One binary, any CUDA driver, or none. A program includes cushim/cushim.h; each header has an example and its rules.
 *
 * - loader.h: the general rules of the loader
 * - load.h, diagnosis.h: loading and cuInit; why there is no usable driver
 * - dispatch_table.h, slot.h, lookup.h: the table; the state of each slot; functions of the driver by name
 * - feature.h: what a program can do with a device, such as memory pools
 * - choose.h: conditions on a machine, and which of several builds fits it
 * - gpu.h: which GPUs CUDA would show this process, without starting it
 * - nvrtc.h: the NVRTC that fits the driver and the GPU
 * - layer.h: layers, which replace slots
 * - error.h, system.h, version.h: the last error; what the operating system reports about a GPU; the version
 * - context.h: contexts, and the general rules of the stream layer
 * - stream.h, event.h, graph.h, capture.h: streams and host functions, events, executable graphs, captures
 * - completion.h: completions and dispatchers
 * - cushim.hpp: for C++, owners of objects, lambdas as bodies and callbacks, an exception
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
