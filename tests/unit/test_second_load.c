/* SPDX-License-Identifier: MIT */
/* A load when a driver is already loaded: it agrees, or it names the first difference and changes nothing. */
#include "unit.h"

#include <stdlib.h>

static void assert_agrees(struct cushim_load_options options)
{
    const struct cushim_diagnosis *before = cushim_diagnosis_get();
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_ptr_equal(cushim_diagnosis_get(), before);
}

static void assert_differs(struct cushim_load_options options, CUresult code, const char *difference)
{
    const struct cushim_diagnosis *before = cushim_diagnosis_get();
    const struct cushim_dispatch_table *table = cushim_table();
    assert_int_equal(cushim_load(&options), code);
    assert_int_equal(cushim_error_last()->code, code);
    assert_string_equal(cushim_error_last()->function, "cushim_load");
    unit_assert_contains(cushim_error_last()->message, difference);
    assert_ptr_equal(cushim_table(), table);
    assert_ptr_equal(cushim_diagnosis_get(), before);
    assert_int_equal(before->code, CUDA_SUCCESS);
}

UNIT_TEST(test_second_load_when_no_options_are_given_then_agrees)
{
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 11040, .hide = "StreamQuery"});
    assert_agrees((struct cushim_load_options){0});
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(cushim_driver_version(), 11040);
}

UNIT_TEST(test_second_load_when_the_options_are_equal_then_agrees)
{
    struct cushim_load_options options = {
        .path = unit_fake("fake_12040"), .max_version = 11040, .min_version = 10000, .hide = "StreamQuery_v1"};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_agrees(options);
    options.hide = " cuStreamQuery , "; /* the same in another spelling */
    assert_agrees(options);
}

UNIT_TEST(test_second_load_when_the_file_differs_then_message_names_it)
{
    unit_load_plain("fake_12040");
    assert_differs((struct cushim_load_options){.path = unit_fake("fake_11040")}, CUDA_ERROR_NOT_PERMITTED,
                   "different library");
    assert_differs((struct cushim_load_options){.path = "/no/such/file"}, CUDA_ERROR_NOT_PERMITTED,
                   "different library");
    assert_differs((struct cushim_load_options){.path = "none"}, CUDA_ERROR_NOT_PERMITTED, "different library");
}

UNIT_TEST(test_second_load_when_the_file_is_named_in_another_way_then_it_agrees)
{
    char path[2048];
    unit_load_plain("fake_12040");
    snprintf(path, sizeof path, "%s/../fakes/./%s", FAKES, strstr(unit_fake("fake_12040"), "fake_12040"));
    assert_agrees((struct cushim_load_options){.path = path});
}

UNIT_TEST(test_second_load_when_the_handle_differs_then_message_names_it)
{
    unit_load_plain("fake_12040");
    assert_agrees((struct cushim_load_options){.handle = unit_open("fake_12040")});
    assert_differs((struct cushim_load_options){.handle = unit_open("fake_11040")}, CUDA_ERROR_NOT_PERMITTED,
                   "different library");
}

UNIT_TEST(test_second_load_when_the_first_was_by_handle_then_path_and_handle_agree)
{
    struct cushim_load_options options = {.handle = unit_open("fake_12040")};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_string_equal(cushim_diagnosis_get()->path, unit_fake("fake_12040"));
    assert_agrees(options);
    assert_agrees((struct cushim_load_options){.path = unit_fake("fake_12040")});
    assert_differs((struct cushim_load_options){.path = unit_fake("fake_11040")}, CUDA_ERROR_NOT_PERMITTED,
                   "different library");
}

UNIT_TEST(test_second_load_when_the_limit_differs_then_message_names_it)
{
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 11040});
    assert_agrees((struct cushim_load_options){.max_version = 11040});
    assert_differs((struct cushim_load_options){.max_version = 11030}, CUDA_ERROR_NOT_PERMITTED,
                   "different version limit");
    assert_differs((struct cushim_load_options){.max_version = 12040}, CUDA_ERROR_NOT_PERMITTED,
                   "different version limit");
}

UNIT_TEST(test_second_load_when_a_limit_is_at_or_above_the_driver_then_it_agrees)
{
    unit_load_plain("fake_12040");
    assert_agrees((struct cushim_load_options){.max_version = 12040});
    assert_agrees((struct cushim_load_options){.max_version = 13000});
    assert_differs((struct cushim_load_options){.max_version = 12030}, CUDA_ERROR_NOT_PERMITTED,
                   "different version limit");
}

UNIT_TEST(test_second_load_when_the_hidden_functions_differ_then_message_names_them)
{
    unit_load_plain("fake_12040");
    assert_agrees((struct cushim_load_options){.hide = ""});
    assert_differs((struct cushim_load_options){.hide = "StreamQuery"}, CUDA_ERROR_NOT_PERMITTED,
                   "different hidden functions");
    unit_reset(state);
    unit_load("fake_12040", (struct cushim_load_options){.hide = "StreamQuery"});
    assert_differs((struct cushim_load_options){.hide = "StreamGetId"}, CUDA_ERROR_NOT_PERMITTED,
                   "different hidden functions");
    assert_differs((struct cushim_load_options){.hide = "StreamQuery,StreamGetId"}, CUDA_ERROR_NOT_PERMITTED,
                   "different hidden functions");
}

UNIT_TEST(test_second_load_when_the_root_differs_then_message_names_it)
{
    unit_load_plain("fake_12040");
    assert_differs((struct cushim_load_options){.root = "/no/such/root"}, CUDA_ERROR_NOT_PERMITTED, "root");
}

UNIT_TEST(test_second_load_when_the_minimum_is_higher_then_not_supported)
{
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 11040});
    assert_agrees((struct cushim_load_options){.min_version = 11040});
    assert_differs((struct cushim_load_options){.min_version = 11050}, CUDA_ERROR_NOT_SUPPORTED,
                   "older than the requested minimum version");
}

UNIT_TEST(test_second_load_when_an_option_is_invalid_then_message_names_it)
{
    unit_load_plain("fake_12040");
    assert_differs((struct cushim_load_options){.max_version = 7}, CUDA_ERROR_INVALID_VALUE, "The option max_version");
    assert_differs((struct cushim_load_options){.hide = "nonsense"}, CUDA_ERROR_INVALID_VALUE, "nonsense");
}

/* The library keeps copies of the options, not the caller's strings. */
UNIT_TEST(test_second_load_when_the_first_ones_strings_have_changed_then_it_agrees_all_the_same)
{
    char path[1024];
    char root[] = "/first";
    char hide[] = "StreamQuery";
    snprintf(path, sizeof path, "%s", unit_fake("fake_12040"));
    struct cushim_load_options options = {.path = path, .root = root, .hide = hide};
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    memset(path, 'x', strlen(path));
    memcpy(root, "/other", sizeof root);
    memcpy(hide, "StreamGetId", sizeof hide);
    assert_agrees(
        (struct cushim_load_options){.path = unit_fake("fake_12040"), .root = "/first", .hide = "StreamQuery"});
    assert_differs((struct cushim_load_options){.path = path}, CUDA_ERROR_NOT_PERMITTED, "different library");
    assert_differs((struct cushim_load_options){.root = root}, CUDA_ERROR_NOT_PERMITTED, "root");
    assert_differs((struct cushim_load_options){.hide = hide}, CUDA_ERROR_NOT_PERMITTED, "hidden");
}

UNIT_TEST(test_second_load_when_the_variables_of_the_first_have_changed_then_it_agrees_all_the_same)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    unit_set_variable("CUSHIM_HIDE", "StreamQuery");
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_11040"));
    unit_set_variable("CUSHIM_HIDE", "StreamGetId");
    assert_agrees((struct cushim_load_options){.path = unit_fake("fake_12040"), .hide = "StreamQuery"});
    assert_differs((struct cushim_load_options){.path = unit_fake("fake_11040")}, CUDA_ERROR_NOT_PERMITTED,
                   "different library");
    assert_differs((struct cushim_load_options){.hide = "StreamGetId"}, CUDA_ERROR_NOT_PERMITTED, "hidden");
}

/* The options of the program overruled the environment at first, so the ignored part of the environment must not matter
 * now. */
UNIT_TEST(test_second_load_when_only_the_environment_differs_then_it_agrees)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_11040"));
    unit_set_variable("CUSHIM_MAX_VERSION", "11.2");
    unit_set_variable("CUSHIM_HIDE", "StreamQuery");
    unit_load("fake_12040", (struct cushim_load_options){.max_version = 12000, .hide = "StreamGetId"});
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    unit_set_variable("CUSHIM_MAX_VERSION", "nonsense");
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(cushim_driver_version(), 12000);
}

UNIT_TEST(test_second_load_when_the_path_is_not_a_file_then_refused_as_another_library)
{
    unit_load_plain("fake_12040");
    assert_int_equal(unit_load_path("/"), CUDA_ERROR_NOT_PERMITTED);
    assert_int_equal(cushim_driver_version(), 12040);
}
