/* SPDX-License-Identifier: MIT */
/* Uses of the features of kernels, processes and machines. */
#include "use.h"

#include <stdio.h>
#include <string.h>

#define PTX_BODY                                                                                                       \
    ".target sm_50\n"                                                                                                  \
    ".address_size 64\n"                                                                                               \
    ".visible .entry store(.param .u64 to, .param .u32 value)\n"                                                       \
    "{\n"                                                                                                              \
    "    .reg .b64 %address;\n"                                                                                        \
    "    .reg .b32 %value;\n"                                                                                          \
    "    ld.param.u64 %address, [to];\n"                                                                               \
    "    ld.param.u32 %value, [value];\n"                                                                              \
    "    st.u32 [%address], %value;\n"                                                                                 \
    "    ret;\n"                                                                                                       \
    "}\n"

static const char ptx[] = ".version 4.1\n" PTX_BODY;

CUresult use_load_kernel(CUfunction *out_function)
{
    CUmodule module;
    TRY(cu->ModuleLoadData_v1(&module, ptx));
    return cu->ModuleGetFunction_v1(out_function, module, "store");
}

/* Runs the kernel with launch(). */
static CUresult kernel_use(CUfunction function, CUresult (*launch)(CUfunction function, void **arguments))
{
    CUdeviceptr address = 0;
    unsigned value = 7;
    void *arguments[] = {&address, &value};
    TRY(cu->MemAlloc_v2(&address, 64));
    TRY(launch(function, arguments));
    return use_expect(address, value);
}

static CUresult launch_plain(CUfunction function, void **arguments)
{
    return cu->LaunchKernel_v1(function, 2, 1, 1, 1, 1, 1, 0, use_stream, arguments, NULL);
}

static CUresult module_use(const void *image)
{
    CUmodule module;
    CUfunction function;
    TRY(cu->ModuleLoadData_v1(&module, image));
    TRY(cu->ModuleGetFunction_v1(&function, module, "store"));
    return kernel_use(function, launch_plain);
}

CUresult use_NATIVE_CODE(void)
{
    char image[sizeof ptx];
    CUlinkState state;
    void *cubin = NULL;
    size_t size = 0;
    memcpy(image, ptx, sizeof image);
    TRY(cu->LinkCreate_v2(0, NULL, NULL, &state));
    TRY(cu->LinkAddData_v2(state, CU_JIT_INPUT_PTX, image, sizeof image, "store", 0, NULL, NULL));
    TRY(cu->LinkComplete_v1(state, &cubin, &size));
    return module_use(cubin);
}

static CUresult ptx_use(long long version)
{
    char image[sizeof ptx + 64];
    snprintf(image, sizeof image, ".version %lld.%lld\n%s", version / 10, version % 10, PTX_BODY);
    return module_use(image);
}

/* The driver compiles the version that is reported, and no newer one, unless a version limit hides what the driver is,
 * or the driver is newer than the list. */
CUresult use_PTX(void)
{
    struct cushim_feature_info info;
    CUlinkState state;
    TRY(cu->LinkCreate_v2(0, NULL, NULL, &state));
    TRY(cushim_feature_get_info(CUSHIM_FEATURE_PTX, use_device, &info));
    TRY(ptx_use(info.values[0].value));
    bool is_exact = cushim_driver_version() == cushim_diagnosis_get()->cuda_version
                    && cushim_driver_version() <= CUSHIM_LIST_VERSION;
    return !is_exact || ptx_use(info.values[0].value + 1) != CUDA_SUCCESS ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_LIBRARY_LOADING(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUfunction function;
    TRY(cu->LibraryLoadData_v1(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    TRY(cu->LibraryGetKernel_v1(&kernel, library, "store"));
    TRY(cu->KernelGetFunction_v1(&function, kernel));
    return kernel_use(function, launch_plain);
}

CUresult use_LAZY_LOADING(void)
{
    CUmoduleLoadingMode mode = (CUmoduleLoadingMode)0;
    TRY(cu->ModuleGetLoadingMode_v1(&mode));
    return mode == CU_MODULE_LAZY_LOADING ? module_use(ptx) : CUDA_ERROR_NOT_SUPPORTED;
}

static CUresult launch_cooperative(CUfunction function, void **arguments)
{
    return cu->LaunchCooperativeKernel_v1(function, 2, 1, 1, 1, 1, 1, 0, use_stream, arguments);
}

CUresult use_COOPERATIVE_LAUNCH(void)
{
    CUfunction function;
    TRY(use_load_kernel(&function));
    return kernel_use(function, launch_cooperative);
}

static CUresult launch_with(CUfunction function, void **arguments, CUlaunchAttribute *attribute)
{
    CUlaunchConfig config;
    memset(&config, 0, sizeof config);
    config.gridDimX = 2;
    config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.hStream = use_stream;
    config.attrs = attribute;
    config.numAttrs = attribute != NULL;
    return cu->LaunchKernelEx_v1(&config, function, arguments, NULL);
}

static CUresult launch_extended(CUfunction function, void **arguments)
{
    return launch_with(function, arguments, NULL);
}

CUresult use_EXTENDED_LAUNCH(void)
{
    CUfunction function;
    TRY(use_load_kernel(&function));
    return kernel_use(function, launch_extended);
}

static CUresult launch_cluster(CUfunction function, void **arguments)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    return launch_with(function, arguments, &attribute);
}

CUresult use_CLUSTERS(void)
{
    CUfunction function;
    CUlaunchConfig config;
    CUlaunchAttribute attribute;
    int clusters = 0;
    TRY(use_load_kernel(&function));
    memset(&config, 0, sizeof config);
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    attribute.value.clusterDim.x = 2;
    attribute.value.clusterDim.y = attribute.value.clusterDim.z = 1;
    config.gridDimX = 2;
    config.gridDimY = config.gridDimZ = config.blockDimX = config.blockDimY = config.blockDimZ = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    TRY(cu->OccupancyMaxActiveClusters_v1(&clusters, function, &config));
    return clusters > 0 ? kernel_use(function, launch_cluster) : USE_WRONG;
}

static CUresult launch_programmatic(CUfunction function, void **arguments)
{
    CUlaunchAttribute attribute;
    memset(&attribute, 0, sizeof attribute);
    attribute.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
    attribute.value.programmaticStreamSerializationAllowed = 1;
    TRY(launch_plain(function, arguments));
    return launch_with(function, arguments, &attribute);
}

CUresult use_PROGRAMMATIC_LAUNCH(void)
{
    CUfunction function;
    TRY(use_load_kernel(&function));
    return kernel_use(function, launch_programmatic);
}

CUresult use_TENSOR_MAPS(void)
{
    static CUtensorMap map;
    CUdeviceptr address = 0;
    cuuint64_t sizes[2] = {64, 64}, strides[1] = {256};
    cuuint32_t box[2] = {32, 32}, steps[2] = {1, 1};
    TRY(cu->MemAlloc_v2(&address, 64 * 64 * 4));
    return cu->TensorMapEncodeTiled_v1(&map, CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 2, (void *)(size_t)address, sizes,
                                       strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_NONE,
                                       CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

CUresult use_GREEN_CONTEXTS(void)
{
    CUdevResource all, part;
    CUdevResourceDesc description;
    CUgreenCtx context;
    CUstream stream;
    unsigned groups = 1;
    TRY(cu->DeviceGetDevResource_v1(use_device, &all, CU_DEV_RESOURCE_TYPE_SM));
    TRY(cu->DevSmResourceSplitByCount_v1(&part, &groups, &all, NULL, 0, 8));
    TRY(cu->DevResourceGenerateDesc_v1(&description, &part, 1));
    TRY(cu->GreenCtxCreate_v1(&context, description, use_device, CU_GREEN_CTX_DEFAULT_STREAM));
    TRY(cu->CtxFromGreenCtx_v1(&use_context, context));
    TRY(cu->CtxSetCurrent_v1(use_context));
    TRY(cu->StreamCreate_v1(&stream, CU_STREAM_NON_BLOCKING));
    return cu->StreamSynchronize_v1(stream);
}

static int logged;

static void CUDA_CB count_line(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user;
    (void)level;
    logged += message != NULL && length > 0;
}

CUresult use_ERROR_LOG(void)
{
    CUlogsCallbackHandle callback;
    TRY(cu->LogsRegisterCallback_v1(count_line, NULL, &callback));
    (void)cu->StreamQuery_v1(NULL);
    (void)cu->MemFree_v2(1);
    return logged > 0 ? CUDA_SUCCESS : USE_WRONG;
}

CUresult use_CHECKPOINTS(void)
{
    CUcheckpointLockArgs lock;
    memset(&lock, 0, sizeof lock);
    lock.timeoutMs = 5000;
    TRY(cu->CheckpointProcessLock_v1(use_other_process, &lock));
    TRY(cu->CheckpointProcessCheckpoint_v1(use_other_process, NULL));
    TRY(cu->CheckpointProcessRestore_v1(use_other_process, NULL));
    return cu->CheckpointProcessUnlock_v1(use_other_process, NULL);
}
