/* SPDX-License-Identifier: MIT */
#include "use.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

const struct cushim_dispatch_table *cu;
CUdevice use_device;
CUcontext use_context;
CUstream use_stream;
int use_device_count;

/* softcuda has no compiler: this function takes the place of the kernel. */
static void store(struct softcuda_launch *launch)
{
    **(unsigned *const *)launch->arguments[0] = *(const unsigned *)launch->arguments[1];
}

const struct softcuda_control *use_softcuda(void)
{
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_LAZY | RTLD_NOLOAD);
    union {
        void *object;
        softcuda_control_fn get;
    } control = {library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL};
    return control.object != NULL ? control.get(SOFTCUDA_CONTROL_VERSION) : NULL;
}

bool use_is_permitted(enum cushim_feature feature)
{
    const char *setting = getenv("NCCL_NVLS_ENABLE");
    return feature != CUSHIM_FEATURE_MULTICAST || use_softcuda() != NULL
           || (setting != NULL && strcmp(setting, "1") == 0);
}

CUresult use_enter(CUdevice device, CUcontext *out_context)
{
    if (cushim_slot_get_state(CUSHIM_SLOT_DevicePrimaryCtxRetain_v1, CUSHIM_DEFAULT_STREAM_LEGACY)
        == CUSHIM_STATE_MISSING)
        return cu->CtxCreate_v2(out_context, 0, device);
    TRY(cu->DevicePrimaryCtxRetain_v1(out_context, device));
    return cu->CtxSetCurrent_v1(*out_context);
}

CUresult use_start(int ordinal)
{
    static const size_t sizes[] = {sizeof(unsigned *), sizeof(unsigned)};
    TRY(cushim_init());
    cu = cushim_table_legacy();
    if (use_softcuda() != NULL)
        (void)use_softcuda()->register_kernel("store", store, sizes, 2);
    TRY(cu->DeviceGetCount_v1(&use_device_count));
    TRY(cu->DeviceGet_v1(&use_device, ordinal));
    TRY(use_enter(use_device, &use_context));
    return cu->StreamCreate_v1(&use_stream, CU_STREAM_NON_BLOCKING);
}
