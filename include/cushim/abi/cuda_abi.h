/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The driver's types and constants.
 *
 * They come from <cuda.h> if there is one; cushim declares what that <cuda.h> lacks. abi/mode.h describes the choice.
 * In both cases the names and the layout are NVIDIA's: a test compares each size, offset and value with the headers of
 * several Toolkits.
 *
 * @note A constant that is newer than the oldest supported <cuda.h> is a macro that casts to its enum. A compiler may
 *       therefore warn about `case CU_NEW_ONE:` that the enum has no such value. A switch on an int avoids that.
 * @note Where NVIDIA gave a new layout to an old name (CUDA_KERNEL_NODE_PARAMS, CUstreamAttrValue), entry_points.h uses
 *       a name that means the same in every version. The old name means what it means in the <cuda.h> in use, or in the
 *       newest one.
 * @note Types of other NVIDIA headers (<cudaEGL.h>, <cudaGL.h>, <cudaProfiler.h>) are not declared again if <cuda.h> is
 *       used: see abi/egl.h and abi/interop.h. A slot with such an enum takes the underlying type of the enum.
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

/* Frames and connections of EGL streams. <cudaEGL.h> or abi/egl.h completes these types. */
struct CUeglFrame_st;
struct CUeglStreamConnection_st;

/* Interfaces of Direct3D, which <d3d11.h> completes. */
struct ID3D11Device;
struct ID3D11Resource;
struct IDXGIAdapter;

#if CUSHIM_CUDA_HEADER_VERSION == 0
#    include "cushim/abi/interop.h"
#endif

/* The type VdpGetProcAddress of <vdpau/vdpau.h>. VdpStatus is an enum there. */
typedef uint32_t cushim_vdpau_get_proc_address(uint32_t device, uint32_t function_id, void **function_pointer);

/* This header comes last: it defines macros with names that the headers above declare. */
#include "cushim/abi/conflict.h"

#endif
