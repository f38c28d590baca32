/* SPDX-License-Identifier: MIT */
#include "mock.h"

static struct {
    char calls[1024];
    const char *failing;
    CUresult code;
} mock;

int mock_reset(void **state)
{
    memset(&mock, 0, sizeof mock);
    return unit_reset(state);
}

struct cushim_dispatch_table *mock_load(const char *name, struct cushim_load_options options)
{
    struct cushim_dispatch_table *hooks = unit_object(name, "fake_hooks");
    *hooks = *(const struct cushim_dispatch_table *)unit_object(name, "fake_first_hooks");
    unit_load(name, options);
    return hooks;
}

void mock_fail(const char *function, CUresult code)
{
    mock.failing = function;
    mock.code = code;
}

CUresult mock_call(const char *function, const char *arguments, ...)
{
    size_t used = strlen(mock.calls);
    va_list list;
    used += (size_t)snprintf(mock.calls + used, sizeof mock.calls - used, "%s(", function);
    va_start(list, arguments);
    used += (size_t)vsnprintf(mock.calls + used, sizeof mock.calls - used, arguments, list);
    va_end(list);
    snprintf(mock.calls + used, sizeof mock.calls - used, ") ");
    return mock.failing != NULL && strcmp(mock.failing, function) == 0 ? mock.code : CUDA_SUCCESS;
}

void mock_assert_calls(const char *calls)
{
    assert_string_equal(mock.calls, calls);
    mock.calls[0] = '\0';
}

void mock_assert_refused(CUresult result, const char *function)
{
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_last_error()->code, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_last_error()->function, function);
    assert_string_not_equal(cushim_last_error()->message, "");
    mock_assert_calls("");
}
