/* SPDX-License-Identifier: MIT */
/* The reader of CUDA_VISIBLE_DEVICES, and its sentences. */
#include "unit.h"

#include "gpu_visible.h"
#include "settings.h"

static const char *const uuids[] = {"GPU-88913974-b729-bde5-cec9-7908a6baaae2",
                                    "GPU-3f644bed-38e5-c968-467b-217d6a497735",
                                    "GPU-88913974-b729-bde5-cec9-7908a6baaae3", ""};

static struct visible_variables variables;

static void set_variables(const char *list, const char *order)
{
    variables = (struct visible_variables){.has_list = list != NULL, .has_order = order != NULL};
    snprintf(variables.list, sizeof variables.list, "%s", list != NULL ? list : "");
    snprintf(variables.order, sizeof variables.order, "%s", order != NULL ? order : "");
}

static struct visible read_list(const char *list, const char *order, int count)
{
    struct visible visible;
    set_variables(list, order);
    cush_visible_read(&variables, uuids, count, &visible);
    return visible;
}

UNIT_TEST(test_visible_when_the_setting_was_observed_then_as_the_driver)
{
    assert_true(setting_count > 200);
    for (size_t i = 0; i < setting_count; i++) {
        char list[SETTING_SIZE] = "", shown[GPU_MAX + 1] = "";
        if (settings[i].list != NULL)
            setting_expand(settings[i].list, uuids, list);
        struct visible visible = read_list(settings[i].list != NULL ? list : NULL, settings[i].order, settings[i].gpus);
        for (int j = 0; j < visible.count; j++)
            shown[j] = (char)('0' + visible.gpus[j]);
        if (visible.code != (CUresult)settings[i].code || strcmp(shown, settings[i].shown) != 0)
            fail_msg("%s: %d \"%s\", and the driver %d \"%s\"", setting_text(&settings[i]), (int)visible.code, shown,
                     settings[i].code, settings[i].shown);
    }
}

UNIT_TEST(test_visible_when_a_uuid_is_ambiguous_or_not_known_then_so_is_the_code)
{
    assert_int_equal(read_list("GPU-8", NULL, 3).remark, VISIBLE_AMBIGUOUS);
    assert_int_equal(read_list("GPU-8", NULL, 3).code, CUDA_ERROR_UNKNOWN);
    assert_int_equal(read_list("1,GPU-8", NULL, 3).code, CUDA_SUCCESS);
    assert_int_equal(read_list("GPU-3", NULL, 4).remark, VISIBLE_UUID_UNKNOWN);
    assert_int_equal(read_list("GPU-3f644bed-38e5-c968-467b-217d6a497735", NULL, 4).gpus[0], 1);
    assert_int_equal(read_list("GPU-", NULL, 4).code, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(read_list("GPU--", NULL, 4).code, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(read_list("MIG-3f644bed", NULL, 2).remark, VISIBLE_PART);
    assert_int_equal(read_list("MIG-3f644bed", NULL, 2).code, CUDA_ERROR_UNKNOWN);
}

UNIT_TEST(test_visible_when_the_number_of_gpus_is_not_known_then_only_what_holds_for_any)
{
    assert_int_equal(read_list("-1", NULL, -1).code, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(read_list("", NULL, -1).code, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(read_list("0", NULL, -1).code, CUDA_ERROR_UNKNOWN);
    assert_int_equal(read_list("GPU-8", NULL, -1).code, CUDA_ERROR_UNKNOWN);
    assert_int_equal(read_list(NULL, "x", -1).code, CUDA_ERROR_INVALID_DEVICE);
}

UNIT_TEST(test_visible_when_there_is_no_gpu_then_even_a_wrong_order_is_not_seen)
{
    assert_int_equal(read_list("0,0", "x", 0).code, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(read_list("0,0", "x", 0).remark, VISIBLE_FINE);
}

UNIT_TEST(test_sentence_when_the_list_is_a_likely_mistake_then_names_it)
{
    static const struct {
        const char *list, *order;
        const char *sentence;
    } mistakes[] = {
        {"0-3", NULL, "CUDA_VISIBLE_DEVICES=0-3 shows 1 of 2 GPUs: what follows a number is ignored."},
        {"0;1", NULL, "CUDA_VISIBLE_DEVICES=0;1 shows 1 of 2 GPUs: what follows a number is ignored."},
        {"0 1", NULL, "CUDA_VISIBLE_DEVICES=0 1 shows 1 of 2 GPUs: what follows a number is ignored."},
        {"0,7,1", NULL, "shows 1 of 2 GPUs: the list ends before \"7\", which names no GPU."},
        {"0,,1", NULL, "shows 1 of 2 GPUs: the list ends at an empty entry."},
        {"1,GPU-8", NULL, "ends before \"GPU-8\", because its first entry is a number."},
        {"GPU-3,0", NULL, "ends before \"0\", because its first entry is a UUID."},
        {"0,1,0", NULL, "CUDA_VISIBLE_DEVICES=0,1,0 names a GPU twice (\"0\")"},
        {"0", "x", "CUDA_DEVICE_ORDER=x is neither PCI_BUS_ID nor FASTEST_FIRST"},
        {"", NULL, "CUDA_VISIBLE_DEVICES hides every GPU from this program: it is empty."},
        {",0", NULL, "its first entry is empty."},
        {"2,0", NULL, "it names GPU 2, but this process can use 2 GPUs, and the first one is GPU 0."},
        {"-1", NULL, "\"-1\" is neither the number nor the UUID of a GPU."},
        {"\"0\"", NULL, "quotation marks belong to its value"},
        {"abc", NULL, "\"abc\" is neither the number nor the UUID of a GPU."},
        {"GPU-77", NULL, "no GPU here has the UUID \"GPU-77\"."},
        {"gpu-8891", NULL, "\"gpu-8891\" does not begin with GPU- in capitals, as the UUID of a GPU does."},
        {"88913974-b729-bde5-cec9-7908a6baaae2", NULL,
         "does not begin with GPU- in capitals, as the UUID of a GPU does."},
        {" GPU-8", NULL, "white space precedes the UUID."},
        {"MIG-0", NULL, "\"MIG-0\" names a part of a GPU (MIG)"},
    };
    static const char *const right[] = {"0", "1,0", "0, 1", " 0 ,1 ", "0,", "GPU-8", "GPU-3,GPU-8"};
    char text[320];
    struct visible visible;
    for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
        set_variables(mistakes[i].list, mistakes[i].order);
        cush_visible_read(&variables, uuids, 2, &visible);
        cush_visible_explain(&variables, &visible, 2, text, sizeof text);
        unit_assert_contains(text, mistakes[i].sentence);
        assert_string_not_equal(cush_visible_advice(visible.remark), "");
    }
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        assert_int_equal(read_list(right[i], NULL, 2).remark, VISIBLE_FINE);
}

/* The text of a sentence is bounded, whatever the list is. */
UNIT_TEST(test_sentence_when_the_list_is_long_then_shortened)
{
    static char list[VISIBLE_SIZE];
    char text[320];
    struct visible visible;
    for (int first = '!'; first < 127; first++) {
        memset(list, first, sizeof list - 1);
        set_variables(list, NULL);
        cush_visible_read(&variables, uuids, 2, &visible);
        cush_visible_explain(&variables, &visible, 2, text, sizeof text);
        assert_true(strlen(text) < sizeof text - 1);
    }
}
