/* SPDX-License-Identifier: MIT */
/* What the driver logs about a failed call becomes the driver_message of that error, and of no other. */
#include "unit.h"

static const char newest[] = FAKE_OF_LIST_VERSION;

static struct {
    CUlogsCallback function;
    void *user;
    int registered;
} driver_log;

static CUresult CUDAAPI register_callback(CUlogsCallback function, void *user, CUlogsCallbackHandle *callback)
{
    driver_log.function = function;
    driver_log.user = user;
    driver_log.registered++;
    *callback = (CUlogsCallbackHandle)&driver_log;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI unregister_callback(CUlogsCallbackHandle callback)
{
    assert_ptr_equal(callback, &driver_log);
    driver_log.registered--;
    return CUDA_SUCCESS;
}

static void driver_says(CUlogLevel level, const char *line)
{
    char copy[1100];
    size_t length = strlen(line);
    snprintf(copy, sizeof copy, "%s and what follows", line); /* the length counts, not a null character */
    driver_log.function(driver_log.user, level, copy, length);
}

/* The lines that the next call of a hooked slot logs, separated by '|'. */
static const char *lines;

static CUresult log_and_fail(CUresult code)
{
    char line[1024];
    for (const char *rest = lines; *rest != '\0'; rest += *rest == '|') {
        size_t length = strcspn(rest, "|");
        snprintf(line, sizeof line, "%.*s", (int)length, rest);
        driver_says(CU_LOG_LEVEL_ERROR, line);
        rest += length;
    }
    return code;
}

static CUresult CUDAAPI fail_query(CUstream stream)
{
    return log_and_fail(CUDA_ERROR_INVALID_HANDLE);
}

static CUresult CUDAAPI fail_add_callback(CUstream stream, CUstreamCallback function, void *user, unsigned flags)
{
    (void)stream, (void)function, (void)user, (void)flags;
    return log_and_fail(CUDA_ERROR_INVALID_HANDLE);
}

static CUresult CUDAAPI is_not_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    *status = CU_STREAM_CAPTURE_STATUS_NONE;
    return CUDA_SUCCESS;
}

static void CUDA_CB do_nothing(void *user)
{
}

static CUresult CUDAAPI not_ready(CUstream stream)
{
    return log_and_fail(CUDA_ERROR_NOT_READY);
}

static struct cushim_dispatch_table *load(struct cushim_load_options options)
{
    struct cushim_dispatch_table *hooks = unit_object(newest, "fake_hooks");
    *hooks = *(const struct cushim_dispatch_table *)unit_object(newest, "fake_first_hooks");
    memset(&driver_log, 0, sizeof driver_log);
    hooks->LogsRegisterCallback_v1 = register_callback;
    hooks->LogsUnregisterCallback_v1 = unregister_callback;
    hooks->StreamQuery_v1 = fail_query;
    hooks->StreamAddCallback_v1 = fail_add_callback;
    unit_load(newest, options);
    return hooks;
}

static const char *message_of_query(const char *logged)
{
    lines = logged;
    assert_int_equal(CUSHIM_CALL(StreamQuery_v1, NULL), CUDA_ERROR_INVALID_HANDLE);
    assert_string_equal(cushim_error_last()->function, "cuStreamQuery");
    return cushim_error_last()->driver_message;
}

#define RETURNING "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuStreamQuery"

UNIT_TEST(test_message_when_the_call_is_logged_then_all_its_lines)
{
    load((struct cushim_load_options){0});
    assert_string_equal(message_of_query("One|Two\n|" RETURNING), "One\nTwo\n" RETURNING);
    assert_string_equal(message_of_query(RETURNING), RETURNING);
    assert_string_equal(message_of_query("Three|" RETURNING "_v2_ptsz"), "Three\n" RETURNING "_v2_ptsz");
}

UNIT_TEST(test_message_when_the_log_is_of_another_call_then_null)
{
    static const char *const others[] = {
        "",
        "One",
        "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuStreamQuery",
        "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuStreamQueryAll",
        "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuStream",
        "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from ",
        "Returning 400 from cuStreamQuery",
        ("Not " RETURNING),
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        load((struct cushim_load_options){0});
        (void)message_of_query(RETURNING); /* takes what an earlier test logged */
        assert_null(message_of_query(others[i]));
        assert_int_equal(unit_reset(NULL), 0);
    }
}

UNIT_TEST(test_message_when_it_was_used_then_a_call_without_a_log_has_none)
{
    load((struct cushim_load_options){0});
    assert_non_null(message_of_query(RETURNING));
    assert_null(message_of_query(""));
    assert_string_equal(message_of_query("One|" RETURNING), "One\n" RETURNING);
    assert_non_null(cushim_error_last()->driver_message); /* it stays until the next failure */
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_INVALID_HANDLE); /* not recorded */
    assert_string_equal(cushim_error_last()->driver_message, "One\n" RETURNING);
    cushim_error_set(CUDA_ERROR_INVALID_HANDLE, "cuStreamQuery", "A failure of another library.");
    assert_null(cushim_error_last()->driver_message);
}

UNIT_TEST(test_message_when_a_call_is_not_ready_then_it_is_not_an_error)
{
    struct cushim_dispatch_table *hooks = load((struct cushim_load_options){0});
    cushim_error_set(CUDA_ERROR_UNKNOWN, "before", "A failure.");
    hooks->StreamQuery_v1 = not_ready;
    lines = "Returning 600 (CUDA_ERROR_NOT_READY) from cuStreamQuery";
    assert_int_equal(CUSHIM_CALL(StreamQuery_v1, NULL), CUDA_ERROR_NOT_READY);
    assert_string_equal(cushim_error_last()->function, "before");
    assert_null(cushim_error_last()->driver_message);
    hooks->StreamQuery_v1 = fail_query;
    assert_string_equal(message_of_query(RETURNING), RETURNING);
}

UNIT_TEST(test_message_when_the_driver_warns_then_the_warning_is_left_out)
{
    load((struct cushim_load_options){0});
    driver_says(CU_LOG_LEVEL_WARNING, "This is slow");
    driver_log.function(driver_log.user, CU_LOG_LEVEL_ERROR, NULL, 0);
    assert_string_equal(message_of_query("One|" RETURNING), "One\n" RETURNING);
}

UNIT_TEST(test_message_when_it_is_long_then_it_is_truncated)
{
    char logged[900];
    load((struct cushim_load_options){0});
    memset(logged, 'x', sizeof logged);
    strcpy(logged + 800, "|" RETURNING);
    const char *message = message_of_query(logged);
    assert_int_equal(strlen(message), 511);
    assert_int_equal(strspn(message, "x"), 511);
    assert_string_equal(message_of_query(RETURNING), RETURNING);
}

UNIT_TEST(test_message_when_the_slot_is_a_polyfill_then_of_the_function_that_it_called)
{
    struct cushim_dispatch_table *hooks = load((struct cushim_load_options){.hide = "cuLaunchHostFunc"});
    hooks->StreamIsCapturing_v1 = is_not_capturing;
    lines = "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuStreamAddCallback";
    for (int i = 0; i < 2; i++) {
        assert_int_equal(CUSHIM_CALL(LaunchHostFunc_v1, NULL, do_nothing, NULL), CUDA_ERROR_INVALID_HANDLE);
        assert_string_equal(cushim_error_last()->function, "cuLaunchHostFunc");
        assert_string_equal(cushim_error_last()->driver_message, lines);
    }
    assert_int_equal(CUSHIM_CALL(LaunchHostFunc_v2, NULL, do_nothing, NULL, 99), CUDA_ERROR_NOT_SUPPORTED);
    assert_null(cushim_error_last()->driver_message);
}

UNIT_TEST(test_log_when_the_driver_has_none_or_it_is_hidden_then_not_registered)
{
    const struct cushim_load_options all[] = {{.hide = "cuLogsRegisterCallback"}, {.max_version = 12080}};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        load(all[i]);
        assert_int_equal(driver_log.registered, 0);
        assert_null(message_of_query(""));
        assert_int_equal(unit_reset(NULL), 0);
    }
    load((struct cushim_load_options){.max_version = 12090});
    assert_int_equal(driver_log.registered, 1);
}

UNIT_TEST(test_log_when_loaded_again_then_registered_once)
{
    load((struct cushim_load_options){0});
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(driver_log.registered, 1);
    assert_int_equal(unit_reset(NULL), 0);
    assert_int_equal(driver_log.registered, 0);
}
