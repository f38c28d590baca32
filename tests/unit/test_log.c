/* SPDX-License-Identifier: MIT */
/* The log callback receives every attempt and the outcome, and may call anything. */
#include "unit.h"

enum { MAX_LINES = 64 };

static struct {
    char lines[MAX_LINES][4096];
    int count;
    void *user;
    void (*work)(void);
} heard;

static void hear(void *user, const char *line)
{
    heard.user = user;
    assert_true(heard.count < MAX_LINES);
    snprintf(heard.lines[heard.count++], sizeof heard.lines[0], "%s", line);
    assert_null(strpbrk(line, "\r\n"));
    if (heard.work != NULL)
        heard.work();
}

static int begin(void **state)
{
    memset(&heard, 0, sizeof heard);
    return unit_reset(state);
}

#define LOG_TEST(name) TEST_WITH(name, begin, NULL)

static CUresult load_aloud(const char *path)
{
    struct cushim_load_options options = {.path = path, .log = hear, .log_user = &options};
    CUresult result = cushim_load(&options);
    assert_ptr_equal(heard.user, heard.count != 0 ? &options : NULL);
    return result;
}

/* Everything in the diagnosis is logged in its order, and the outcome comes last. */
static void assert_all_told(const char *outcome)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    int line = 0;
    for (size_t i = 0; i < diagnosis->variable_count; i++, line++) {
        unit_assert_contains(heard.lines[line], diagnosis->variables[i].name);
        unit_assert_contains(heard.lines[line], diagnosis->variables[i].value);
        assert_int_equal(strstr(heard.lines[line], "ignored") == NULL, diagnosis->variables[i].is_used);
    }
    for (size_t i = 0; i < diagnosis->attempt_count; i++, line++) {
        unit_assert_contains(heard.lines[line], diagnosis->attempts[i].path);
        unit_assert_contains(heard.lines[line], diagnosis->attempts[i].result);
    }
    assert_int_equal(heard.count, line + 1);
    assert_string_equal(heard.lines[line], outcome);
}

LOG_TEST(test_log_when_a_load_succeeds_then_logs_attempts_and_outcome)
{
    char outcome[2048];
    snprintf(outcome, sizeof outcome, "loaded %s", unit_fake("fake_12040"));
    assert_int_equal(load_aloud(unit_fake("fake_12040")), CUDA_SUCCESS);
    assert_all_told(outcome);
}

LOG_TEST(test_log_when_a_load_fails_then_logs_attempts_and_reason)
{
    assert_int_equal(load_aloud(unit_fake("not_stub")), CUDA_ERROR_STUB_LIBRARY);
    assert_all_told(cushim_diagnosis_get()->message);
}

LOG_TEST(test_log_when_the_whole_search_fails_then_logs_every_path)
{
    struct cushim_load_options options = {.root = "/no/such/root", .log = hear};
    assert_int_equal(cushim_load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    assert_all_told(cushim_diagnosis_get()->message);
}

LOG_TEST(test_log_when_variables_are_set_then_logs_them_and_whether_they_are_used)
{
    unit_set_variable("CUSHIM_DRIVER", "/no/such/driver");
    unit_set_variable("CUSHIM_MAX_VERSION", "11.2");
    char outcome[2048];
    snprintf(outcome, sizeof outcome, "loaded %s", unit_fake("fake_12040"));
    assert_int_equal(load_aloud(unit_fake("fake_12040")), CUDA_SUCCESS);
    assert_all_told(outcome);
    assert_int_equal(cushim_diagnosis_get()->variable_count, 2);
}

LOG_TEST(test_log_when_a_value_has_many_lines_then_a_line_is_still_one)
{
    unit_set_variable("CUSHIM_DRIVER", "/no\nsuch\r\ndriver");
    struct cushim_load_options options = {.log = hear};
    assert_int_equal(cushim_load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    assert_true(heard.count >= 3);
}

LOG_TEST(test_log_when_a_driver_is_already_loaded_then_logs_only_the_outcome)
{
    unit_load_plain("fake_12040");
    assert_int_equal(load_aloud(unit_fake("fake_12040")), CUDA_SUCCESS);
    assert_int_equal(heard.count, 1);
    assert_int_equal(load_aloud(unit_fake("fake_11040")), CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(heard.count, 2);
    assert_string_equal(heard.lines[1], cushim_error_last()->message);
}

LOG_TEST(test_log_when_options_are_invalid_then_logs_the_error)
{
    struct cushim_load_options options = {.max_version = 7, .log = hear};
    assert_int_equal(cushim_load(&options), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.lines[0], cushim_diagnosis_get()->message);
}

static void use_the_driver(void)
{
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
    assert_int_equal(cushim_driver_version(), 12040);
}

LOG_TEST(test_log_when_it_uses_the_driver_then_the_driver_is_loaded)
{
    heard.work = use_the_driver;
    assert_int_equal(load_aloud(unit_fake("fake_12040")), CUDA_SUCCESS);
    assert_true(heard.count >= 2);
}

static void use_the_absent(void)
{
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_STUB);
    assert_int_equal(cushim_driver_version(), 0);
}

LOG_TEST(test_log_when_nothing_was_loaded_then_the_diagnosis_is_complete)
{
    heard.work = use_the_absent;
    assert_int_equal(load_aloud(unit_fake("not_stub")), CUDA_ERROR_STUB_LIBRARY);
    assert_true(heard.count >= 2);
}

static void load_another(void)
{
    heard.work = NULL;
    unit_load_plain("fake_12040");
}

LOG_TEST(test_log_when_it_loads_another_after_a_failure_then_that_one_stays)
{
    heard.work = load_another;
    assert_int_equal(load_aloud(unit_fake("not_stub")), CUDA_ERROR_STUB_LIBRARY); /* the result of this load itself */
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
}
