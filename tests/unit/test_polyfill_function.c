/* SPDX-License-Identifier: MIT */
/* Polyfills of the number of parameters: they ask for one parameter after the other. */
#include "mock.h"

#define FUNCTION HANDLE(CUfunction, 7)
#define KERNEL HANDLE(CUkernel, 8)

/* The number of parameters in this test, and the code for the one after the last. */
static size_t parameter_count;
static CUresult code_at_the_end;

static CUresult CUDAAPI function_name(const char **name, CUfunction function)
{
    *name = "name";
    return mock_call("FuncGetName", "%u", NUMBER(function));
}

static CUresult CUDAAPI kernel_name(const char **name, CUkernel kernel)
{
    *name = "name";
    return mock_call("KernelGetName", "%u", NUMBER(kernel));
}

static CUresult describe(const char *name, unsigned handle, size_t index, size_t *offset, size_t *size)
{
    (void)mock_call(name, "%u, %u", handle, (unsigned)index);
    if (index >= parameter_count)
        return code_at_the_end;
    *offset = 4 * index;
    *size = 4;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI function_parameter(CUfunction function, size_t index, size_t *offset, size_t *size)
{
    return describe("FuncGetParamInfo", NUMBER(function), index, offset, size);
}

static CUresult CUDAAPI kernel_parameter(CUkernel kernel, size_t index, size_t *offset, size_t *size)
{
    return describe("KernelGetParamInfo", NUMBER(kernel), index, offset, size);
}

static const struct cushim_dispatch_table *load_before_13_2(void)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_12040", (struct cushim_load_options){0});
    hooks->FuncGetName_v1 = function_name;
    hooks->KernelGetName_v1 = kernel_name;
    hooks->FuncGetParamInfo_v1 = function_parameter;
    hooks->KernelGetParamInfo_v1 = kernel_parameter;
    parameter_count = 2;
    code_at_the_end = CUDA_ERROR_INVALID_VALUE;
    assert_int_equal(unit_state(CUSHIM_SLOT_FuncGetParamCount_v1), CUSHIM_STATE_POLYFILL);
    assert_int_equal(unit_state(CUSHIM_SLOT_KernelGetParamCount_v1), CUSHIM_STATE_POLYFILL);
    return cushim_table();
}

MOCK_TEST(test_parameter_count_when_there_are_some_then_they_are_counted)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    size_t count = 77;
    assert_int_equal(table->FuncGetParamCount_v1(FUNCTION, &count), CUDA_SUCCESS);
    assert_int_equal(count, 2);
    mock_assert_calls("FuncGetName(7) FuncGetParamInfo(7, 0) FuncGetParamInfo(7, 1) FuncGetParamInfo(7, 2) ");
    count = 77;
    assert_int_equal(table->KernelGetParamCount_v1(KERNEL, &count), CUDA_SUCCESS);
    assert_int_equal(count, 2);
    mock_assert_calls("KernelGetName(8) KernelGetParamInfo(8, 0) KernelGetParamInfo(8, 1) KernelGetParamInfo(8, 2) ");
}

MOCK_TEST(test_parameter_count_when_there_are_none_then_it_is_0)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    size_t of_function = 77;
    size_t of_kernel = 77;
    parameter_count = 0;
    assert_int_equal(table->FuncGetParamCount_v1(FUNCTION, &of_function), CUDA_SUCCESS);
    assert_int_equal(table->KernelGetParamCount_v1(KERNEL, &of_kernel), CUDA_SUCCESS);
    assert_int_equal(of_function, 0);
    assert_int_equal(of_kernel, 0);
}

MOCK_TEST(test_parameter_count_when_an_argument_is_null_then_refused)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    size_t count = 77;
    assert_int_equal(table->FuncGetParamCount_v1(NULL, &count), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->FuncGetParamCount_v1(FUNCTION, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->KernelGetParamCount_v1(NULL, &count), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->KernelGetParamCount_v1(KERNEL, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(count, 77);
    mock_assert_calls("");
}

/* The older function returns the same code for a wrong handle and after the last parameter. */
MOCK_TEST(test_parameter_count_when_the_handle_is_wrong_then_the_code_is_passed_on)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    size_t count = 77;
    parameter_count = 0;
    mock_fail("FuncGetName", CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(table->FuncGetParamCount_v1(FUNCTION, &count), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("FuncGetName(7) ");
    mock_fail("KernelGetName", CUDA_ERROR_INVALID_HANDLE);
    assert_int_equal(table->KernelGetParamCount_v1(KERNEL, &count), CUDA_ERROR_INVALID_HANDLE);
    mock_assert_calls("KernelGetName(8) ");
    assert_int_equal(count, 77);
}

MOCK_TEST(test_parameter_count_when_the_query_fails_then_the_code_is_passed_on)
{
    const struct cushim_dispatch_table *table = load_before_13_2();
    size_t count = 77;
    code_at_the_end = CUDA_ERROR_ILLEGAL_ADDRESS;
    assert_int_equal(table->FuncGetParamCount_v1(FUNCTION, &count), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(table->KernelGetParamCount_v1(KERNEL, &count), CUDA_ERROR_ILLEGAL_ADDRESS);
    assert_int_equal(count, 77);
}
