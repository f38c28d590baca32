/* SPDX-License-Identifier: MIT */
/* Layers in shared objects, which CUSHIM_LAYERS names. */
#include "unit.h"

#if !defined(_WIN32)
#    include <dlfcn.h>
#endif

#include "layer.h"
#include "os.h"

#if defined(_WIN32)
#    define SUFFIX ".dll"
#    define SEPARATOR ";"
#else
#    define SUFFIX ".so"
#    define SEPARATOR ":"
#endif

#define OBJECT(name) OBJECTS "/" name SUFFIX

static const char first[] = OBJECT("layer_first");
static const char second[] = OBJECT("layer_second");

/* The number of calls that the layer of an object has passed on. */
static int *calls_of(const char *object)
{
    char error[512];
    void *library = NULL;
    if (cush_os_library_open(object, &library, error, sizeof error) != OS_LIBRARY_OPEN)
        fail_msg("%s: %s", object, error);
    union {
        cushim_fn function;
        void *object;
    } found = {cush_os_library_symbol(library, "object_calls")};
    assert_non_null(found.object);
    return found.object;
}

static void assert_passes(const char *object, bool is_layered)
{
    int *calls = calls_of(object);
    int before = *calls;
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(cushim_table_per_thread()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 1));
    assert_int_equal(*calls - before, is_layered ? 2 : 0);
}

static void assert_layer(size_t index, const char *name, const char *path)
{
    struct cushim_layer_info info;
    assert_int_equal(cushim_layer_get_info(index, &info), CUDA_SUCCESS);
    assert_string_equal(info.name, name);
    assert_string_equal(info.path, path);
    assert_int_equal(info.state, CUSHIM_LAYER_INSTALLED);
}

static size_t layer_count(void)
{
    struct cushim_layer_info info;
    size_t count = 0;
    while (cushim_layer_get_info(count, &info) == CUDA_SUCCESS)
        count++;
    return count;
}

UNIT_TEST(test_objects_when_the_variable_names_them_then_they_are_layers_in_this_order)
{
    unit_set_variable("CUSHIM_LAYERS", SEPARATOR OBJECT("layer_first") SEPARATOR SEPARATOR OBJECT("layer_second"));
    unit_load_plain("fake_12040");
    assert_layer(0, "first", first);
    assert_layer(1, "second", second);
    assert_int_equal(layer_count(), 2);
    assert_passes(first, true);
    assert_passes(second, true);
    const struct cushim_variable *variable = cushim_diagnosis_get()->variables;
    assert_string_equal(variable->name, "CUSHIM_LAYERS");
    assert_true(variable->is_used);
}

UNIT_TEST(test_objects_when_the_first_call_loads_then_they_see_that_call)
{
    int before = *calls_of(first);
    unit_set_variable("CUSHIM_LAYERS", first);
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(*calls_of(first) - before, 1);
}

UNIT_TEST(test_objects_when_the_first_load_fails_then_they_are_not_added_again)
{
    unit_set_variable("CUSHIM_LAYERS", first);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    unit_load_plain("fake_12040");
    assert_int_equal(layer_count(), 1);
    assert_passes(first, true);
}

UNIT_TEST(test_objects_when_one_is_bad_then_the_load_fails_and_says_why)
{
    static const struct {
        const char *layers;
        CUresult code;
        const char *part;
    } cases[] = {
        {OBJECT("no_such_layer"), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "cannot be used: "},
        {OBJECTS, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "cannot be used: "},
        {__FILE__, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, "cannot be used: "},
        {FAKES "/not_no_init" SUFFIX, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, "cushim_layer_entry"},
        {OBJECT("layer_null"), CUDA_ERROR_INVALID_VALUE, "NULL"},
        {OBJECT("layer_newer"), CUDA_ERROR_NOT_SUPPORTED, "another version of cushim"},
        {OBJECT("layer_failing"), CUDA_ERROR_NOT_PERMITTED, "could not be installed"},
        {OBJECT("layer_first") SEPARATOR OBJECT("layer_first"), CUDA_ERROR_ALREADY_ACQUIRED, "already"},
        {OBJECT("layer_first") SEPARATOR OBJECT("layer_same_name"), CUDA_ERROR_ALREADY_ACQUIRED, "already"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *path = unit_fake("fake_12040");
        unit_reset(NULL);
        unit_set_variable("CUSHIM_LAYERS", cases[i].layers);
        unit_assert_failed(unit_load_path(path), CUSHIM_REASON_BAD_LAYER, cases[i].code);
        unit_assert_contains(cushim_diagnosis_get()->message, cases[i].part);
        unit_assert_contains(cushim_diagnosis_get()->message, "layer");
        unit_set_variable("CUSHIM_LAYERS", NULL);
        bool stays = strstr(cases[i].layers, "layer_failing") != NULL; /* it was opened, and its installation failed */
        assert_int_equal(layer_count(), stays);
        assert_int_equal(unit_load_path(path), stays ? CUDA_ERROR_NOT_PERMITTED : CUDA_SUCCESS);
    }
}

UNIT_TEST(test_objects_when_the_path_is_too_long_then_the_load_fails)
{
    static char path[5000];
    memset(path, 'x', sizeof path - 1);
    path[0] = '/';
    unit_set_variable("CUSHIM_LAYERS", path);
    unit_assert_failed(unit_load_path(unit_fake("fake_12040")), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_INVALID_VALUE);
    unit_assert_contains(cushim_diagnosis_get()->message, "too long");
}

UNIT_TEST(test_object_when_added_by_its_path_then_it_is_a_layer)
{
    assert_int_equal(cush_layer_add_objects(first), CUDA_SUCCESS);
    unit_load_plain("fake_12040");
    assert_passes(first, true);
    assert_int_equal(cush_layer_add_objects(second), CUDA_SUCCESS);
    assert_passes(second, true);
    assert_layer(1, "second", second);
    assert_int_equal(cush_layer_add_objects(second), CUDA_ERROR_ALREADY_ACQUIRED);
    assert_int_equal(cush_layer_add_objects(OBJECT("layer_failing")), CUDA_ERROR_NOT_PERMITTED);
#if !defined(_WIN32)
    assert_true(HAS_MUSL || dlopen(OBJECT("layer_failing"), RTLD_NOW | RTLD_NOLOAD) == NULL); /* it was closed */
#endif
    assert_int_equal(cush_layer_add_objects(OBJECT("no_such_layer")), CUDA_ERROR_SHARED_OBJECT_INIT_FAILED);
    assert_string_equal(cushim_error_last()->function, "cushim_layer_add");
    unit_assert_contains(cushim_error_last()->message, "no_such_layer" SUFFIX " cannot be used: ");
    assert_null(strstr(cushim_error_last()->message, "cannot open"));
    assert_int_equal(layer_count(), 2);
}
