/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail, one at a time, and then each together with all later ones: nothing crashes, nothing leaks
 * (checked by the sanitizer), the reported results are true, and everything works when memory is available again. Where
 * this program can replace malloc(), these are the allocations of the whole process, the dynamic loader included;
 * elsewhere only those of cushim.
 */
#include "mock.h"

#include <stdlib.h>

static struct {
    bool counts;
    bool only_one;  /* or all later ones, too */
    long countdown; /* to the allocation that fails */
    bool failed;    /* whether any allocation failed */
} memory;

static bool allocation_fails(void)
{
    if (!memory.counts || memory.countdown < 0)
        return false;
    if (memory.countdown > 0) {
        memory.countdown--;
        return false;
    }
    memory.failed = true;
    if (memory.only_one)
        memory.countdown = -1;
    return true;
}

#if defined(TAKES_THE_PLACE_OF_MALLOC)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return allocation_fails() ? NULL : __libc_realloc(old, size);
}

#else

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

#endif

/* Runs a scenario with its first allocation failing, then its second, and so on until no allocation is left to fail. */
static void with_each_failing(void (*scene)(void), void (*after)(void))
{
    for (int round = 0; round < 2; round++) {
        memory.failed = true;
        for (long turn = 0; memory.failed; turn++) {
            mock_reset(NULL);
            assert_true(turn < 10000);
            memory.failed = false;
            memory.only_one = round == 0;
            memory.countdown = turn;
            memory.counts = true;
            scene();
            memory.counts = false;
            after();
        }
    }
}

static CUresult result;
static struct cushim_load_options options_of_load;

static void load(void)
{
    result = cushim_load(&options_of_load);
}

/* After any outcome, the table is complete and agrees with the result. */
static void assert_consistent(void)
{
    const struct cushim_diagnosis *diagnosis = cushim_get_diagnosis();
    assert_int_equal(diagnosis->code, result);
    assert_non_null(diagnosis->message);
    assert_non_null(diagnosis->advice);
    if (result == CUDA_SUCCESS) {
        assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
        assert_int_equal(cushim_driver_version(), 12040);
    } else {
        assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);
        assert_string_not_equal(diagnosis->message, "");
        assert_string_not_equal(cushim_last_error()->message, "");
    }
}

static void assert_loaded_or_could_not_be_opened(void)
{
    assert_consistent();
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_OUT_OF_MEMORY)
        assert_int_equal(result, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    result = cushim_load(&options_of_load);
    assert_int_equal(result, CUDA_SUCCESS);
    assert_consistent();
}

static void test_load_when_an_allocation_fails_then_reported_and_the_next_load_succeeds(void **state)
{
    (void)state;
    options_of_load = (struct cushim_load_options){.path = unit_fake("fake_12040")};
    with_each_failing(load, assert_loaded_or_could_not_be_opened);
}

static void assert_reason_is_kept(void)
{
    assert_consistent();
    assert_int_equal(cushim_get_diagnosis()->reason, CUSHIM_REASON_NOT_FOUND);
    assert_int_equal(result, CUDA_ERROR_FILE_NOT_FOUND);
}

static void test_failing_load_when_an_allocation_fails_then_the_reason_is_kept(void **state)
{
    (void)state;
    options_of_load = (struct cushim_load_options){.root = "/no/such/root"};
    with_each_failing(load, assert_reason_is_kept);
}

static void assert_bad_option_is_told(void)
{
    assert_consistent();
    assert_int_equal(result, CUDA_ERROR_INVALID_VALUE);
}

static void test_bad_option_when_an_allocation_fails_then_still_reported(void **state)
{
    (void)state;
    options_of_load = (struct cushim_load_options){.hide = "nonsense"};
    with_each_failing(load, assert_bad_option_is_told);
}

static void load_again_with_nonsense(void)
{
    memory.counts = false;
    mock_load("fake_12040", (struct cushim_load_options){0});
    memory.counts = true;
    result = cushim_load(&options_of_load);
}

/* No options were given, so nothing can have failed or have been recorded. */
static void assert_refused_without_memory(void)
{
    assert_false(memory.failed);
    assert_int_equal(result, CUDA_ERROR_INVALID_VALUE);
    unit_assert_contains(cushim_last_error()->message, "nonsense");
}

static void test_second_load_when_it_is_refused_then_it_takes_no_memory(void **state)
{
    (void)state;
    options_of_load = (struct cushim_load_options){.hide = "nonsense"};
    with_each_failing(load_again_with_nonsense, assert_refused_without_memory);
}

static void first_call(void)
{
    memory.counts = false;
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    memory.counts = true;
    result = cushim_table()->StreamQuery_v1(NULL);
}

static void assert_called_or_absent(void)
{
    if (result != CUDA_ERROR_NO_DEVICE)
        assert_int_equal(result, FAKE_CODE(ROW_StreamQuery_v1, 0));
    result = cushim_get_diagnosis()->code;
    assert_consistent();
}

static void test_first_call_when_an_allocation_fails_then_succeeds_or_returns_no_device(void **state)
{
    (void)state;
    with_each_failing(first_call, assert_called_or_absent);
}

static int passed;

static struct cushim_layer lower, upper;

static CUresult CUDAAPI lower_query(CUstream stream)
{
    passed++;
    return cushim_layer_next(&lower, CUSHIM_DEFAULT_STREAM_LEGACY)->StreamQuery_v1(stream);
}

static CUresult CUDAAPI upper_query(CUstream stream)
{
    passed += 10;
    return cushim_layer_next(&upper, CUSHIM_DEFAULT_STREAM_LEGACY)->StreamQuery_v1(stream);
}

static CUresult layer_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                              enum cushim_default_stream kind, void *user)
{
    (void)next;
    if (kind == CUSHIM_DEFAULT_STREAM_LEGACY)
        table->StreamQuery_v1 = user == NULL ? lower_query : upper_query;
    return CUDA_SUCCESS;
}

static struct cushim_layer lower = CUSHIM_LAYER("lower", layer_install, NULL);
static struct cushim_layer upper = CUSHIM_LAYER("upper", layer_install, &upper);

static void assert_passed(int expected)
{
    passed = 0;
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
    assert_int_equal(passed, expected);
}

static void add_layer(void)
{
    memory.counts = false;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    memory.counts = true;
    result = cushim_layer_add(&upper);
}

static void assert_added_or_as_before(void)
{
    assert_int_equal(result, memory.failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    assert_passed(memory.failed ? 1 : 11);
    if (memory.failed)
        assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    assert_passed(11);
}

static void test_layer_when_an_allocation_fails_then_added_or_nothing_is_changed(void **state)
{
    (void)state;
    with_each_failing(add_layer, assert_added_or_as_before);
}

static void stop_lower_layer(void)
{
    memory.counts = false;
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    memory.counts = true;
    result = cushim_layer_stop(&lower);
}

static void assert_stopped_or_as_before(void)
{
    assert_int_equal(result, memory.failed ? CUDA_ERROR_OUT_OF_MEMORY : CUDA_SUCCESS);
    assert_passed(memory.failed ? 11 : 10);
    if (memory.failed)
        assert_int_equal(cushim_layer_stop(&lower), CUDA_SUCCESS);
    assert_passed(10);
}

static void test_layer_when_an_allocation_fails_then_stopped_or_nothing_is_changed(void **state)
{
    (void)state;
    with_each_failing(stop_lower_layer, assert_stopped_or_as_before);
}

static void load_with_layers(void)
{
    memory.counts = false;
    assert_int_equal(cushim_layer_add(&lower), CUDA_SUCCESS);
    assert_int_equal(cushim_layer_add(&upper), CUDA_SUCCESS);
    options_of_load = (struct cushim_load_options){.path = unit_fake("fake_12040")};
    memory.counts = true;
    result = cushim_load(&options_of_load);
}

static void assert_loaded_with_both_layers_or_not_at_all(void)
{
    assert_consistent();
    if (result != CUDA_SUCCESS)
        assert_true(memory.failed);
    assert_int_equal(cushim_load(&options_of_load), CUDA_SUCCESS);
    assert_passed(11);
}

static void test_load_when_an_allocation_fails_then_all_layers_or_no_driver(void **state)
{
    (void)state;
    with_each_failing(load_with_layers, assert_loaded_with_both_layers_or_not_at_all);
}

static CUresult CUDAAPI no_device(unsigned flags)
{
    (void)flags;
    return CUDA_ERROR_NO_DEVICE;
}

static void initialise(void)
{
    memory.counts = false;
    mock_load("fake_12040", (struct cushim_load_options){0})->Init_v1 = no_device;
    memory.counts = true;
    result = cushim_init();
}

static void assert_no_device_is_told(void)
{
    assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_last_error()->code, CUDA_ERROR_NO_DEVICE);
    assert_string_not_equal(cushim_last_error()->message, "");
    assert_int_not_equal(cushim_get_diagnosis()->reason, CUSHIM_REASON_NONE);
    assert_int_equal(cushim_init(), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_get_diagnosis()->code, CUDA_ERROR_NO_DEVICE);
    mock_load("fake_12040", (struct cushim_load_options){0});
}

static void test_init_when_an_allocation_fails_then_returns_its_result(void **state)
{
    (void)state;
    with_each_failing(initialise, assert_no_device_is_told);
}

static int registered;

static CUresult CUDAAPI add_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    (void)flags;
    registered++;
    callback(stream, CUDA_SUCCESS, user_data);
    return CUDA_SUCCESS;
}

static int called;

static void CUDA_CB host_function(void *user_data)
{
    (void)user_data;
    called++;
}

static void launch(void)
{
    memory.counts = false;
    mock_load("fake_9010", (struct cushim_load_options){0})->StreamAddCallback_v1 = add_callback;
    registered = called = 0;
    memory.counts = true;
    result = cushim_table()->LaunchHostFunc_v1(NULL, host_function, NULL);
}

static void assert_launched_or_not_at_all(void)
{
    if (memory.failed)
        assert_int_equal(result, CUDA_ERROR_OUT_OF_MEMORY);
    else
        assert_int_equal(result, CUDA_SUCCESS);
    assert_int_equal(registered, !memory.failed);
    assert_int_equal(called, !memory.failed);
}

static void test_host_function_when_an_allocation_fails_then_nothing_is_registered(void **state)
{
    (void)state;
    with_each_failing(launch, assert_launched_or_not_at_all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        MOCK_TEST(test_load_when_an_allocation_fails_then_reported_and_the_next_load_succeeds),
        MOCK_TEST(test_failing_load_when_an_allocation_fails_then_the_reason_is_kept),
        MOCK_TEST(test_bad_option_when_an_allocation_fails_then_still_reported),
        MOCK_TEST(test_second_load_when_it_is_refused_then_it_takes_no_memory),
        MOCK_TEST(test_first_call_when_an_allocation_fails_then_succeeds_or_returns_no_device),
        MOCK_TEST(test_layer_when_an_allocation_fails_then_added_or_nothing_is_changed),
        MOCK_TEST(test_layer_when_an_allocation_fails_then_stopped_or_nothing_is_changed),
        MOCK_TEST(test_load_when_an_allocation_fails_then_all_layers_or_no_driver),
        MOCK_TEST(test_init_when_an_allocation_fails_then_returns_its_result),
        MOCK_TEST(test_host_function_when_an_allocation_fails_then_nothing_is_registered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
