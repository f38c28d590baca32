/* SPDX-License-Identifier: MIT */
#include "mock.h"

static struct {
    char calls[1024];
    const char *failing;
    CUresult code;
    enum cushim_default_stream kind;
    unsigned (*counts)[2]; /* fake_calls */
} mock;

int mock_reset(void **state)
{
    memset(&mock, 0, sizeof mock);
    return unit_reset(state);
}

struct cushim_dispatch_table *mock_load_kind(const char *name, struct cushim_load_options options,
                                             enum cushim_default_stream kind)
{
    struct cushim_dispatch_table *hooks = unit_object(name, "fake_hooks");
    *hooks = *(const struct cushim_dispatch_table *)unit_object(name, "fake_first_hooks");
    mock.kind = kind;
    mock.counts = unit_object(name, "fake_calls");
    memset(mock.counts, 0, sizeof *mock.counts * ENTRY_COUNT);
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

/* Whether an entry point that has both forms was called in the form of the other kind. */
static void assert_forms(void)
{
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        if (cush_symbols_entry(index).per_thread_ending[0] != '\0' && mock.counts[index][1 - mock.kind] != 0)
            fail_msg("%s was called in the form of the other default stream", cush_symbols_entry(index).symbol);
    }
}

void mock_assert_calls(const char *calls)
{
    assert_forms();
    assert_string_equal(mock.calls, calls);
    mock.calls[0] = '\0';
}

void mock_assert_refused(CUresult result, const char *function)
{
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->function, function);
    assert_non_null(strstr(cushim_error_last()->message, " driver for CUDA "));
    mock_assert_calls("");
}
