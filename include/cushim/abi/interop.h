/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The enums of <cudaGL.h>, <cudaD3D11.h> and <cudaProfiler.h>, for programs without these headers.
 *
 * With cushim's own types, cuda_abi.h includes this header. With <cuda.h>, it does not, because the types belong to the
 * other headers, which need those of OpenGL and Direct3D. A source that is to compile on both kinds of machines, and
 * that uses a constant such as CU_GL_DEVICE_LIST_ALL, includes this header itself, after cushim.h and after those of
 * NVIDIA's headers that it uses.
 */
#ifndef CUSHIM_ABI_INTEROP_H
#define CUSHIM_ABI_INTEROP_H

#include "cushim/abi/mode.h"

#ifndef CUDAGL_H
/* The devices of an OpenGL context that cuGLGetDevices lists. */
typedef enum CUGLDeviceList_enum CUSHIM_ENUM_BASE {
    CU_GL_DEVICE_LIST_ALL = 1,
    CU_GL_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_GL_DEVICE_LIST_NEXT_FRAME = 3
} CUGLDeviceList;

/* Flags of cuGLSetBufferObjectMapFlags: how a buffer object is used while it is mapped. */
typedef enum CUGLmap_flags_enum CUSHIM_ENUM_BASE {
    CU_GL_MAP_RESOURCE_FLAGS_NONE = 0,
    CU_GL_MAP_RESOURCE_FLAGS_READ_ONLY = 1,
    CU_GL_MAP_RESOURCE_FLAGS_WRITE_DISCARD = 2
} CUGLmap_flags;
#endif

#ifndef CUDAD3D11_H
/* The devices of a Direct3D device that cuD3D11GetDevices lists. */
typedef enum CUd3d11DeviceList_enum CUSHIM_ENUM_BASE {
    CU_D3D11_DEVICE_LIST_ALL = 1,
    CU_D3D11_DEVICE_LIST_CURRENT_FRAME = 2,
    CU_D3D11_DEVICE_LIST_NEXT_FRAME = 3
} CUd3d11DeviceList;
#endif

#ifndef cuda_profiler_H
/* The format that cuProfilerInitialize writes. */
typedef enum CUoutput_mode_enum CUSHIM_ENUM_BASE { CU_OUT_KEY_VALUE_PAIR = 0, CU_OUT_CSV = 1 } CUoutput_mode;
#endif

#endif
