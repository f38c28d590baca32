/* SPDX-License-Identifier: MIT */
/* Conditions on the driver, and cushim_choose(). tests/conditions.tsv has every form of a condition, for the tests of
 * the program. */
#include "condition_facts.h"
#include "unit.h"

static CUresult require(const char *condition)
{
    return cushim_require(&condition, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL);
}

UNIT_TEST(test_require_when_conditions_are_on_the_driver_then_it_needs_no_start)
{
    static const char *const names[] = {"11.0",       "cuda>=11.4",  "StreamQuery_v1",
                                        "driver<515", "driver>=460", "cuda<11.4"};
    const char *unmet = NULL;
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(names, 5, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_SUCCESS);
    assert_null(unmet);
    assert_int_equal(cushim_require(names, 6, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(unmet, names[5]);
    assert_string_equal(cushim_error_last()->function, "cushim_require");
    assert_string_equal(cushim_error_last()->message, "cuda<11.4 is required; the driver is for CUDA 11.4.");
    assert_int_equal(require("12.0"), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->message, "CUDA 12.0 is required; the driver is for CUDA 11.4.");
}

UNIT_TEST(test_require_when_the_release_decides_and_is_not_known_then_not_met_either_way)
{
    unit_load_plain("fake_11040");
    assert_int_equal(require("driver>=470.57"), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_error_last()->message, "of a release that is not known");
    assert_int_equal(require("driver<470.57"), CUDA_ERROR_NOT_SUPPORTED);
}

UNIT_TEST(test_require_when_a_version_is_limited_then_the_limit_decides)
{
    unit_load("fake_11040", (struct cushim_load_options){.max_version = 11000});
    assert_int_equal(require("11.1"), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_error_last()->message, "is limited to CUDA 11.0");
    assert_int_equal(require("driver>=470"), CUDA_ERROR_NOT_SUPPORTED);
}

UNIT_TEST(test_require_when_a_later_condition_is_wrong_then_it_is_named_first)
{
    static const char *const names[] = {"StreamGetId_v1", "arch>=75"};
    const char *unmet = NULL;
    unit_load_plain("fake_11040");
    assert_int_equal(cushim_require(names, 2, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(unmet, names[1]);
    assert_string_equal(cushim_error_last()->message, "\"arch>=75\" is not a condition such as arch>=7.5.");
}

UNIT_TEST(test_require_when_it_is_on_gpus_before_the_start_then_not_initialized)
{
    unit_load_plain("fake_11040");
    ((struct cushim_dispatch_table *)unit_object("fake_11040", "fake_hooks"))->DeviceGetCount_v1 = NULL;
    CUresult result = require("arch>=7.5");
    assert_int_not_equal(result, CUDA_SUCCESS);
    unit_assert_contains(cushim_error_last()->message, "The GPUs are not known");
}

UNIT_TEST(test_choose_when_no_driver_exists_then_only_a_build_without_conditions_fits)
{
    const char *name = "untouched";
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_choose("cu12: cuda>=12.0", &name), CUDA_ERROR_NOT_FOUND);
    assert_string_equal(name, "untouched");
    assert_string_equal(cushim_error_last()->function, "cushim_choose");
    unit_assert_contains(cushim_error_last()->message, "cu12: ");
    assert_int_equal(cushim_choose("cu12: cuda>=12.0; cpu", &name), CUDA_SUCCESS);
    assert_string_equal(name, "cpu");
}

UNIT_TEST(test_choose_when_a_list_is_wrong_then_refused_and_nothing_is_loaded)
{
    static const struct {
        const char *list;
        CUresult expected;
    } rows[] = {
        {"cpu; gpu: arch>=75", CUDA_ERROR_INVALID_VALUE},
        {"", CUDA_ERROR_INVALID_VALUE},
        {"a;;b", CUDA_ERROR_INVALID_VALUE},
        {"a,b", CUDA_ERROR_INVALID_VALUE},
        {": cuda>=12.0", CUDA_ERROR_INVALID_VALUE},
        {"cpu; a: cuNoSuchFunction", CUDA_ERROR_NOT_FOUND},
        {"a2345678901234567890123456789012345678901234567890123456789012345; cpu", CUDA_ERROR_INVALID_VALUE},
        {NULL, CUDA_ERROR_INVALID_VALUE},
    };
    const char *name = "untouched";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_int_equal(cushim_choose(rows[i].list, &name), rows[i].expected);
    assert_int_equal(cushim_choose("cpu", NULL), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(name, "untouched");
    assert_int_equal(cushim_diagnosis_get()->attempt_count, 0);
}

UNIT_TEST(test_conditions_when_they_are_met_by_different_gpus_then_not_met)
{
    struct condition_facts facts = {
        .cuda_version = 12040, .gpu_count = 2, .gpus = {{9000, 1u << 30}, {8000, 1ull << 34}}};
    char message[CONDITION_MESSAGE_SIZE];
    const char *const one[] = {"arch>=9.0 memory>=16G"}, *const two[] = {"arch>=9.0", "memory>=16G"};
    const char *const met[] = {"arch>=8.0", "memory>=16G"};
    size_t index = 7;
    assert_int_equal(cush_conditions_judge(one, 1, &facts, &index, message, sizeof message), CONDITION_UNMET);
    assert_int_equal(cush_conditions_judge(two, 2, &facts, &index, message, sizeof message), CONDITION_UNMET);
    assert_int_equal(index, 0);
    assert_int_equal(cush_conditions_judge(met, 2, &facts, &index, message, sizeof message), CONDITION_MET);
    facts.gpus[1].memory = 0;
    assert_int_equal(cush_conditions_judge(met, 2, &facts, &index, message, sizeof message), CONDITION_NOT_KNOWN);
}

UNIT_TEST(test_facts_when_a_machine_is_described_then_nothing_else_is_known)
{
    struct condition_facts facts;
    char message[CONDITION_MESSAGE_SIZE];
    const char *list = "driver>=550.54 arch>=8.0";
    size_t unused;
    assert_true(cush_condition_read_facts("driver=550.54.14, arch=8.0", &facts, message, sizeof message));
    assert_int_equal(facts.cuda_version, 12040);
    assert_int_equal(cush_conditions_judge(&list, 1, &facts, &unused, message, sizeof message), CONDITION_MET);
    list = "memory>=8G";
    assert_int_equal(cush_conditions_judge(&list, 1, &facts, &unused, message, sizeof message), CONDITION_NOT_KNOWN);
    list = "memory>=8G cuda>=13.0";
    assert_int_equal(cush_conditions_judge(&list, 1, &facts, &unused, message, sizeof message), CONDITION_UNMET);
    assert_true(cush_condition_read_facts("cuda=12.4", &facts, message, sizeof message));
    list = "arch>=8.0";
    assert_int_equal(cush_conditions_judge(&list, 1, &facts, &unused, message, sizeof message), CONDITION_NOT_KNOWN);
    static const char *const wrong[] = {"",      "driver=12.4", "driver=299",  "arch=80",  "550",
                                        "gpu=1", "driver=",     "driver>=550", "cuda=12;", "driver=998"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        assert_false(cush_condition_read_facts(wrong[i], &facts, message, sizeof message));
}

UNIT_TEST(test_conditions_when_the_driver_does_not_meet_them_then_its_release_is_as_it_was_read)
{
    static const char *const releases[] = {"390", "390.157", "418.226.00", "550.54.14"};
    const char *list = "driver>=900";
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++) {
        struct condition_facts facts;
        char machine[32], message[CONDITION_MESSAGE_SIZE], expected[64];
        size_t unused;
        snprintf(machine, sizeof machine, "driver=%s", releases[i]);
        snprintf(expected, sizeof expected, "; the driver is %s, for CUDA ", releases[i]);
        assert_true(cush_condition_read_facts(machine, &facts, message, sizeof message));
        assert_int_equal(cush_conditions_judge(&list, 1, &facts, &unused, message, sizeof message), CONDITION_UNMET);
        unit_assert_contains(message, expected);
    }
}
