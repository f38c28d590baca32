/* SPDX-License-Identifier: MIT */
/*
 * cuda_abi.h - the driver's types and constants.
 *
 * They come from <cuda.h> where there is one, and from us for what it lacks; abi/mode.h says how to choose. Either way
 * the names are NVIDIA's, and so is the layout: a test compares each size, offset and value with the Toolkits' headers.
 *
 * Three things to know:
 *  - A constant that is younger than the oldest <cuda.h> we support is a macro that casts to its enum, so a compiler
 *    may say of `case CU_NEW_ONE:` that the enum has no such value. Switch on an int to be free of that.
 *  - Where NVIDIA gave a new layout to an old name (CUDA_KERNEL_NODE_PARAMS, CUstreamAttrValue), entry_points.h uses a
 *    name that means the same in every version. The old name means what it does in the <cuda.h> in use, or the newest.
 *  - Types of other NVIDIA headers (<cudaEGL.h>, <cudaGL.h>, <cudaProfiler.h>) are not redeclared where <cuda.h> is:
 *    see abi/egl.h. Slots take the underlying type of an enum of theirs.
 */
#ifndef CUSHIM_CUDA_ABI_H
#define CUSHIM_CUDA_ABI_H

#include "cushim/abi/mode.h"
#include "cushim/abi/result.h"
#include "cushim/abi/handles.h"
#include "cushim/abi/device.h"
#include "cushim/abi/stream.h"
#include "cushim/abi/memory.h"
#include "cushim/abi/sharing.h"
#include "cushim/abi/module.h"
#include "cushim/abi/external.h"
#include "cushim/abi/graph.h"
#include "cushim/abi/process.h"
#include "cushim/abi/retired.h"
#include "cushim/abi/newest.h"

/* Frames and connections of EGL streams: complete in <cudaEGL.h>, or in abi/egl.h. */
struct CUeglFrame_st;
struct CUeglStreamConnection_st;

/* Which devices of an OpenGL context cuGLGetDevices lists. <cudaGL.h> has it for those who include <cuda.h>. */
#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUGLDeviceList_enum CUSHIM_ENUM_BASE {
    CU_GL_DEVICE_LIST_ALL = 1,
    CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

/* How a buffer object of OpenGL is used while it is mapped. */
typedef enum CUGLmap_flags_enum CUSHIM_ENUM_BASE {
    CU_GL_MAP_RESOURCE_FLAGS_NONE = 0,
    CU_GL_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
    CU_GL_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2
} CUGLmap_flags;

/* What cuProfilerInitialize writes. <cudaProfiler.h> has it likewise. */
typedef enum CUoutput_mode_enum CUSHIM_ENUM_BASE { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;
#endif

/* VdpGetProcAddress of <vdpau/vdpau.h>, whose VdpStatus is an enum. */
typedef uint32_t cushim_vdpau_get_proc_address(uint32_t device, uint32_t function_id, void **function_pointer);

/* Last: it makes macros of names that the headers above declare. */
#include "cushim/abi/conflict.h"

#endif
