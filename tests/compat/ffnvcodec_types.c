/* SPDX-License-Identifier: MIT */
/*
 * ffnvcodec_types.c - compiles if each function type has the prototype that programs for <ffnvcodec/dynlink_cuda.h>
 * expect: the function is declared with the prototype and with the type, which must agree.
 */
#include <ffnvcodec/dynlink_cuda.h>

#define SAME(type, parameters)                                                                                         \
    CUresult CUDAAPI function_##type parameters;                                                                       \
    extern type function_##type;

/* A callback is a function, not a pointer. */
CUstreamCallback callback;
typedef char has_planes[CU_EGL_FRAME_MAX_PLANES == 3 ? 1 : -1];

SAME(tcuInit, (unsigned int flags))
SAME(tcuDriverGetVersion, (int *version))

SAME(tcuDeviceGetCount, (int *count))
SAME(tcuDeviceGet, (CUdevice * device, int ordinal))
SAME(tcuDeviceGetAttribute, (int *value, CUdevice_attribute attribute, CUdevice device))
SAME(tcuDeviceGetName, (char *name, int size, CUdevice device))
SAME(tcuDeviceGetUuid, (CUuuid * uuid, CUdevice device))
SAME(tcuDeviceGetUuid_v2, (CUuuid * uuid, CUdevice device))
SAME(tcuDeviceGetLuid, (char *luid, unsigned int *node_mask, CUdevice device))
SAME(tcuDeviceGetByPCIBusId, (CUdevice * device, const char *bus_id))
SAME(tcuDeviceGetPCIBusId, (char *bus_id, int size, CUdevice device))
SAME(tcuDeviceComputeCapability, (int *major, int *minor, CUdevice device))

SAME(tcuCtxCreate_v2, (CUcontext * context, unsigned int flags, CUdevice device))
SAME(tcuCtxGetCurrent, (CUcontext * context))
SAME(tcuCtxSetLimit, (CUlimit limit, size_t value))
SAME(tcuCtxPushCurrent_v2, (CUcontext context))
SAME(tcuCtxPopCurrent_v2, (CUcontext * context))
SAME(tcuCtxDestroy_v2, (CUcontext context))
SAME(tcuCtxGetDevice, (CUdevice * device))
SAME(tcuDevicePrimaryCtxRetain, (CUcontext * context, CUdevice device))
SAME(tcuDevicePrimaryCtxRelease, (CUdevice device))
SAME(tcuDevicePrimaryCtxSetFlags, (CUdevice device, unsigned int flags))
SAME(tcuDevicePrimaryCtxGetState, (CUdevice device, unsigned int *flags, int *active))
SAME(tcuDevicePrimaryCtxReset, (CUdevice device))

SAME(tcuMemAlloc_v2, (CUdeviceptr * memory, size_t size))
SAME(tcuMemAllocPitch_v2, (CUdeviceptr * memory, size_t *pitch, size_t width, size_t height, unsigned int element_size))
SAME(tcuMemAllocManaged, (CUdeviceptr * memory, size_t size, unsigned int flags))
SAME(tcuMemFree_v2, (CUdeviceptr memory))
SAME(tcuMemsetD8Async, (CUdeviceptr to, unsigned char value, size_t count, CUstream stream))
SAME(tcuMemcpy, (CUdeviceptr to, CUdeviceptr from, size_t size))
SAME(tcuMemcpyAsync, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))
SAME(tcuMemcpy2D_v2, (const CUDA_MEMCPY2D *copy))
SAME(tcuMemcpy2DAsync_v2, (const CUDA_MEMCPY2D *copy, CUstream stream))
SAME(tcuMemcpyHtoD_v2, (CUdeviceptr to, const void *from, size_t size))
SAME(tcuMemcpyHtoDAsync_v2, (CUdeviceptr to, const void *from, size_t size, CUstream stream))
SAME(tcuMemcpyDtoH_v2, (void *to, CUdeviceptr from, size_t size))
SAME(tcuMemcpyDtoHAsync_v2, (void *to, CUdeviceptr from, size_t size, CUstream stream))
SAME(tcuMemcpyDtoD_v2, (CUdeviceptr to, CUdeviceptr from, size_t size))
SAME(tcuMemcpyDtoDAsync_v2, (CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream))

SAME(tcuGetErrorName, (CUresult error, const char **name))
SAME(tcuGetErrorString, (CUresult error, const char **text))

SAME(tcuStreamCreate, (CUstream * stream, unsigned int flags))
SAME(tcuStreamQuery, (CUstream stream))
SAME(tcuStreamSynchronize, (CUstream stream))
SAME(tcuStreamDestroy_v2, (CUstream stream))
SAME(tcuStreamAddCallback, (CUstream stream, CUstreamCallback *function, void *user, unsigned int flags))
SAME(tcuStreamWaitEvent, (CUstream stream, CUevent event, unsigned int flags))
SAME(tcuEventCreate, (CUevent * event, unsigned int flags))
SAME(tcuEventDestroy_v2, (CUevent event))
SAME(tcuEventSynchronize, (CUevent event))
SAME(tcuEventQuery, (CUevent event))
SAME(tcuEventRecord, (CUevent event, CUstream stream))

SAME(tcuLaunchKernel, (CUfunction function, unsigned int grid_x, unsigned int grid_y, unsigned int grid_z,
                       unsigned int block_x, unsigned int block_y, unsigned int block_z, unsigned int shared_size,
                       CUstream stream, void **parameters, void **extra))
SAME(tcuLinkCreate, (unsigned int count, CUjit_option *options, void **values, CUlinkState *state))
SAME(tcuLinkAddData, (CUlinkState state, CUjitInputType type, void *data, size_t size, const char *name,
                      unsigned int count, CUjit_option *options, void **values))
SAME(tcuLinkComplete, (CUlinkState state, void **cubin, size_t *size))
SAME(tcuLinkDestroy, (CUlinkState state))
SAME(tcuModuleLoadData, (CUmodule * module, const void *image))
SAME(tcuModuleUnload, (CUmodule module))
SAME(tcuModuleGetFunction, (CUfunction * function, CUmodule module, const char *name))
SAME(tcuModuleGetGlobal, (CUdeviceptr * memory, size_t *size, CUmodule module, const char *name))
SAME(tcuTexObjectCreate, (CUtexObject * texture, const CUDA_RESOURCE_DESC *resource,
                          const CUDA_TEXTURE_DESC *description, const CUDA_RESOURCE_VIEW_DESC *view))
SAME(tcuTexObjectDestroy, (CUtexObject texture))

SAME(tcuGLGetDevices_v2, (unsigned int *count, CUdevice *devices, unsigned int size, CUGLDeviceList list))
SAME(tcuGraphicsGLRegisterImage, (CUgraphicsResource * resource, GLuint image, GLenum target, unsigned int flags))
SAME(tcuGraphicsUnregisterResource, (CUgraphicsResource resource))
SAME(tcuGraphicsMapResources, (unsigned int count, CUgraphicsResource *resources, CUstream stream))
SAME(tcuGraphicsUnmapResources, (unsigned int count, CUgraphicsResource *resources, CUstream stream))
SAME(tcuGraphicsSubResourceGetMappedArray,
     (CUarray * array, CUgraphicsResource resource, unsigned int index, unsigned int level))
SAME(tcuGraphicsResourceGetMappedPointer, (CUdeviceptr * memory, size_t *size, CUgraphicsResource resource))

SAME(tcuImportExternalMemory, (CUexternalMemory * memory, const CUDA_EXTERNAL_MEMORY_HANDLE_DESC *handle))
SAME(tcuDestroyExternalMemory, (CUexternalMemory memory))
SAME(tcuExternalMemoryGetMappedBuffer,
     (CUdeviceptr * pointer, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *buffer))
SAME(tcuExternalMemoryGetMappedMipmappedArray,
     (CUmipmappedArray * array, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC *description))
SAME(tcuMipmappedArrayGetLevel, (CUarray * array, CUmipmappedArray levels, unsigned int level))
SAME(tcuMipmappedArrayDestroy, (CUmipmappedArray levels))
SAME(tcuImportExternalSemaphore, (CUexternalSemaphore * semaphore, const CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC *handle))
SAME(tcuDestroyExternalSemaphore, (CUexternalSemaphore semaphore))
SAME(tcuSignalExternalSemaphoresAsync,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *parameters,
      unsigned int count, CUstream stream))
SAME(tcuWaitExternalSemaphoresAsync,
     (const CUexternalSemaphore *semaphores, const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *parameters, unsigned int count,
      CUstream stream))

SAME(tcuArrayCreate, (CUarray * array, const CUDA_ARRAY_DESCRIPTOR *description))
SAME(tcuArray3DCreate, (CUarray * array, const CUDA_ARRAY3D_DESCRIPTOR *description))
SAME(tcuArrayDestroy, (CUarray array))

SAME(tcuEGLStreamProducerConnect,
     (CUeglStreamConnection * connection, ffnv_EGLStreamKHR stream, ffnv_EGLint width, ffnv_EGLint height))
SAME(tcuEGLStreamProducerDisconnect, (CUeglStreamConnection * connection))
SAME(tcuEGLStreamConsumerDisconnect, (CUeglStreamConnection * connection))
SAME(tcuEGLStreamProducerPresentFrame, (CUeglStreamConnection * connection, CUeglFrame frame, CUstream *stream))
SAME(tcuEGLStreamProducerReturnFrame, (CUeglStreamConnection * connection, CUeglFrame *frame, CUstream *stream))

SAME(tcuD3D11GetDevice, (CUdevice * device, void *adapter))
SAME(tcuD3D11GetDevices,
     (unsigned int *count, CUdevice *devices, unsigned int size, void *d3d11_device, CUd3d11DeviceList list))
SAME(tcuGraphicsD3D11RegisterResource, (CUgraphicsResource * resource, void *d3d11_resource, unsigned int flags))
