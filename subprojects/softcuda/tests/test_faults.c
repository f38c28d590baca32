/* SPDX-License-Identifier: MIT */
/* Injected faults and other settings, by the control interface and by the environment that the build sets. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* SOFTCUDA_FAIL=cuCtxGetFlags:2=OUT_OF_MEMORY, cuGreenCtxCreate=999 */
TEST(test_environment_when_it_injects_a_fault_then_the_nth_call_fails)
{
    unsigned flags;
    if (cushim_driver_version() < 7000)
        skip();
    assert_cu(0, cu->CtxGetFlags_v1(&flags));
    assert_cu(2, cu->CtxGetFlags_v1(&flags));
    assert_cu(0, cu->CtxGetFlags_v1(&flags));
}

/* SOFTCUDA_DEVICES=3 */
TEST(test_environment_when_it_sets_the_number_of_devices_then_that_is_counted)
{
    int count = 0;
    assert_cu(0, cu->DeviceGetCount_v1(&count));
    assert_int_equal(count, 3);
}

static int state_of(enum cushim_slot slot, enum cushim_default_stream kind)
{
    struct cushim_slot_info info;
    assert_cu(0, cushim_slot_get_info(slot, kind, &info));
    return (int)info.state;
}

/* SOFTCUDA_HIDE=cuStreamGetPriority, cuMemFreeHost, cuCtxPopCurrent_v1, cuGreenCtxCreate */
TEST(test_environment_when_it_hides_a_function_then_not_found)
{
    cushim_fn function;
    assert_int_equal(state_of(CUSHIM_SLOT_StreamGetPriority_v1, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_MISSING);
    assert_int_equal(state_of(CUSHIM_SLOT_StreamGetPriority_v1, CUSHIM_DEFAULT_STREAM_PER_THREAD),
                     CUSHIM_STATE_MISSING);
    assert_int_equal(state_of(CUSHIM_SLOT_MemFreeHost_v1, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_MISSING);
    assert_int_equal(state_of(CUSHIM_SLOT_CtxPopCurrent_v1, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_MISSING);
    assert_int_equal(state_of(CUSHIM_SLOT_CtxPopCurrent_v2, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_NATIVE);
    assert_cu(500,
              cushim_lookup("cuStreamGetPriority", cushim_driver_version(), CUSHIM_DEFAULT_STREAM_LEGACY, &function));
    assert_int_equal(state_of(CUSHIM_SLOT_StreamGetFlags_v1, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_NATIVE);
}

TEST(test_control_when_a_call_is_wrong_then_refused_with_the_reason)
{
    static const size_t none = 0;
    static const struct {
        const char *function;
        int code;
        const char *reason;
    } rows[] = {
        {"cuMemAllok_v2", 2, "did you mean \"cuMemAlloc_v2\"?"},
        {"cuMemAlloc_v9", 2, "did you mean \"cuMemAlloc"},
        {"cuStrmQury", 2, "did you mean \"cuStreamQuery"}, /* as many letters too few as a proposal may differ by */
        {"cuStreamQuerySlowly", 2, "did you mean \"cuStreamQuery"},
        {"cuNothingLikeThat", 2, "no driver has"},
        {"", 2, "no driver has"},
        {NULL, 2, "no driver has"},
        {"cuMemAlloc", 0, "result 0"},
        {"cuMemAlloc", -1, "result -1"}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(control->fail_call(rows[i].function, 1, rows[i].code), 1);
        assert_non_null(strstr(control->refusal(), "fail_call: "));
        assert_non_null(strstr(control->refusal(), rows[i].reason));
    }
    assert_int_equal(control->register_kernel("name", NULL, NULL, 0), 1);
    assert_non_null(strstr(control->refusal(), "register_kernel: "));
    assert_int_equal(control->register_kernel("", NULL, &none, 1), 1);
    assert_int_equal(control->fail_call("cuLaunchHostFunc_v2", 1, 2), 0); /* no driver here has it, but one does */
}

TEST(test_control_when_a_plain_name_fails_then_each_version_does)
{
    CUdeviceptr memory;
    assert_int_equal(control->fail_call("cuMemAlloc", 0, 2), 0);
    assert_cu(2, cu->MemAlloc_v2(&memory, 64));
    assert_cu(2, cu->MemAlloc_v1(NULL, 64));
    control->clear_faults();
    assert_int_equal(control->fail_call("cuMemAlloc_v1", 0, 2), 0);
    assert_cu(2, cu->MemAlloc_v1(NULL, 64));
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_int_equal(control->fail_call("cuMemFree", 0, 2), 0);
    assert_cu(2, cu->MemFree_v2(memory));
    control->clear_faults();
    assert_cu(0, cu->MemFree_v2(memory));
}

/* Each call of a function fails in turn: the test of a program does this. */
TEST(test_control_when_any_function_fails_then_the_nth_call_does_and_is_named)
{
    CUdeviceptr memory = 0;
    const char *failed;
    unsigned calls = 0;
    do {
        assert_int_equal(control->fail_call("*", ++calls, 719), 0);
        CUresult result = cu->MemAlloc_v2(&memory, 64);
        if (result == CUDA_SUCCESS)
            result = cu->MemsetD8_v2(memory, 0, 64);
        failed = control->failed_call();
        assert_cu(failed == NULL ? 0 : 719, result);
        assert_string_equal(failed == NULL ? "" : failed, calls == 1   ? "cuMemAlloc_v2"
                                                          : calls == 2 ? "cuMemsetD8_v2"
                                                                       : "");
        assert_null(control->failed_call());
    } while (failed != NULL);
    assert_int_equal(calls, 3);
}

TEST(test_control_when_several_calls_of_a_function_are_to_fail_then_those_do)
{
    CUdeviceptr memory;
    for (unsigned nth = 1; nth <= 40; nth++)
        if (nth != 2)
            assert_int_equal(control->fail_call("cuMemAlloc", nth, (int)(nth + 100)), 0);
    for (unsigned nth = 1; nth <= 41; nth++)
        assert_cu(nth == 2 || nth == 41 ? 0 : nth + 100, cu->MemAlloc_v2(&memory, 64));
}

TEST(test_control_when_its_version_is_unknown_then_null)
{
    assert_null(get_control(SOFTCUDA_CONTROL_VERSION + 1));
    assert_non_null(strstr(control->refusal(), "version"));
    assert_ptr_equal(get_control(SOFTCUDA_CONTROL_VERSION), control);
}

TEST(test_control_when_a_fault_is_injected_then_only_that_call_fails)
{
    CUdeviceptr memory;
    assert_int_equal(control->fail_call("cuMemAlloc_v2", 2, 2), 0);
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_cu(2, cu->MemAlloc_v2(&memory, 64));
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
    assert_int_equal(control->fail_call("cuMemAlloc_v2", 0, 719), 0);
    assert_cu(719, cu->MemAlloc_v2(&memory, 64));
    assert_cu(719, cu->MemAlloc_v2(&memory, 64));
    control->clear_faults();
    assert_cu(0, cu->MemAlloc_v2(&memory, 64));
}

TEST(test_refused_call_when_a_file_is_named_then_it_has_the_symbol)
{
    char text[200] = "";
    CUmodule module;
    CUfunction function;
    const char *path = getenv("SOFTCUDA_REFUSED");
    FILE *file = path == NULL ? NULL : fopen(path, "w"); /* empty */
    assert_non_null(file);
    fclose(file);
    assert_cu(801, cu->MemGetAddressRange_v1(NULL, NULL, 0));
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(500, cu->ModuleGetFunction_v1(&function, module, "unregistered"));
    assert_int_equal(control->fail_call("cuMemGetAddressRange", 1, 2), 0);
    assert_cu(2, cu->MemGetAddressRange_v1(NULL, NULL, 0)); /* an injected fault is not a refusal */
    file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    assert_string_equal(text, "cuMemGetAddressRange\nunregistered\n");
}

static void CUDA_CB record_status(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status;
    support_count(data);
}

TEST(test_control_when_callbacks_are_late_then_the_stream_waits_for_them)
{
    int number = 0;
    CUstream stream = support_stream(0);
    control->delay_callbacks(500); /* longer than a busy machine takes until the query */
    assert_cu(0, cu->StreamAddCallback_v1(stream, record_status, &number, 0));
    support_sleep(20); /* without a delay, the callback is over */
    assert_cu(600, cu->StreamQuery_v1(stream));
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    assert_int_equal(support_number(&number), 1);
}

TEST(test_proc_address_when_refused_then_the_result_is_untouched)
{
    void *untouched = &untouched, *function = untouched;
    int version = cushim_driver_version();
    if (!support_has(11040))
        skip();
    assert_cu(500, cu->GetProcAddress_v1("cuNoSuch", &function, version, 0));
    assert_ptr_equal(function, untouched);
    assert_cu(1, cu->GetProcAddress_v1("cuInit", &function, version, 4));
    assert_cu(1, cu->GetProcAddress_v1(NULL, &function, version, 0));
    if (!support_has(12000))
        return;
    assert_cu(0, cu->GetProcAddress_v2("cuInit", &function, version, 3, NULL));
    assert_ptr_not_equal(function, untouched);
}

TEST(test_function_when_not_executed_then_returns_not_supported)
{
    CUarray array;
    CUDA_ARRAY_DESCRIPTOR descriptor = {16, 16, CU_AD_FORMAT_FLOAT, 1};
    assert_cu(801, cu->ArrayCreate_v2(&array, &descriptor));
}

/* SOFTCUDA_DENY=stream-ordered-allocation */
TEST(test_function_when_its_feature_is_denied_then_fails_for_both_default_streams)
{
    CUdeviceptr memory;
    if (!support_has(11020))
        skip();
    assert_cu(801, cu->MemAllocAsync_v1(&memory, 64, NULL));
    assert_cu(801, cushim_table_per_thread()->MemAllocAsync_v1(&memory, 64, NULL));
}
