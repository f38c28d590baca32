/* SPDX-License-Identifier: MIT */
/* Lookups when there are layers: cushim_lookup() and cuGetProcAddress lead to the top table. */
#include "layers.h"

static cushim_fn look_up(const char *name, enum cushim_default_stream kind)
{
    cushim_fn fn = NULL;
    assert_int_equal(cushim_lookup(name, 12020, kind, &fn), CUDA_SUCCESS);
    return fn;
}

static cushim_fn proc_address(enum cushim_default_stream table, const char *name, cuuint64_t flags)
{
    union {
        void *object;
        cushim_fn function;
    } first = {NULL}, second = {NULL};
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    assert_int_equal(unit_table(table)->GetProcAddress_v1(name, &first.object, 12020, flags), CUDA_SUCCESS);
    assert_int_equal(unit_table(table)->GetProcAddress_v2(name, &second.object, 12020, flags, &status), CUDA_SUCCESS);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SUCCESS);
    assert_true(first.function == second.function);
    return first.function;
}

static void assert_lookups_lead_to_the_top(void)
{
    const cuuint64_t legacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    FOR_EACH_KIND(kind)
    {
        cushim_fn query = unit_pointer(CUSHIM_SLOT_StreamQuery_v1, kind);
        assert_true(cushim_symbol(kind == LEGACY ? "cuStreamQuery" : "cuStreamQuery_ptsz") == query);
        assert_true(look_up("cuStreamQuery", kind) == query);
        assert_true(look_up("cuCtxSynchronize", kind) == unit_pointer(CUSHIM_SLOT_CtxSynchronize_v1, kind));
        assert_true(proc_address(kind, "cuStreamQuery", 0) == query);
        assert_true(proc_address(kind, "cuStreamQuery", legacy) == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, LEGACY));
        assert_true(proc_address(kind, "cuStreamQuery", per_thread)
                    == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, PER_THREAD));
        assert_true(proc_address(kind, "cuStreamQuery", legacy | per_thread)
                    == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, PER_THREAD));
        assert_true(proc_address(kind, "cuCtxSynchronize", 0) == unit_pointer(CUSHIM_SLOT_CtxSynchronize_v1, kind));
        assert_true(proc_address(kind, "cuGetProcAddress", 0) == unit_pointer(CUSHIM_SLOT_GetProcAddress_v2, kind));
    }
}

LAYERS_TEST(test_lookups_when_there_are_layers_then_they_lead_to_the_top_table)
{
    static const struct cushim_load_options cases[] = {
        {.max_version = 0}, {.max_version = 12030}, {.hide = "cuStreamGetId"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        layers_begin(NULL);
        unit_load("fake_12040", cases[i]);
        assert_lookups_lead_to_the_top();
        cushim_fn plain = look_up("cuStreamQuery", LEGACY);
        layers_add(&layer_a);
        assert_lookups_lead_to_the_top();
        layers_add(&layer_b);
        assert_lookups_lead_to_the_top();
        assert_true(look_up("cuStreamQuery", LEGACY) != plain);
        assert_int_equal(unit_call(look_up("cuCtxSynchronize", LEGACY)), FAKE_CODE(ENTRY_CtxSynchronize_v1, 0));
        layers_stop(&layer_b);
        assert_lookups_lead_to_the_top();
        layers_stop(&layer_a);
        assert_lookups_lead_to_the_top();
        assert_true(look_up("cuStreamQuery", LEGACY) == plain);
    }
}

/* A driver returns the same cuGetProcAddress for both kinds. */
LAYERS_TEST(test_lookups_when_the_lookup_itself_is_looked_up_then_its_answers_lead_to_the_top)
{
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    FOR_EACH_KIND(table)
    {
        for (cuuint64_t flags = 0; flags <= 3; flags++) {
            union {
                void *object;
                CUresult(CUDAAPI *function)(const char *, void **, int, cuuint64_t);
            } found = {NULL};
            union {
                void *object;
                cushim_fn function;
            } query = {NULL};
            assert_int_equal(unit_table(table)->GetProcAddress_v1("cuGetProcAddress", &found.object, 11030, flags),
                             CUDA_SUCCESS);
            assert_int_equal(found.function("cuStreamQuery", &query.object, 11030, 2), CUDA_SUCCESS);
            assert_true(query.function == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, PER_THREAD));
        }
    }
}

LAYERS_TEST(test_lookups_when_they_find_nothing_then_layers_change_nothing)
{
    void *pointer = state;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    unit_load("fake_12040", (struct cushim_load_options){.hide = "cuStreamQuery"});
    layers_add(&layer_a);
    cushim_fn fn = (cushim_fn)layers_begin;
    assert_int_equal(cushim_lookup("cuStreamQuery", 12040, LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_true(fn == (cushim_fn)layers_begin);
    assert_int_equal(cushim_table()->GetProcAddress_v1("cuStreamQuery", &pointer, 12040, 0), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(pointer, state);
    assert_int_equal(cushim_table()->GetProcAddress_v2("cuStreamQuery", &pointer, 12040, 0, &status), CUDA_SUCCESS);
    assert_null(pointer);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_int_equal(cushim_table()->GetProcAddress_v1("cuStreamQuery", NULL, 12040, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamQuery_v1), CUSHIM_STATE_MISSING);
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(layers.calls, "a ");
}

LAYERS_TEST(test_symbol_if_available_when_a_layer_has_replaced_the_slot_then_the_function_of_the_layer)
{
    static const struct cushim_load_options cases[] = {{.path = "none"}, {.hide = "cuStreamQuery"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        layers_begin(NULL);
        struct cushim_load_options options = cases[i];
        if (options.path == NULL)
            options.path = unit_fake("fake_12040");
        cushim_load(&options);
        assert_true(cushim_symbol_if_available("cuStreamQuery") == NULL);
        layers_add(&layer_a);
        assert_true(cushim_symbol_if_available("cuStreamQuery") == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, LEGACY));
        assert_true(cushim_symbol_if_available("cuStreamQuery_ptsz")
                    == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, PER_THREAD));
        assert_int_equal(cushim_symbol_if_available("cuCtxSynchronize") != NULL, i == 1);
    }
}
