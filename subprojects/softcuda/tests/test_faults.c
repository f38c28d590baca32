/* SPDX-License-Identifier: MIT */
/* Injected faults and other settings, by the control interface and by the environment that the build sets. */
#define _POSIX_C_SOURCE 200809L
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SOFTCUDA_FAIL=cuCtxGetFlags:2=2 SOFTCUDA_HIDE=cuStreamGetPriority,cuStreamGetPriority_ptsz */
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

TEST(test_environment_when_it_hides_a_symbol_then_not_found)
{
    cushim_fn function;
    struct cushim_slot_info info;
    assert_cu(0, cushim_slot_get_info(CUSHIM_SLOT_StreamGetPriority_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info));
    assert_int_equal(info.state, CUSHIM_STATE_MISSING);
    assert_cu(500,
              cushim_lookup("cuStreamGetPriority", cushim_driver_version(), CUSHIM_DEFAULT_STREAM_LEGACY, &function));
    assert_cu(0, cushim_slot_get_info(CUSHIM_SLOT_StreamGetFlags_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info));
    assert_int_equal(info.state, CUSHIM_STATE_NATIVE);
}

TEST(test_control_when_a_fault_is_injected_then_only_that_call_fails)
{
    CUdeviceptr memory;
    assert_int_equal(control->fail_call("cuNoSuchFunction", 1, 2), 1);
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
    char path[] = "/tmp/softcuda-refused-XXXXXX", text[200] = "";
    CUmodule module;
    CUfunction function;
    close(mkstemp(path));
    setenv("SOFTCUDA_REFUSED", path, 1);
    assert_cu(801, cu->MemGetAddressRange_v1(NULL, NULL, 0));
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    assert_cu(500, cu->ModuleGetFunction_v1(&function, module, "unregistered"));
    assert_int_equal(control->fail_call("cuMemGetAddressRange", 1, 2), 0);
    assert_cu(2, cu->MemGetAddressRange_v1(NULL, NULL, 0)); /* an injected fault is not a refusal */
    unsetenv("SOFTCUDA_REFUSED");
    assert_cu(801, cu->MemGetAddressRange_v1(NULL, NULL, 0));
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fread(text, 1, sizeof text - 1, file);
    fclose(file);
    unlink(path);
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
    control->delay_callbacks(50);
    assert_cu(0, cu->StreamAddCallback_v1(stream, record_status, &number, 0));
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
