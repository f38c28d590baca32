/* SPDX-License-Identifier: MIT */
/*
 * names_interop.h - includes names.h, and defines such macros for the functions for Direct3D 11, OpenGL, EGL and VDPAU.
 *
 * Include it last, after <cudaD3D11.h>, <cudaGL.h>, <cudaEGL.h> and <cudaVDPAU.h>.
 *
 * Made by loader/lists/write_lists.py from loader/lists/entry_points.tsv: do not edit.
 */
#ifndef CUSHIM_NAMES_INTEROP_H
#define CUSHIM_NAMES_INTEROP_H

#include "cushim/names.h"

/* clang-format off */

#undef cuD3D11CtxCreate
#undef cuD3D11CtxCreate_v2
#define cuD3D11CtxCreate_v2 (cushim_table()->D3D11CtxCreate_v2)
#define cuD3D11CtxCreate cuD3D11CtxCreate_v2
#undef cuD3D11CtxCreateOnDevice
#define cuD3D11CtxCreateOnDevice (cushim_table()->D3D11CtxCreateOnDevice_v1)
#undef cuD3D11GetDevice
#define cuD3D11GetDevice (cushim_table()->D3D11GetDevice_v1)
#undef cuD3D11GetDevices
#define cuD3D11GetDevices (cushim_table()->D3D11GetDevices_v1)
#undef cuD3D11GetDirect3DDevice
#define cuD3D11GetDirect3DDevice (cushim_table()->D3D11GetDirect3DDevice_v1)
#undef cuEGLStreamConsumerAcquireFrame
#define cuEGLStreamConsumerAcquireFrame (cushim_table()->EGLStreamConsumerAcquireFrame_v1)
#undef cuEGLStreamConsumerConnect
#define cuEGLStreamConsumerConnect (cushim_table()->EGLStreamConsumerConnect_v1)
#undef cuEGLStreamConsumerConnectWithFlags
#define cuEGLStreamConsumerConnectWithFlags (cushim_table()->EGLStreamConsumerConnectWithFlags_v1)
#undef cuEGLStreamConsumerDisconnect
#define cuEGLStreamConsumerDisconnect (cushim_table()->EGLStreamConsumerDisconnect_v1)
#undef cuEGLStreamConsumerReleaseFrame
#define cuEGLStreamConsumerReleaseFrame (cushim_table()->EGLStreamConsumerReleaseFrame_v1)
#undef cuEGLStreamProducerConnect
#define cuEGLStreamProducerConnect (cushim_table()->EGLStreamProducerConnect_v1)
#undef cuEGLStreamProducerDisconnect
#define cuEGLStreamProducerDisconnect (cushim_table()->EGLStreamProducerDisconnect_v1)
#undef cuEGLStreamProducerPresentFrame
#define cuEGLStreamProducerPresentFrame (cushim_table()->EGLStreamProducerPresentFrame_v1)
#undef cuEGLStreamProducerReturnFrame
#define cuEGLStreamProducerReturnFrame (cushim_table()->EGLStreamProducerReturnFrame_v1)
#undef cuGLCtxCreate
#undef cuGLCtxCreate_v2
#define cuGLCtxCreate_v2 (cushim_table()->GLCtxCreate_v2)
#define cuGLCtxCreate cuGLCtxCreate_v2
#undef cuGLGetDevices
#undef cuGLGetDevices_v2
#define cuGLGetDevices_v2 (cushim_table()->GLGetDevices_v2)
#define cuGLGetDevices cuGLGetDevices_v2
#undef cuGLInit
#define cuGLInit (cushim_table()->GLInit_v1)
#undef cuGLMapBufferObject
#undef cuGLMapBufferObject_v2
#define cuGLMapBufferObject_v2 (cushim_table()->GLMapBufferObject_v2)
#define cuGLMapBufferObject cuGLMapBufferObject_v2
#undef cuGLMapBufferObjectAsync
#undef cuGLMapBufferObjectAsync_v2
#define cuGLMapBufferObjectAsync_v2 (cushim_table()->GLMapBufferObjectAsync_v2)
#define cuGLMapBufferObjectAsync cuGLMapBufferObjectAsync_v2
#undef cuGLRegisterBufferObject
#define cuGLRegisterBufferObject (cushim_table()->GLRegisterBufferObject_v1)
#undef cuGLSetBufferObjectMapFlags
#define cuGLSetBufferObjectMapFlags (cushim_table()->GLSetBufferObjectMapFlags_v1)
#undef cuGLUnmapBufferObject
#define cuGLUnmapBufferObject (cushim_table()->GLUnmapBufferObject_v1)
#undef cuGLUnmapBufferObjectAsync
#define cuGLUnmapBufferObjectAsync (cushim_table()->GLUnmapBufferObjectAsync_v1)
#undef cuGLUnregisterBufferObject
#define cuGLUnregisterBufferObject (cushim_table()->GLUnregisterBufferObject_v1)
#undef cuGraphicsD3D11RegisterResource
#define cuGraphicsD3D11RegisterResource (cushim_table()->GraphicsD3D11RegisterResource_v1)
#undef cuGraphicsEGLRegisterImage
#define cuGraphicsEGLRegisterImage (cushim_table()->GraphicsEGLRegisterImage_v1)
#undef cuGraphicsGLRegisterBuffer
#define cuGraphicsGLRegisterBuffer (cushim_table()->GraphicsGLRegisterBuffer_v1)
#undef cuGraphicsGLRegisterImage
#define cuGraphicsGLRegisterImage (cushim_table()->GraphicsGLRegisterImage_v1)
#undef cuGraphicsResourceGetMappedEglFrame
#define cuGraphicsResourceGetMappedEglFrame (cushim_table()->GraphicsResourceGetMappedEglFrame_v1)
#undef cuGraphicsVDPAURegisterOutputSurface
#define cuGraphicsVDPAURegisterOutputSurface (cushim_table()->GraphicsVDPAURegisterOutputSurface_v1)
#undef cuGraphicsVDPAURegisterVideoSurface
#define cuGraphicsVDPAURegisterVideoSurface (cushim_table()->GraphicsVDPAURegisterVideoSurface_v1)
#undef cuVDPAUCtxCreate
#undef cuVDPAUCtxCreate_v2
#define cuVDPAUCtxCreate_v2 (cushim_table()->VDPAUCtxCreate_v2)
#define cuVDPAUCtxCreate cuVDPAUCtxCreate_v2
#undef cuVDPAUGetDevice
#define cuVDPAUGetDevice (cushim_table()->VDPAUGetDevice_v1)
#undef cuWGLGetDevice
#define cuWGLGetDevice (cushim_table()->WGLGetDevice_v1)

#endif
