/* SPDX-License-Identifier: MIT */
/* A driver whose constructor calls cushim while cushim is loading it. */
#include "unit.h"

#include "directory.h"
#include "export.h"

#if defined(_WIN32)
#    define directory_fake(name) unit_fake(name)
#    define directory_create(state) unit_reset(state)
#    define directory_remove NULL
#endif

static void (*in_constructor)(void);
static int constructed;

EXPORT void fake_driver_constructed(void)
{
    constructed++;
    if (in_constructor != NULL)
        in_constructor();
}

static int begin(void **state)
{
    constructed = 0;
    in_constructor = NULL;
    return directory_create(state);
}

#define CONSTRUCTOR_TEST(name) TEST_WITH(name, begin, directory_remove)

static CUresult result;
static char function[64]; /* of the failure */

static void note_failure(CUresult code)
{
    result = code;
    snprintf(function, sizeof function, "%s", cushim_error_last()->function);
}

static void call_a_slot(void)
{
    note_failure(cushim_table()->StreamQuery_v1(NULL));
}

static void load(void)
{
    note_failure(cushim_load(NULL));
}

static void initialise(void)
{
    note_failure(cushim_init());
}

static void add_layer(void)
{
    struct cushim_layer layer = CUSHIM_LAYER("layer", NULL, NULL);
    note_failure(cushim_layer_add(&layer));
}

static struct {
    CUresult slot, required, looked_up, asked;
    enum cushim_slot_state state;
    int version, driver;
    enum cushim_reason reason;
    const char *symbol;
} answers;

/* Asserts nothing: a jump out of dlopen() would leave the load without an end, and the next test would wait for it. */
static void query_everything(void)
{
    struct cushim_slot_info info;
    const char *const name = "StreamQuery_v1";
    cushim_fn fn = NULL;
    answers.slot = cushim_slot_get_info(CUSHIM_SLOT_StreamQuery_v1, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    answers.state = info.state;
    answers.required = cushim_require(&name, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL);
    answers.looked_up = cushim_lookup("cuStreamQuery", 12040, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
    answers.version = -1;
    answers.asked = cushim_table()->DriverGetVersion_v1(&answers.version);
    answers.driver = cushim_driver_version();
    answers.reason = cushim_diagnosis_get()->reason;
    answers.symbol = cushim_symbol_name((cushim_fn)query_everything);
}

static void assert_loads_all_the_same(void (*work)(void))
{
    in_constructor = work;
    assert_int_equal(unit_load_path(directory_fake("fake_constructor")), CUDA_SUCCESS);
    assert_int_equal(constructed, 1);
    assert_int_equal(cushim_driver_version(), 12040);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

CONSTRUCTOR_TEST(test_constructor_when_it_calls_a_slot_then_returns_no_device)
{
    assert_loads_all_the_same(call_a_slot);
    assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
    assert_string_equal(function, "cuStreamQuery");
}

CONSTRUCTOR_TEST(test_constructor_when_it_loads_then_not_ready)
{
    assert_loads_all_the_same(load);
    assert_int_equal(result, CUDA_ERROR_NOT_READY);
    assert_string_equal(function, "cushim_load");
}

CONSTRUCTOR_TEST(test_constructor_when_it_initialises_then_not_ready)
{
    assert_loads_all_the_same(initialise);
    assert_int_equal(result, CUDA_ERROR_NOT_READY);
    assert_string_equal(function, "cushim_init");
}

CONSTRUCTOR_TEST(test_constructor_when_it_adds_a_layer_then_not_ready)
{
    assert_loads_all_the_same(add_layer);
    assert_int_equal(result, CUDA_ERROR_NOT_READY);
    assert_string_equal(function, "cushim_layer_add");
}

CONSTRUCTOR_TEST(test_constructor_when_it_makes_all_queries_then_all_are_answered)
{
    assert_loads_all_the_same(query_everything);
    assert_int_equal(answers.slot, CUDA_SUCCESS);
    assert_int_equal(answers.state, CUSHIM_STATE_MISSING);
    assert_int_equal(answers.required, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(answers.looked_up, CUDA_ERROR_NO_DEVICE);
    assert_int_equal(answers.asked, CUDA_SUCCESS);
    assert_int_equal(answers.version, 0);
    assert_int_equal(answers.driver, 0);
    assert_int_equal(answers.reason, CUSHIM_REASON_NOT_TRIED);
    assert_null(answers.symbol);
}

CONSTRUCTOR_TEST(test_constructor_when_a_first_slot_loads_then_the_slot_is_still_called)
{
    unit_set_variable("CUSHIM_DRIVER", directory_fake("fake_constructor"));
    in_constructor = call_a_slot;
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(constructed, 1);
    assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
}

CONSTRUCTOR_TEST(test_constructor_when_the_library_is_a_stub_then_the_load_still_fails_for_that)
{
    const char *path = directory_fake("not_stub_constructor");
    in_constructor = call_a_slot;
    assert_int_equal(unit_load_path(path), CUDA_ERROR_STUB_LIBRARY);
    assert_int_equal(constructed, 1);
    assert_int_equal(cushim_error_last()->code, CUDA_ERROR_STUB_LIBRARY);
    if (HAS_MUSL)
        return; /* the constructor does not run again */
    in_constructor = load;
    assert_int_equal(unit_load_path(path), CUDA_ERROR_STUB_LIBRARY);
    assert_int_equal(result, CUDA_ERROR_NOT_READY);
}
