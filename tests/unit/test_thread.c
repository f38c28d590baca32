/* SPDX-License-Identifier: MIT */
/* Many threads at the same time, above all in the first call. To be run under ThreadSanitizer, too. POSIX only. */
#include "unit.h"

#include <pthread.h>

#include "crowd.h"
#include "directory.h"

enum { THREADS = 64 };

static int constructed;

/* Fakes with a constructor call it. */
__attribute__((visibility("default"))) void fake_driver_constructed(void)
{
    __atomic_fetch_add(&constructed, 1, __ATOMIC_RELAXED);
}

static CUresult results[THREADS];

static void assert_all(CUresult expected)
{
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(results[i], expected);
}

static void fail_in_an_own_way(int index)
{
    static const enum cushim_slot slots[] = {CUSHIM_SLOT_StreamGetId_v1, CUSHIM_SLOT_StreamBeginCaptureToGraph_v1};
    const char *unmet;
    struct cushim_slot_info info;
    (void)cushim_slot_get_info(slots[index % 2], CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    for (int i = 0; i < 100; i++)
        (void)cushim_require(&(const char *){info.name}, 1, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet);
    results[index] = cushim_error_last()->code;
    if (strcmp(cushim_error_last()->function, info.function) != 0)
        results[index] = CUDA_ERROR_UNKNOWN;
}

/* The last error of this thread is still empty, so this test comes first. */
UNIT_TEST(test_last_error_when_threads_fail_differently_then_each_has_its_own)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_9010"));
    crowd_run(THREADS, fail_in_an_own_way);
    assert_all(CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(cushim_error_last()->code, CUDA_SUCCESS);
    assert_string_equal(cushim_error_last()->function, "");
    assert_string_equal(cushim_error_last()->message, "");
}

static void call_a_slot(int index)
{
    results[index] = cushim_table()->StreamQuery_v1(NULL);
}

static void load(int index)
{
    results[index] = cushim_load(NULL);
}

static void initialise(int index)
{
    results[index] = cushim_init();
}

/* A stub is closed again: each further load would construct it again, as cushim_load() after a failure does. */
DIRECTORY_TEST(test_first_uses_when_at_once_then_one_load_for_all)
{
    static const struct {
        void (*work)(int index);
        const char *fake;
        CUresult expected;
        enum cushim_reason reason;
    } cases[] = {
        {call_a_slot, "fake_constructor", FAKE_CODE(ENTRY_StreamQuery_v1, 0), CUSHIM_REASON_NONE},
        {load, "fake_constructor", CUDA_SUCCESS, CUSHIM_REASON_NONE},
        {initialise, "fake_constructor", CUDA_SUCCESS, CUSHIM_REASON_NONE},
        {call_a_slot, "not_stub_constructor", CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_STUB},
        {load, "not_stub", CUDA_ERROR_STUB_LIBRARY, CUSHIM_REASON_STUB},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(directory_remove(state), 0);
        assert_int_equal(directory_create(state), 0);
        unit_set_variable("CUSHIM_DRIVER", directory_fake(cases[i].fake));
        constructed = 0;
        crowd_run(THREADS, cases[i].work);
        assert_all(cases[i].expected);
        assert_int_equal(constructed, strcmp(cases[i].fake, "not_stub") != 0);
        assert_int_equal(cushim_diagnosis_get()->reason, cases[i].reason);
    }
}

static void ask_something(int index)
{
    struct cushim_slot_info info;
    const char *const needed[] = {"StreamQuery_v1"};
    cushim_fn fn = NULL;
    switch (index % 8) {
    case 0:
        results[index] = cushim_load(NULL);
        break;
    case 1:
        results[index] = cushim_init();
        break;
    case 2:
        results[index] = cushim_slot_get_info(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
        break;
    case 3:
        results[index] = cushim_require(needed, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL);
        break;
    case 4:
        results[index] = cushim_lookup("cuStreamQuery", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
        break;
    case 5: /* the driver's own lookup is called, and its results are checked */
        results[index] =
            cushim_lookup("cuNoSuchThing", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn) == CUDA_ERROR_NOT_FOUND
                ? CUDA_SUCCESS
                : CUDA_ERROR_UNKNOWN;
        break;
    case 6: {
        const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
        results[index] = strlen(diagnosis->reason_name) + strlen(diagnosis->message) != 0 ? diagnosis->code : 1;
        break;
    }
    default:
        results[index] = cushim_table()->Init_v1(0);
        (void)cushim_driver_version();
        break;
    }
}

UNIT_TEST(test_questions_when_at_once_then_all_are_answered)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_asked_12040"));
    crowd_run(THREADS, ask_something);
    assert_all(CUDA_SUCCESS);
}

/* Half of the threads fail to load, over and over, and the other half make queries. Then one of them finds the
 * driver. */
static void fail_or_ask(int index)
{
    struct cushim_load_options options = {.path = "/no/such/driver"};
    cushim_fn fn = NULL;
    for (int i = 0; i < 20; i++) {
        if (index % 2 == 0) {
            (void)cushim_load(&options);
            (void)cushim_error_last()->message[0];
        } else {
            CUresult result = cushim_table()->StreamQuery_v1(NULL);
            if (result != CUDA_ERROR_NO_DEVICE && result != FAKE_CODE(ENTRY_StreamQuery_v1, 0))
                results[index] = result;
            result = cushim_lookup("cuStreamQuery", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
            if (result != CUDA_ERROR_NO_DEVICE && result != CUDA_SUCCESS)
                results[index] = result;
            (void)cushim_error_last()->message[0];
            (void)cushim_diagnosis_get()->message[0];
        }
        if (index == 10 && i == 10) {
            options.path = unit_fake("fake_12040");
            results[index] = cushim_load(&options);
        }
    }
}

UNIT_TEST(test_failing_loads_when_one_at_last_succeeds_then_all_go_on)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    memset(results, 0, sizeof results);
    crowd_run(THREADS, fail_or_ask);
    assert_all(CUDA_SUCCESS);
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

static void *load_when_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    (void)cushim_load(NULL);
    pthread_testcancel();
    return unused;
}

UNIT_TEST(test_load_when_its_thread_is_cancelled_then_it_ends_and_the_lock_is_free)
{
    void *result;
    pthread_t thread;
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_int_equal(pthread_create(&thread, NULL, load_when_cancelled, NULL), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, PTHREAD_CANCELED);
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}
