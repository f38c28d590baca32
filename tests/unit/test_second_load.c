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

UNIT_TEST(test_second_load_when_its_options_are_those_of_the_first_or_fewer_then_agrees)
{
    char path[1024], other_name[2048];
    snprintf(path, sizeof path, "%s", unit_fake("fake_12040"));
    snprintf(other_name, sizeof other_name, "%s/../fakes/./%s", FAKES, strstr(path, "fake_12040"));
    const struct {
        struct cushim_load_options first, second;
    } pairs[] = {
        {{.max_version = 11040, .hide = "StreamQuery"}, {0}},
        {{.max_version = 11040, .min_version = 10000, .hide = "StreamQuery_v1"},
         {.path = path, .max_version = 11040, .min_version = 10000, .hide = "StreamQuery_v1"}},
        {{.hide = "StreamQuery_v1"}, {.hide = " cuStreamQuery , "}}, /* the same in another spelling */
        {{0}, {.path = other_name}},
        {{0}, {.handle = unit_open("fake_12040")}},
        {{.max_version = 11040}, {.max_version = 11040}},
        {{.max_version = 11040}, {.min_version = 11040}},
        {{0}, {.max_version = 12040}}, /* at or above the driver, a limit changes nothing */
        {{0}, {.max_version = 13000}},
        {{0}, {.hide = ""}},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        unit_reset(state);
        unit_load("fake_12040", pairs[i].first);
        assert_agrees(pairs[i].second);
        assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
        assert_int_equal(cushim_driver_version(), pairs[i].first.max_version != 0 ? 11040 : 12040);
    }
}

UNIT_TEST(test_second_load_when_an_option_differs_then_message_names_it)
{
    char other[1024];
    snprintf(other, sizeof other, "%s", unit_fake("fake_11040"));
    const struct {
        struct cushim_load_options first, second;
        CUresult code;
        const char *difference;
    } pairs[] = {
        {{0}, {.path = other}, CUDA_ERROR_NOT_PERMITTED, "different library"},
        {{0}, {.path = "/no/such/file"}, CUDA_ERROR_NOT_PERMITTED, "different library"},
        {{0}, {.path = "/"}, CUDA_ERROR_NOT_PERMITTED, "different library"},
        {{0}, {.path = "none"}, CUDA_ERROR_NOT_PERMITTED, "different library"},
        {{0}, {.handle = unit_open("fake_11040")}, CUDA_ERROR_NOT_PERMITTED, "different library"},
        {{0}, {.max_version = 12030}, CUDA_ERROR_NOT_PERMITTED, "different version limit"},
        {{.max_version = 11040}, {.max_version = 11030}, CUDA_ERROR_NOT_PERMITTED, "different version limit"},
        {{.max_version = 11040}, {.max_version = 12040}, CUDA_ERROR_NOT_PERMITTED, "different version limit"},
        {{0}, {.hide = "StreamQuery"}, CUDA_ERROR_NOT_PERMITTED, "different hidden functions"},
        {{.hide = "StreamQuery"}, {.hide = "StreamGetId"}, CUDA_ERROR_NOT_PERMITTED, "different hidden functions"},
        {{.hide = "StreamQuery"},
         {.hide = "StreamQuery,StreamGetId"},
         CUDA_ERROR_NOT_PERMITTED,
         "different hidden functions"},
        {{0}, {.root = "/no/such/root"}, CUDA_ERROR_NOT_PERMITTED, "root"},
        {{.max_version = 11040},
         {.min_version = 11050},
         CUDA_ERROR_NOT_SUPPORTED,
         "older than the requested minimum version"},
        {{0}, {.max_version = 7}, CUDA_ERROR_INVALID_VALUE, "The option max_version"},
        {{0}, {.hide = "nonsense"}, CUDA_ERROR_INVALID_VALUE, "nonsense"},
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        unit_reset(state);
        unit_load("fake_12040", pairs[i].first);
        assert_differs(pairs[i].second, pairs[i].code, pairs[i].difference);
    }
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
