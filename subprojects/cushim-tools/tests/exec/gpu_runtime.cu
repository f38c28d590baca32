/* SPDX-License-Identifier: MIT */
/*
 * A program of the CUDA runtime: a kernel, streams, events, a graph, cudaGetDriverEntryPoint, and with WITH_LIBRARIES
 * cuBLAS and cuFFT. It prints results that are the same in every run, and the drivers that it has mapped on stderr.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#ifdef WITH_LIBRARIES
#    include <cublas_v2.h>
#    include <cufft.h>
#endif

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code = (int)(call);                                                                                        \
        if (code != 0) {                                                                                               \
            printf("%s: %d\n", #call, code);                                                                           \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

__global__ void scale(float *to, float by, int count)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        to[i] = to[i] * by + 1;
}

static const int count = 1 << 16;

static void show(const char *name, const float *device, int elements)
{
    std::vector<float> host(elements);
    unsigned sum = 2166136261u;
    CHECK(cudaMemcpy(host.data(), device, elements * sizeof(float), cudaMemcpyDeviceToHost));
    for (size_t i = 0; i < elements * sizeof(float); i++)
        sum = (sum ^ ((unsigned char *)host.data())[i]) * 16777619u;
    printf("%s %08x\n", name, sum);
}

static float *numbers()
{
    float *device;
    std::vector<float> host(count);
    for (int i = 0; i < count; i++)
        host[i] = (float)(i % 97) / 97;
    CHECK(cudaMalloc(&device, count * sizeof(float)));
    CHECK(cudaMemcpy(device, host.data(), count * sizeof(float), cudaMemcpyHostToDevice));
    return device;
}

static void run_kernels(int launches)
{
    float *data = numbers();
    cudaStream_t stream;
    cudaEvent_t start, end;
    float time;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&end));
    CHECK(cudaEventRecord(start, stream));
    for (int i = 0; i < launches; i++)
        scale<<<count / 256, 256, 0, stream>>>(data, 0.5f, count);
    CHECK(cudaEventRecord(end, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaEventElapsedTime(&time, start, end));
    show("kernels", data, count);

    cudaGraph_t graph;
    cudaGraphExec_t executable;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    for (int i = 0; i < 8; i++)
        scale<<<count / 256, 256, 0, stream>>>(data, 0.25f, count);
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&executable, graph, 0));
    for (int i = 0; i < 10; i++)
        CHECK(cudaGraphLaunch(executable, stream));
    CHECK(cudaStreamSynchronize(stream));
    show("graph", data, count);
}

/* The runtime, cuGetProcAddress and dlsym give one address for one entry point. */
static void compare_entry_points()
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    void *runtime = NULL, *driver = NULL;
    cudaDriverEntryPointQueryResult found;
    CUdriverProcAddressQueryResult status;
    CHECK(library == NULL);
    CHECK(cudaGetDriverEntryPointByVersion("cuStreamGetCaptureInfo", &runtime, 12030, cudaEnableDefault, &found));
    decltype(&cuGetProcAddress_v2) get = (decltype(&cuGetProcAddress_v2))dlsym(library, "cuGetProcAddress_v2");
    CHECK(get("cuStreamGetCaptureInfo", &driver, 12030, CU_GET_PROC_ADDRESS_DEFAULT, &status));
    void *exported = dlsym(library, "cuStreamGetCaptureInfo_v3");
    printf("entry points %d %d\n", runtime == exported, driver == exported);
}

#ifdef WITH_LIBRARIES
static void run_libraries()
{
    float *a = numbers(), *b = numbers(), *c = numbers();
    const float one = 1, zero = 0;
    cublasHandle_t blas;
    CHECK(cublasCreate(&blas));
    CHECK(cublasSgemm(blas, CUBLAS_OP_N, CUBLAS_OP_N, 256, 256, 256, &one, a, 256, b, 256, &zero, c, 256));
    show("cublas", c, count);
    CHECK(cublasDestroy(blas));
    cufftHandle plan;
    CHECK(cufftPlan1d(&plan, count / 2, CUFFT_C2C, 1));
    CHECK(cufftExecC2C(plan, (cufftComplex *)a, (cufftComplex *)c, CUFFT_FORWARD));
    CHECK(cudaDeviceSynchronize());
    show("cufft", c, count);
    CHECK(cufftDestroy(plan));
}
#endif

static void show_drivers()
{
    char line[4096], last[4096] = "";
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps) != NULL) {
        const char *path = strchr(line, '/');
        if (path != NULL && strstr(path, "libcuda.so") != NULL && strcmp(path, last) != 0)
            fprintf(stderr, "driver: %s", strcpy(last, path));
    }
    fclose(maps);
}

int main(int argc, char **argv)
{
    run_kernels(argc > 1 ? atoi(argv[1]) : 100);
    compare_entry_points();
#ifdef WITH_LIBRARIES
    run_libraries();
#endif
    show_drivers();
    return 0;
}
