/* SPDX-License-Identifier: MIT */
/* Invalid values in every option and every environment variable: the error names it, and the program continues. */
#include "unit.h"

#include <limits.h>
#include <stdlib.h>

static void assert_bad_option(struct cushim_load_options options, const char *culprit, const char *why)
{
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_BAD_OPTION, CUDA_ERROR_INVALID_VALUE);
    unit_assert_contains(cushim_diagnosis_get()->message, culprit);
    unit_assert_contains(cushim_diagnosis_get()->message, why);
    assert_int_equal(cushim_diagnosis_get()->attempt_count, 0);
}

static void assert_bad_variable(const char *name, const char *value, const char *why)
{
    unit_set_variable(name, value);
    unit_assert_failed(cushim_load(NULL), CUSHIM_REASON_BAD_OPTION, CUDA_ERROR_INVALID_VALUE);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    unit_assert_contains(diagnosis->message, name);
    unit_assert_contains(diagnosis->message, why);
    assert_int_equal(diagnosis->variable_count, 1);
    assert_string_equal(diagnosis->variables[0].name, name);
    assert_int_equal(strncmp(diagnosis->variables[0].value, value, 100), 0);
    assert_true(diagnosis->variables[0].is_used);
    unit_set_variable(name, NULL);
}

/* A text that repeats one letter. The caller frees it. */
static char *make_long(size_t length, char letter)
{
    char *text = malloc(length + 1);
    assert_non_null(text);
    memset(text, letter, length);
    text[length] = '\0';
    return text;
}

UNIT_TEST(test_path_when_empty_then_refused)
{
    assert_bad_option((struct cushim_load_options){.path = ""}, "The option path", "cannot be empty");
}

UNIT_TEST(test_path_when_overlong_then_refused)
{
    char *path = make_long(100000, 'a');
    assert_bad_option((struct cushim_load_options){.path = path}, "The option path", "too long");
    free(path);
}

UNIT_TEST(test_path_when_a_handle_is_given_too_then_refused)
{
    struct cushim_load_options options = {.path = unit_fake("fake_12040"), .handle = unit_open("fake_12040")};
    assert_bad_option(options, "The option path", "a handle was given as well");
}

UNIT_TEST(test_reserved_members_when_not_zero_then_refused)
{
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    for (size_t i = 0; i < sizeof options.reserved / sizeof options.reserved[0]; i++) {
        options.reserved[i] = &options;
        assert_bad_option(options, "reserved member", CUSHIM_VERSION_STRING);
        options.reserved[i] = NULL;
    }
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    options.reserved[0] = &options;
    assert_int_equal(cushim_load(&options), CUDA_ERROR_INVALID_VALUE);
    unit_assert_contains(cushim_error_last()->message, "reserved member");
}

UNIT_TEST(test_root_when_empty_or_overlong_then_refused)
{
    char *root = make_long(100000, '/');
    assert_bad_option((struct cushim_load_options){.root = ""}, "The option root", "cannot be empty");
    assert_bad_option((struct cushim_load_options){.root = root}, "The option root", "too long");
    free(root);
}

UNIT_TEST(test_versions_when_invalid_then_refused)
{
    static const int versions[] = {INT_MIN, -12040, -1, 1, 11, 12, 1999, 11021, 12035, 1000000, INT_MAX};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        char number[32];
        snprintf(number, sizeof number, "\"%d\"", versions[i]);
        assert_bad_option((struct cushim_load_options){.max_version = versions[i]}, "The option max_version", number);
        assert_bad_option((struct cushim_load_options){.min_version = versions[i]}, "The option min_version", number);
    }
}

UNIT_TEST(test_hide_when_a_name_is_unknown_then_message_names_it)
{
    static const char *const unknown[] = {"cuNoSuchThing",
                                          "StreamQuery_v0",
                                          "StreamQuery_v99",
                                          "cuStreamQuery_ptsz",
                                          "cu",
                                          "cuStreamQuery_",
                                          "c",
                                          "streamquery",
                                          "*",
                                          "%s%n"};
    for (size_t i = 0; i < sizeof unknown / sizeof unknown[0]; i++) {
        char hide[128];
        char told[128];
        snprintf(hide, sizeof hide, "cuStreamQuery,%s,StreamGetId_v1", unknown[i]);
        snprintf(told, sizeof told, "\"%s\"", unknown[i]);
        assert_bad_option((struct cushim_load_options){.hide = hide}, "The option hide", told);
    }
}

UNIT_TEST(test_hide_when_one_name_is_huge_then_it_is_refused_in_a_short_message)
{
    char *hide = make_long(1000000, 'x');
    assert_bad_option((struct cushim_load_options){.hide = hide}, "The option hide", "xxxxxxxx");
    assert_true(strlen(cushim_diagnosis_get()->message) < 500);
    free(hide);
}

UNIT_TEST(test_hide_when_it_has_no_names_then_nothing_is_hidden)
{
    static const char *const hides[] = {"", ",", ",,,,", " , \t\n,", "   "};
    for (size_t i = 0; i < sizeof hides / sizeof hides[0]; i++) {
        unit_reset(NULL);
        unit_load("fake_12040", (struct cushim_load_options){.hide = hides[i]});
        struct cushim_slot_info info;
        assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_GetProcAddress_v2, CUSHIM_DEFAULT_STREAM_LEGACY, &info),
                         CUDA_SUCCESS);
        assert_int_equal(info.state, CUSHIM_STATE_NATIVE);
    }
}

UNIT_TEST(test_hide_when_the_same_name_comes_a_thousand_times_then_it_is_hidden)
{
    static char hide[16000];
    for (int i = 0; i < 1000; i++)
        strcpy(hide + strlen(hide), "StreamGetId_v1,");
    unit_load("fake_12040", (struct cushim_load_options){.hide = hide});
    struct cushim_slot_info info;
    assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_StreamGetId_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info),
                     CUDA_SUCCESS);
    assert_int_equal(info.state, CUSHIM_STATE_MISSING);
}

/* Windows allows 32767. */
enum { HUGE_VALUE = 30000 };

UNIT_TEST(test_variables_when_empty_then_they_are_as_unset)
{
    unit_set_variable("CUSHIM_DRIVER", "");
    unit_set_variable("CUSHIM_MAX_VERSION", "");
    unit_set_variable("CUSHIM_HIDE", "");
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_diagnosis_get()->variable_count, 0);
}

UNIT_TEST(test_max_version_variable_when_written_in_either_form_then_it_is_followed)
{
    static const char *const values[] = {"11.2", "11020"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        unit_reset(state);
        unit_set_variable("CUSHIM_MAX_VERSION", values[i]);
        unit_load_plain("fake_12040");
        assert_int_equal(cushim_driver_version(), 11020);
    }
}

UNIT_TEST(test_max_version_variable_when_invalid_then_refused)
{
    static const char *const values[] = {"x",
                                         "-1",
                                         "0",
                                         "1.0",
                                         "11.",
                                         ".2",
                                         "11.2.3",
                                         " 11.2",
                                         "11.2 ",
                                         "11,2",
                                         "11.100",
                                         "11.-2",
                                         "11.2beta",
                                         "1e1",
                                         "0x0b.2",
                                         "1990",
                                         "11025",
                                         "1000000",
                                         "99999999999999999999",
                                         "11.99999999999999999999",
                                         "%s%n"};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        assert_bad_variable("CUSHIM_MAX_VERSION", values[i], values[i]);
}

UNIT_TEST(test_hide_variable_when_invalid_then_refused)
{
    assert_bad_variable("CUSHIM_HIDE", "StreamQuery_v1, nonsense", "\"nonsense\"");
    assert_bad_variable("CUSHIM_HIDE", "%s%n%s%n", "%s%n");
#if !defined(_WIN32) /* where variables are text */
    assert_bad_variable("CUSHIM_HIDE", "\x01\xff\x80", "\x01\xff\x80");
#endif
}

UNIT_TEST(test_variables_when_huge_then_refused_in_a_short_message)
{
    char *huge = make_long(HUGE_VALUE, 'x');
    assert_bad_variable("CUSHIM_HIDE", huge, "xxxx");
    assert_true(strlen(cushim_diagnosis_get()->message) < 500);
    assert_bad_variable("CUSHIM_MAX_VERSION", huge, "xxxx");
    assert_true(strlen(cushim_diagnosis_get()->message) < 500);
    assert_bad_variable("CUSHIM_DRIVER", huge, "too long");
    assert_true(strlen(cushim_diagnosis_get()->message) < 500);
    free(huge);
}

UNIT_TEST(test_variables_when_overruled_by_options_then_invalid_values_are_ignored)
{
    char *huge = make_long(HUGE_VALUE, 'x');
    unit_set_variable("CUSHIM_DRIVER", huge);
    unit_set_variable("CUSHIM_MAX_VERSION", "nonsense");
    unit_set_variable("CUSHIM_HIDE", "nonsense");
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 11020, .hide = "StreamQuery_v1"});
    free(huge);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_int_equal(diagnosis->variable_count, 3);
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        assert_false(diagnosis->variables[i].is_used);
    assert_string_equal(diagnosis->path, unit_fake("fake_12040"));
    assert_int_equal(cushim_driver_version(), 11020);
}

UNIT_TEST(test_variables_when_valid_then_used)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    unit_set_variable("CUSHIM_MAX_VERSION", "11.2");
    unit_set_variable("CUSHIM_HIDE", "StreamQuery");
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_int_equal(diagnosis->variable_count, 3);
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        assert_true(diagnosis->variables[i].is_used);
    assert_int_equal(cushim_driver_version(), 11020);
    assert_int_equal(diagnosis->cuda_version, 12040);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NOT_SUPPORTED);
}

UNIT_TEST(test_driver_variable_when_none_then_nothing_is_loaded)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    unit_assert_failed(cushim_load(NULL), CUSHIM_REASON_NOT_WANTED, CUDA_ERROR_FILE_NOT_FOUND);
    unit_assert_contains(cushim_diagnosis_get()->advice, "CUSHIM_DRIVER");
}
