/* SPDX-License-Identifier: MIT */
/* The slots of cuInit and cuGetErrorString: every program gets the diagnosis of a start that failed. */
#include "layers.h"
#include "start.h"

#if !defined(_WIN32)
#    include "crowd.h"
#endif

static CUresult answer;

static CUresult CUDAAPI init(unsigned flags)
{
    return flags == 0 ? answer : CUDA_ERROR_INVALID_VALUE;
}

static CUresult CUDAAPI error_string(CUresult error, const char **text)
{
    *text = "the driver's own text";
    return error < (CUresult)1000 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static const struct cushim_dispatch_table *load_with(struct cushim_load_options options)
{
    struct cushim_dispatch_table *hooks = mock_load("fake_12040", options);
    hooks->Init_v1 = init;
    hooks->GetErrorString_v1 = error_string;
    return cushim_table();
}

static const struct cushim_dispatch_table *load(void)
{
    return load_with((struct cushim_load_options){.max_version = 0});
}

static CUresult init_with(CUresult code)
{
    answer = code;
    return cushim_table()->Init_v1(0);
}

static const char *text_of(CUresult code)
{
    const char *text = NULL;
    assert_int_equal(cushim_table()->GetErrorString_v1(code, &text), CUDA_SUCCESS);
    return text;
}

MOCK_TEST(test_slot_when_the_driver_does_not_start_then_publishes_the_diagnosis)
{
    load();
    assert_int_equal(init_with(CUDA_ERROR_SYSTEM_NOT_READY), CUDA_ERROR_SYSTEM_NOT_READY);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_int_equal(diagnosis->reason, CUSHIM_REASON_NOT_READY);
    assert_int_equal(diagnosis->code, CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(diagnosis->path, unit_fake("fake_12040"));
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(cushim_error_last()->function, "cuInit");
    assert_string_equal(cushim_error_last()->message, diagnosis->message);
    assert_int_equal(cushim_error_set_driver(CUDA_ERROR_SYSTEM_NOT_READY, CUSHIM_SLOT_Init_v1),
                     CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(cushim_error_last()->message, diagnosis->message);
}

MOCK_TEST(test_error_string_when_a_start_failed_then_has_the_reason_of_exactly_that_code)
{
    load();
    assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), "the driver's own text");
    init_with(CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), cushim_diagnosis_get()->message);
    assert_string_equal(text_of(CUDA_ERROR_NO_DEVICE), "the driver's own text");
    assert_string_equal(text_of(CUDA_SUCCESS), "the driver's own text");
    init_with(CUDA_ERROR_DEVICE_UNAVAILABLE);
    assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), "the driver's own text");
    /* A driver that does not know the code has no text. */
    const char *text = NULL;
    init_with((CUresult)4711);
    assert_int_equal(cushim_table()->GetErrorString_v1((CUresult)4711, &text), CUDA_ERROR_INVALID_VALUE);
}

MOCK_TEST(test_slots_when_a_start_succeeds_then_nothing_is_left_of_the_failure)
{
    load();
    init_with(CUDA_ERROR_SYSTEM_NOT_READY);
    assert_int_equal(init_with(CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
    assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), "the driver's own text");
    /* Another call that fails with the code has another reason. */
    init_with(CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), "the driver's own text");
}

MOCK_TEST(test_slot_when_the_flags_are_wrong_then_that_is_no_failed_start)
{
    load();
    assert_int_equal(cushim_table()->Init_v1(1), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_SUCCESS);
    assert_string_equal(text_of(CUDA_ERROR_INVALID_VALUE), "the driver's own text");
}

MOCK_TEST(test_slot_info_when_a_driver_is_loaded_then_both_slots_are_adapted)
{
    struct cushim_slot_info info;
    load();
    FOR_EACH_KIND(kind)
    {
        assert_int_equal(cushim_slot_get_info(CUSHIM_SLOT_Init_v1, kind, &info), CUDA_SUCCESS);
        assert_int_equal(info.state, CUSHIM_STATE_ADAPTED);
        assert_null(info.symbol);
        assert_int_equal(cushim_slot_get_state(CUSHIM_SLOT_GetErrorString_v1, kind), CUSHIM_STATE_ADAPTED);
        assert_int_equal(cushim_slot_get_state(CUSHIM_SLOT_GetErrorName_v1, kind), CUSHIM_STATE_NATIVE);
    }
}

MOCK_TEST(test_lookups_when_there_is_a_version_limit_then_they_find_the_slot)
{
    static const int limits[] = {0, 11000, 7000};
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        mock_reset(state);
        load_with((struct cushim_load_options){.max_version = limits[i]});
        cushim_fn found = NULL;
        assert_int_equal(cushim_lookup("cuInit", 7000, CUSHIM_DEFAULT_STREAM_LEGACY, &found), CUDA_SUCCESS);
        assert_true(found == unit_pointer(CUSHIM_SLOT_Init_v1, CUSHIM_DEFAULT_STREAM_LEGACY));
        assert_true(cushim_symbol("cuInit") == found);
        init_with(CUDA_ERROR_SYSTEM_NOT_READY);
        assert_string_equal(text_of(CUDA_ERROR_SYSTEM_NOT_READY), cushim_diagnosis_get()->message);
    }
}

MOCK_TEST(test_init_when_cuInit_is_hidden_then_says_so)
{
    load_with((struct cushim_load_options){.hide = "cuInit"});
    assert_int_equal(cushim_slot_get_state(CUSHIM_SLOT_Init_v1, CUSHIM_DEFAULT_STREAM_LEGACY), CUSHIM_STATE_MISSING);
    assert_int_equal(init_with(CUDA_SUCCESS), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_SUCCESS);
    assert_int_equal(cushim_init(), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_BAD_OPTION);
    unit_assert_contains(cushim_diagnosis_get()->message, "CUSHIM_HIDE");
    assert_string_equal(cushim_error_last()->message, cushim_diagnosis_get()->message);
}

/* ---- Layers ---- */

static CUresult layer_answer;
static bool calls_while_installed;
static CUresult answer_while_installed;

static CUresult CUDAAPI layered_init(unsigned flags)
{
    (void)flags;
    return layer_answer;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)states, (void)kind, (void)user;
    if (calls_while_installed)
        answer_while_installed = next->Init_v1(0);
    else
        table->Init_v1 = layered_init;
    return CUDA_SUCCESS;
}

static struct cushim_layer layer = CUSHIM_LAYER("start", install, NULL);

static int begin(void **state)
{
    calls_while_installed = false;
    return layers_begin(state);
}

TEST_WITH(test_layer_when_it_answers_cuInit_then_every_way_leads_to_it, begin, NULL)
{
    CUresult(CUDAAPI * found)(unsigned);
    void *native = NULL;
    load();
    layer_answer = (CUresult)4711;
    layers_add(&layer);
    assert_int_equal(cushim_table()->Init_v1(0), 4711);
    assert_int_equal(cushim_table_legacy()->GetProcAddress_v1("cuInit", &native, 12000, 0), CUDA_SUCCESS);
    memcpy(&found, &native, sizeof found);
    assert_int_equal(found(0), 4711);
    /* The answer of a layer is a result of cushim_init(), each time, and also success. */
    layer_answer = CUDA_ERROR_DEVICE_UNAVAILABLE;
    assert_int_equal(cushim_init(), CUDA_ERROR_DEVICE_UNAVAILABLE);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_IN_USE);
    layer_answer = CUDA_ERROR_SYSTEM_NOT_READY;
    assert_int_equal(cushim_init(), CUDA_ERROR_SYSTEM_NOT_READY);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_READY);
    assert_string_equal(cushim_error_last()->function, "cushim_init");
    layer_answer = CUDA_SUCCESS;
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_SUCCESS);
    layers_stop(&layer);
}

TEST_WITH(test_slot_when_a_layer_calls_it_during_the_load_then_the_result_is_that_of_the_load, begin, NULL)
{
    load();
    answer = CUDA_ERROR_SYSTEM_NOT_READY;
    calls_while_installed = true;
    layers_add(&layer);
    assert_int_equal(answer_while_installed, CUDA_ERROR_SYSTEM_NOT_READY);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
    layers_stop(&layer);
}

/* ---- Threads ---- */

#if !defined(_WIN32)
enum { THREADS = 8, ROUNDS = 500 };
static bool is_confused;

static _Thread_local CUresult answer_of_thread;

static CUresult CUDAAPI init_of_thread(unsigned flags)
{
    (void)flags;
    return answer_of_thread;
}

static void fail_to_start(int index)
{
    answer_of_thread = index % 2 == 0 ? CUDA_ERROR_SYSTEM_NOT_READY : CUDA_ERROR_DEVICE_UNAVAILABLE;
    enum cushim_reason reason = index % 2 == 0 ? CUSHIM_REASON_NOT_READY : CUSHIM_REASON_IN_USE;
    for (int i = 0; i < ROUNDS; i++) {
        CUresult code = i % 4 < 2 ? cushim_table()->Init_v1(0) : cushim_init();
        const struct cushim_error *error = cushim_error_last();
        if (code != answer_of_thread || error->code != code
            || strcmp(error->message, cushim_reason_message(reason)) != 0)
            is_confused = true;
    }
}

MOCK_TEST(test_slot_when_threads_fail_at_the_same_time_then_each_has_its_own_reason)
{
    mock_load("fake_12040", (struct cushim_load_options){.max_version = 0})->Init_v1 = init_of_thread;
    crowd_run(THREADS, fail_to_start);
    assert_false(is_confused);
}

static void fail_in_use(int index)
{
    answer_of_thread = CUDA_ERROR_DEVICE_UNAVAILABLE;
    (void)cushim_init();
}

static void fail_elsewhere(const struct cushim_diagnosis *diagnosis)
{
    cush_start_on_failure = NULL;
    crowd_run(1, fail_in_use);
}

MOCK_TEST(test_init_when_another_thread_fails_before_it_returns_then_the_reason_is_its_own)
{
    mock_load("fake_12040", (struct cushim_load_options){.max_version = 0})->Init_v1 = init_of_thread;
    answer_of_thread = CUDA_ERROR_SYSTEM_NOT_READY;
    cush_start_on_failure = fail_elsewhere;
    assert_int_equal(cushim_init(), CUDA_ERROR_SYSTEM_NOT_READY);
    assert_string_equal(cushim_error_last()->message, cushim_reason_message(CUSHIM_REASON_NOT_READY));
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_IN_USE);
}
#endif
