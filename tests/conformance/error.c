/* SPDX-License-Identifier: MIT */
/* General rules: calls before cuInit, error names, versions, lookups, and calls after a fork. */
#include <stdio.h>

#if !defined(_WIN32)
#    include <sys/wait.h>
#    include <unistd.h>
#endif

#include "fixture.h"

CHECK(before_init, "error.before-init", .flags = CHECK_NO_INIT, .needs = {S(GetErrorName_v1)})
{
    int number = 0;
    void *host = NULL;
    const char *text = NULL;
    CUdevice device = 0;
    CUcontext context = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUdeviceptr memory = 0;
    unsigned flags = 0;
    expect("version", cu->DriverGetVersion_v1(&number), CUDA_SUCCESS);
    expect("error-name", cu->GetErrorName_v1(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
    expect("device-count", cu->DeviceGetCount_v1(&number), CUDA_ERROR_NOT_INITIALIZED);
    expect("device-get", cu->DeviceGet_v1(&device, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("context-current", cu->CtxGetCurrent_v1(&context), CUDA_ERROR_NOT_INITIALIZED);
    expect("context-create", cu->CtxCreate_v2(&context, 0, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("context-synchronize", cu->CtxSynchronize_v1(), CUDA_ERROR_NOT_INITIALIZED);
    expect("stream-create", cu->StreamCreate_v1(&stream, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("stream-create-null", cu->StreamCreate_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    expect("stream-query", cu->StreamQuery_v1(NULL), CUDA_ERROR_NOT_INITIALIZED);
    expect("stream-synchronize", cu->StreamSynchronize_v1(NULL), CUDA_ERROR_NOT_INITIALIZED);
    expect("stream-flags", cu->StreamGetFlags_v1(NULL, &flags), CUDA_ERROR_NOT_INITIALIZED);
    expect("stream-callback", cu->StreamAddCallback_v1(NULL, count_callback, NULL, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("event-create", cu->EventCreate_v1(&event, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("event-query-null", cu->EventQuery_v1(NULL), CUDA_ERROR_INVALID_HANDLE);
    expect("memory", cu->MemAlloc_v2(&memory, 16), CUDA_ERROR_NOT_INITIALIZED);
    expect("host-memory", cu->MemHostAlloc_v1(&host, 16, 0), CUDA_ERROR_NOT_INITIALIZED);
}

CHECK(before_init_newer, "error.before-init-newer", .flags = CHECK_NO_INIT,
      .needs = {S(DevicePrimaryCtxRetain_v1), S(StreamBeginCapture_v2), S(ThreadExchangeStreamCaptureMode_v1),
                S(GraphCreate_v1)})
{
    CUcontext context = NULL;
    CUgraph graph = NULL;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    expect("primary-retain", cu->DevicePrimaryCtxRetain_v1(&context, 0), CUDA_ERROR_NOT_INITIALIZED);
    expect("host-function", cu->LaunchHostFunc_v1(NULL, count_host_function, NULL), CUDA_ERROR_NOT_INITIALIZED);
    expect("is-capturing", cu->StreamIsCapturing_v1(NULL, &status), CUDA_ERROR_NOT_INITIALIZED);
    expect("begin-capture", cu->StreamBeginCapture_v2(NULL, mode), CUDA_ERROR_NOT_INITIALIZED);
    expect("exchange-mode", cu->ThreadExchangeStreamCaptureMode_v1(&mode), CUDA_ERROR_NOT_INITIALIZED);
    expect("graph-create", cu->GraphCreate_v1(&graph, 0), CUDA_ERROR_NOT_INITIALIZED);
}

CHECK(init, "error.init", .flags = CHECK_NO_INIT, .needs = {S(Init_v1)})
{
    expect("flags", cu->Init_v1(1), CUDA_ERROR_INVALID_VALUE);
    expect("plain", cu->Init_v1(0), CUDA_SUCCESS);
    expect("again", cu->Init_v1(0), CUDA_SUCCESS);
    expect("again-flags", cu->Init_v1(1), CUDA_ERROR_INVALID_VALUE);
}

CHECK(version, "error.version", .needs = {S(Init_v1)})
{
    int version = -1;
    expect("null", cu->DriverGetVersion_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    expect("code", cu->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    expect_number("value", version, 13000);
}

static const char *name_of(int code)
{
    static const struct {
        int code;
        const char *name;
    } all[] = {
#define CUSHIM_ERROR(name, code, sentence) {code, #name},
#include "lists/errors.inc"
    };
    size_t i = sizeof all / sizeof all[0] - 1;
    while (i > 0 && all[i].code != code)
        i--;
    return all[i].name;
}

CHECK(names, "error.name", .needs = {S(GetErrorName_v1), S(GetErrorString_v1)})
{
    static const int codes[] = {0,   1,   2,   3,   4,   34,  36,  46,  100, 101, 201, 202, 209, 214, 218, 226, 304,
                                400, 401, 402, 500, 600, 700, 701, 702, 709, 715, 716, 719, 720, 721, 800, 801, 802,
                                803, 804, 900, 901, 902, 903, 904, 905, 906, 907, 908, 909, 910, 916, 999};
    const char *text = "untouched";
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        char key[16];
        text = NULL;
        snprintf(key, sizeof key, "%d", codes[i]);
        CUresult result = cu->GetErrorName_v1((CUresult)codes[i], &text);
        expect_text(key, result == CUDA_SUCCESS && text != NULL ? text : "unknown", name_of(codes[i]));
    }
    text = "untouched";
    expect("unknown-code", cu->GetErrorName_v1((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    expect_true("unknown-gives-null", text == NULL);
    expect("unknown-code-string", cu->GetErrorString_v1((CUresult)12345, &text), CUDA_ERROR_INVALID_VALUE);
    expect("string", cu->GetErrorString_v1(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
    expect_true("string-is-there", text != NULL && text[0] != '\0');
}

/* Drivers before CUDA 13.0 answer for a version above their own (observed with drivers 470, 535, 550 and 555). */
static CUresult answer_above_own(int version)
{
    return version < 13000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CHECK(lookup, "error.lookup", .needs = {S(GetProcAddress_v2)})
{
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    int version = 0;
    void *fn = NULL;
    void *other = NULL;
    (void)cu->DriverGetVersion_v1(&version);
    expect("found", cu->GetProcAddress_v2("cuStreamQuery", &fn, version, 0, &status), CUDA_SUCCESS);
    expect_number("found-status", (long long)status, 0);
    expect_true("found-pointer", fn != NULL);
    expect("above-own", cu->GetProcAddress_v2("cuStreamQuery", &other, version + 10, 0, &status),
           answer_above_own(version));
    expect("nonsense", cu->GetProcAddress_v2("cuNoSuchFunction", &other, version, 0, &status), CUDA_SUCCESS);
    expect_number("nonsense-status", (long long)status, 1);
    expect_true("nonsense-null", other == NULL);
    expect("suffixed", cu->GetProcAddress_v2("cuStreamDestroy_v2", &other, version, 0, &status), CUDA_SUCCESS);
    expect_number("suffixed-status", (long long)status, 1);
    expect("too-early", cu->GetProcAddress_v2("cuStreamGetId", &other, 11000, 0, &status), CUDA_SUCCESS);
    expect_number("too-early-status", (long long)status, 2);
    expect_true("too-early-null", other == NULL);
    expect("unknown-flags", cu->GetProcAddress_v2("cuStreamQuery", &other, version, 64, &status),
           CUDA_ERROR_INVALID_VALUE);
    expect("version-zero", cu->GetProcAddress_v2("cuStreamQuery", &other, 0, 0, &status), CUDA_SUCCESS);
    expect("version-2000", cu->GetProcAddress_v2("cuStreamQuery", &other, 2000, 0, &status), CUDA_SUCCESS);
    expect("no-status", cu->GetProcAddress_v2("cuStreamQuery", &other, version, 0, NULL), CUDA_SUCCESS);
    expect_true("same-answer", other == fn);
    expect("legacy-flag", cu->GetProcAddress_v2("cuStreamQuery", &fn, version, 1, &status), CUDA_SUCCESS);
    expect("per-thread-flag", cu->GetProcAddress_v2("cuStreamQuery", &other, version, 2, &status), CUDA_SUCCESS);
    expect_true("flags-differ", fn != other);
}

/* The requested version selects the ABI version. */
CHECK(lookup_version, "error.lookup-version", .needs = {S(GetProcAddress_v2)})
{
    static const int versions[] = {10000, 10010, 11020, 11030, 12020, 12030};
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *found[6] = {NULL};
    int version = 0;
    (void)cu->DriverGetVersion_v1(&version);
    for (int i = 0; i < 6; i++) {
        char key[16];
        snprintf(key, sizeof key, "%d", versions[i]);
        observe(key, cu->GetProcAddress_v2("cuStreamGetCaptureInfo", &found[i], versions[i], 0, &status));
        observe_text(key_of(key, "is", NULL), found[i] == NULL                    ? "null"
                                              : i > 0 && found[i] == found[i - 1] ? "the one before"
                                                                                  : "new");
    }
    void *per_thread_form = NULL;
    expect("per-thread-6050", cu->GetProcAddress_v2("cuStreamQuery", &per_thread_form, 6050, 2, &status), CUDA_SUCCESS);
    expect_number("per-thread-6050-status", (long long)status, 2);
    void *legacy_form = NULL;
    (void)cu->GetProcAddress_v2("cuStreamQuery", &legacy_form, 6050, 1, &status);
    expect_text("per-thread-6050-is",
                per_thread_form == NULL          ? "null"
                : per_thread_form == legacy_form ? "the legacy form"
                                                 : "another form",
                "null");
}

CHECK(lookup_first, "error.lookup-v1", .needs = {S(GetProcAddress_v1)})
{
    int version = 0;
    void *fn = NULL;
    (void)cu->DriverGetVersion_v1(&version);
    expect("found", cu->GetProcAddress_v1("cuStreamQuery", &fn, version, 0), CUDA_SUCCESS);
    expect("above-own", cu->GetProcAddress_v1("cuStreamQuery", &fn, version + 10, 0), answer_above_own(version));
    expect("nonsense", cu->GetProcAddress_v1("cuNoSuchFunction", &fn, version, 0), CUDA_ERROR_NOT_FOUND);
    expect("suffixed", cu->GetProcAddress_v1("cuStreamDestroy_v2", &fn, version, 0), CUDA_ERROR_NOT_FOUND);
    expect("too-early", cu->GetProcAddress_v1("cuMemAllocAsync", &fn, 11000, 0), CUDA_ERROR_NOT_FOUND);
}

CHECK(devices, "error.device", .needs = {S(DeviceGet_v1)})
{
    int count = -1;
    int value = 0;
    char name[100] = "";
    CUdevice device;
    expect("count", cu->DeviceGetCount_v1(&count), CUDA_SUCCESS);
    expect_true("count-positive", count > 0);
    expect("count-null", cu->DeviceGetCount_v1(NULL), CUDA_ERROR_INVALID_VALUE);
    expect("get-past-end", cu->DeviceGet_v1(&device, count), CUDA_ERROR_INVALID_DEVICE);
    expect("get-negative", cu->DeviceGet_v1(&device, -1), CUDA_ERROR_INVALID_DEVICE);
    expect("get-null", cu->DeviceGet_v1(NULL, 0), CUDA_ERROR_INVALID_VALUE);
    expect("name", cu->DeviceGetName_v1(name, sizeof name, the_device), CUDA_SUCCESS);
    expect_true("name-is-there", name[0] != '\0');
    expect("name-null", cu->DeviceGetName_v1(NULL, 100, the_device), CUDA_ERROR_INVALID_VALUE);
    expect("attribute", cu->DeviceGetAttribute_v1(&value, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, the_device),
           CUDA_SUCCESS);
    expect("attribute-unknown", cu->DeviceGetAttribute_v1(&value, (CUdevice_attribute)100000, the_device),
           CUDA_ERROR_INVALID_VALUE);
    expect("attribute-null", cu->DeviceGetAttribute_v1(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, the_device),
           CUDA_ERROR_INVALID_VALUE);
    expect("attribute-bad-device", cu->DeviceGetAttribute_v1(&value, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 1000),
           CUDA_ERROR_INVALID_DEVICE);
}

#if !defined(_WIN32)
static CUresult call_init(CUstream stream)
{
    return cu->Init_v1(0);
}

static CUresult call_device_count(CUstream stream)
{
    int count = 0;
    return cu->DeviceGetCount_v1(&count);
}

static CUresult call_version(CUstream stream)
{
    int version = 0;
    return cu->DriverGetVersion_v1(&version);
}

static CUresult call_current_context(CUstream stream)
{
    CUcontext context = NULL;
    return cu->CtxGetCurrent_v1(&context);
}

static CUresult call_stream(CUstream stream)
{
    return cu->StreamQuery_v1(stream);
}

/* Makes one call in a child process. Returns its code, or the negative number of the signal that ended the child. */
static int code_in_child(CUresult (*call)(CUstream stream), CUstream stream)
{
    enum { SECONDS = 10 };
    int ends[2];
    int status = 0;
    int code = 0;
    if (pipe(ends) != 0)
        return CUDA_ERROR_OPERATING_SYSTEM;
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        code = (int)call(stream);
        _exit(write(ends[1], &code, sizeof code) == sizeof code ? 0 : 1);
    }
    close(ends[1]);
    bool answered = read(ends[0], &code, sizeof code) == sizeof code;
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child || (!answered && !WIFSIGNALED(status)))
        return CUDA_ERROR_OPERATING_SYSTEM;
    return answered ? code : -WTERMSIG(status);
}
#endif

/* Calls in a child process whose parent initialised the driver. */
CHECK(after_fork, "error.fork", .flags = CHECK_ALONE, .needs = {S(StreamCreate_v1)})
{
#if defined(_WIN32)
    check_print("error.fork", "not-applicable", "fork");
#else
    CUstream stream = stream_new();
    expect_number("init", code_in_child(call_init, stream), CUDA_ERROR_NOT_INITIALIZED);
    expect_number("device-count", code_in_child(call_device_count, stream), CUDA_ERROR_NOT_INITIALIZED);
    expect_number("version", code_in_child(call_version, stream), CUDA_SUCCESS);
    expect_number("context-current", code_in_child(call_current_context, stream), 3);
    expect_number("stream-query", code_in_child(call_stream, stream), 0);
    expect("parent-goes-on", cu->StreamSynchronize_v1(stream), CUDA_SUCCESS);
#endif
}
