/* SPDX-License-Identifier: MIT */
/* The slots for Direct3D 11 and WGL take the types of <d3d11.h> and of OpenGL's headers. This is compiled as C and as
 * C++, and not called. */
#include "cushim/cushim.h"

#include <d3d11.h>

DECLARE_HANDLE(HGPUNV); /* as in <GL/wglext.h> */

#ifdef __cplusplus
extern "C" {
#endif

CUresult d3d11_use(IDXGIAdapter *adapter, ID3D11Device *device, ID3D11Resource *resource, HGPUNV gpu);

CUresult d3d11_use(IDXGIAdapter *adapter, ID3D11Device *device, ID3D11Resource *resource, HGPUNV gpu)
{
    const struct cushim_dispatch_table *table = cushim_table();
    CUgraphicsResource registered;
    ID3D11Device *found;
    CUcontext context;
    CUdevice devices[2];
    unsigned count;
    CUresult result = table->D3D11GetDevice_v1(&devices[0], adapter);
    if (result == CUDA_SUCCESS)
        result = table->D3D11GetDevices_v1(&count, devices, 2, device, CU_D3D11_DEVICE_LIST_ALL);
    if (result == CUDA_SUCCESS)
        result = table->D3D11CtxCreateOnDevice_v1(&context, 0, device, devices[0]);
    if (result == CUDA_SUCCESS)
        result = table->D3D11GetDirect3DDevice_v1(&found);
    if (result == CUDA_SUCCESS)
        result = table->GraphicsD3D11RegisterResource_v1(&registered, resource, 0);
    return result == CUDA_SUCCESS ? table->WGLGetDevice_v1(&devices[1], gpu) : result;
}

#ifdef __cplusplus
}
#endif
