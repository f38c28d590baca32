/* SPDX-License-Identifier: MIT */
/* Polyfills of contexts: each one that changes the current context restores it, on every path. */
#include "mock.h"

#define STREAM HANDLE(CUstream, 7)
#define CONTEXT HANDLE(CUcontext, 11)

/* The number of pushed contexts minus the number of popped ones. */
static int depth;

static CUresult CUDAAPI push(CUcontext context)
{
    CUresult result = mock_call("Push", "%u", NUMBER(context));
    depth += result == CUDA_SUCCESS;
    return result;
}

static CUresult CUDAAPI pop(CUcontext *context)
{
    depth--;
    *context = CONTEXT;
    return mock_call("Pop", " ");
}

static CUresult CUDAAPI get_device(CUdevice *device)
{
    CUresult result = mock_call("GetDevice", " ");
    if (result == CUDA_SUCCESS)
        *device = 3;
    return result;
}

static CUresult CUDAAPI synchronize(void)
{
    return mock_call("Synchronize", " ");
}

static CUresult CUDAAPI stream_context(CUstream stream, CUcontext *context)
{
    CUresult result = mock_call("GetCtx", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *context = CONTEXT;
    return result;
}

static CUresult CUDAAPI create_v2(CUcontext *context, unsigned flags, CUdevice device)
{
    CUresult result = mock_call("Create_v2", "%u, %d", flags, device);
    if (result == CUDA_SUCCESS)
        *context = CONTEXT;
    return result;
}

static CUresult CUDAAPI create_v3(CUcontext *context, CUexecAffinityParam *params, int count, unsigned flags,
                                  CUdevice device)
{
    CUresult result = mock_call("Create_v3", "%u, %d, %u, %d", NUMBER(params), count, flags, device);
    if (result == CUDA_SUCCESS)
        *context = CONTEXT;
    return result;
}

static CUresult CUDAAPI primary_release(CUdevice device)
{
    return mock_call("Release", "%d", device);
}

static CUresult CUDAAPI primary_set_flags(CUdevice device, unsigned flags)
{
    return mock_call("SetFlags", "%d, %u", device, flags);
}

static const struct cushim_dispatch_table *load(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->CtxPushCurrent_v2 = push;
    hooks->CtxPopCurrent_v2 = pop;
    hooks->CtxGetDevice_v1 = get_device;
    hooks->CtxSynchronize_v1 = synchronize;
    hooks->StreamGetCtx_v1 = stream_context;
    hooks->CtxCreate_v2 = create_v2;
    hooks->CtxCreate_v3 = create_v3;
    hooks->DevicePrimaryCtxRelease_v1 = primary_release;
    hooks->DevicePrimaryCtxSetFlags_v1 = primary_set_flags;
    depth = 0;
    return cushim_table();
}

MOCK_TEST(test_context_device_when_a_context_is_given_then_pushes_and_pops_it)
{
    const struct cushim_dispatch_table *table = load("fake_12040");
    CUdevice device = -1;
    assert_int_equal(table->CtxGetDevice_v2(&device, CONTEXT), CUDA_SUCCESS);
    mock_assert_calls("Push(11) GetDevice( ) Pop( ) ");
    assert_int_equal(device, 3);
    assert_int_equal(table->CtxSynchronize_v2(CONTEXT), CUDA_SUCCESS);
    mock_assert_calls("Push(11) Synchronize( ) Pop( ) ");
}

MOCK_TEST(test_context_device_when_no_context_is_given_then_queries_the_current_one)
{
    const struct cushim_dispatch_table *table = load("fake_12040");
    CUdevice device = -1;
    assert_int_equal(table->CtxGetDevice_v2(&device, NULL), CUDA_SUCCESS);
    mock_assert_calls("GetDevice( ) ");
    assert_int_equal(device, 3);
    assert_int_equal(table->CtxSynchronize_v2(NULL), CUDA_SUCCESS);
    mock_assert_calls("Synchronize( ) ");
}

MOCK_TEST(test_context_device_when_a_step_fails_then_returns_the_error_and_pops_the_context)
{
    static const char *const steps[] = {"Push", "GetDevice", "Synchronize", "Pop"};
    const struct cushim_dispatch_table *table = load("fake_12040");
    for (size_t i = 0; i < 4; i++) {
        CUdevice device = -1;
        mock_fail(steps[i], CUDA_ERROR_INVALID_CONTEXT);
        CUresult got = table->CtxGetDevice_v2(&device, CONTEXT);
        assert_int_equal(got, strcmp(steps[i], "Synchronize") == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
        assert_int_equal(device, got == CUDA_SUCCESS ? 3 : -1);
        got = table->CtxSynchronize_v2(CONTEXT);
        assert_int_equal(got, strcmp(steps[i], "GetDevice") == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_CONTEXT);
        assert_int_equal(depth, 0);
    }
}

MOCK_TEST(test_context_device_when_output_pointer_is_null_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_12040");
    assert_int_equal(table->CtxGetDevice_v2(NULL, CONTEXT), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->StreamGetDevice_v1(STREAM, NULL), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
}

MOCK_TEST(test_stream_device_when_queried_then_pushes_and_pops_its_context)
{
    const struct cushim_dispatch_table *table = load("fake_12040");
    CUdevice device = -1;
    assert_int_equal(table->StreamGetDevice_v1(STREAM, &device), CUDA_SUCCESS);
    mock_assert_calls("GetCtx(7) Push(11) GetDevice( ) Pop( ) ");
    assert_int_equal(device, 3);
}

MOCK_TEST(test_stream_device_when_a_step_fails_then_returns_the_error_and_pops_the_context)
{
    static const char *const steps[] = {"GetCtx", "Push", "GetDevice", "Pop"};
    static const char *const calls[] = {"GetCtx(7) ", "GetCtx(7) Push(11) ", "GetCtx(7) Push(11) GetDevice( ) Pop( ) ",
                                        "GetCtx(7) Push(11) GetDevice( ) Pop( ) "};
    const struct cushim_dispatch_table *table = load("fake_12040");
    for (size_t i = 0; i < 4; i++) {
        CUdevice device = -1;
        mock_fail(steps[i], CUDA_ERROR_INVALID_HANDLE);
        assert_int_equal(table->StreamGetDevice_v1(STREAM, &device), CUDA_ERROR_INVALID_HANDLE);
        mock_assert_calls(calls[i]);
        assert_int_equal(device, -1);
        assert_int_equal(depth, 0);
    }
}

MOCK_TEST(test_context_create_when_no_parameters_are_given_then_calls_the_older_version)
{
    CUcontext context = NULL;
    const struct cushim_dispatch_table *table = load("fake_11000");
    assert_int_equal(table->CtxCreate_v3(&context, NULL, 0, 8, 2), CUDA_SUCCESS);
    assert_int_equal(NUMBER(context), 11);
    assert_int_equal(table->CtxCreate_v4(&context, NULL, 8, 2), CUDA_SUCCESS);
    CUctxCreateParams none;
    memset(&none, 0, sizeof none);
    assert_int_equal(table->CtxCreate_v4(&context, &none, 8, 2), CUDA_SUCCESS);
    mock_assert_calls("Create_v2(8, 2) Create_v2(8, 2) Create_v2(8, 2) ");
    mock_reset(state);
    table = load("fake_12040");
    assert_int_equal(table->CtxCreate_v4(&context, NULL, 8, 2), CUDA_SUCCESS);
    mock_assert_calls("Create_v3(0, 0, 8, 2) ");
}

MOCK_TEST(test_context_create_when_parameters_are_given_then_passes_them_on_or_refuses)
{
    CUcontext context = NULL;
    CUexecAffinityParam affinity;
    CUctxCreateParams params;
    memset(&affinity, 0, sizeof affinity);
    memset(&params, 0, sizeof params);
    params.execAffinityParams = &affinity;
    params.numExecAffinityParams = 1;

    const struct cushim_dispatch_table *table = load("fake_12040");
    char calls[64];
    snprintf(calls, sizeof calls, "Create_v3(%u, 1, 8, 2) ", NUMBER(&affinity));
    assert_int_equal(table->CtxCreate_v4(&context, &params, 8, 2), CUDA_SUCCESS);
    mock_assert_calls(calls);
    params.cigParams = HANDLE(CUctxCigParam *, 1);
    context = NULL;
    mock_assert_refused(table->CtxCreate_v4(&context, &params, 8, 2), "cuCtxCreate_v4");
    assert_null(context);

    mock_reset(state);
    table = load("fake_11000");
    params.cigParams = NULL;
    mock_assert_refused(table->CtxCreate_v3(&context, &affinity, 1, 8, 2), "cuCtxCreate_v3");
    mock_assert_refused(table->CtxCreate_v4(&context, &params, 8, 2), "cuCtxCreate_v4");
    assert_null(context);
    params.numExecAffinityParams = -1; /* counts as none */
    assert_int_equal(table->CtxCreate_v3(&context, &affinity, -1, 8, 2), CUDA_SUCCESS);
    assert_int_equal(table->CtxCreate_v4(&context, &params, 8, 2), CUDA_SUCCESS);
    mock_assert_calls("Create_v2(8, 2) Create_v2(8, 2) ");
}

MOCK_TEST(test_context_create_when_the_older_one_fails_then_the_code_is_passed_on)
{
    CUcontext context = NULL;
    const struct cushim_dispatch_table *table = load("fake_11000");
    mock_fail("Create_v2", CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(table->CtxCreate_v3(&context, NULL, 0, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_int_equal(table->CtxCreate_v4(&context, NULL, 0, 0), CUDA_ERROR_OUT_OF_MEMORY);
    assert_null(context);
}

MOCK_TEST(test_primary_context_when_released_then_the_older_one_is_called)
{
    const struct cushim_dispatch_table *table = load("fake_10010");
    assert_int_equal(table->DevicePrimaryCtxRelease_v2(2), CUDA_SUCCESS);
    mock_assert_calls("Release(2) ");
    mock_fail("Release", CUDA_ERROR_INVALID_DEVICE);
    assert_int_equal(table->DevicePrimaryCtxRelease_v2(2), CUDA_ERROR_INVALID_DEVICE);
}

MOCK_TEST(test_primary_context_when_its_flags_cannot_be_changed_while_active_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_10010");
    assert_int_equal(table->DevicePrimaryCtxSetFlags_v2(2, 4), CUDA_SUCCESS);
    mock_assert_calls("SetFlags(2, 4) ");
    mock_fail("SetFlags", CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE);
    assert_int_equal(table->DevicePrimaryCtxSetFlags_v2(2, 4), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->function, "cuDevicePrimaryCtxSetFlags_v2");
    mock_fail("SetFlags", CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->DevicePrimaryCtxSetFlags_v2(2, 4), CUDA_ERROR_INVALID_VALUE);
}
