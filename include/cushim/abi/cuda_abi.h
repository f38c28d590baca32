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
 *       used: see abi/egl.h. A slot with such an enum takes the underlying type of the enum.
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

/* The devices of an OpenGL context that cuGLGetDevices lists. With <cuda.h>, the type comes from <cudaGL.h>. */
#if CUSHIM_CUDA_HEADER_VERSION == 0
typedef enum CUGLDeviceList_enum CUSHIM_ENUM_BASE {
    CU_GL_DEVICE_LIST_ALL = 1,
    CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

/* The devices of a Direct3D device that cuD3D11GetDevices lists. With <cuda.h>, the type comes from <cudaD3D11.h>. */
typedef enum CUd3d11DeviceList_enum CUSHIM_ENUM_BASE {
    CU_D3D11_DEVICE_LIST_ALL = 1,
    CU_D3D11_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_D3D11_DEVICE_LIST_NEXT_FRAME = 3
} CUd3d11DeviceList;

/* How a buffer object of OpenGL is used while it is mapped. */
typedef enum CUGLmap_flags_enum CUSHIM_ENUM_BASE {
    CU_GL_MAP_RESOURCE_FLAGS_NONE = 0,
    CU_GL_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
    CU_GL_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2
} CUGLmap_flags;

/* The format that cuProfilerInitialize writes. With <cuda.h>, the type comes from <cudaProfiler.h>. */
typedef enum CUoutput_mode_enum CUSHIM_ENUM_BASE { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;
#endif

/* The type VdpGetProcAddress of <vdpau/vdpau.h>. VdpStatus is an enum there. */
typedef uint32_t cushim_vdpau_get_proc_address(uint32_t device, uint32_t function_id, void **function_pointer);

/* This header comes last: it defines macros with names that the headers above declare. */
#include "cushim/abi/conflict.h"

#endif
