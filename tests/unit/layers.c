/* SPDX-License-Identifier: MIT */
#include "layers.h"

struct layers layers;

void layers_note(const char *name, enum cushim_default_stream kind)
{
    size_t used = strlen(layers.calls);
    snprintf(layers.calls + used, sizeof layers.calls - used, "%s%s ", name, kind == PER_THREAD ? "'" : "");
}

/* The layer `layer_##name`, which replaces the slot of cuStream##function. */
#define NOTING_LAYER(name, function)                                                                                   \
    static CUresult name##_call(enum cushim_default_stream kind, CUstream stream)                                      \
    {                                                                                                                  \
        layers_note(#name, kind);                                                                                      \
        return cushim_layer_next(&layer_##name, kind)->Stream##function##_v1(stream);                                  \
    }                                                                                                                  \
    CUSHIM_LAYER_BOTH_KINDS(name##_call, (CUstream stream), stream)                                                    \
    static CUresult name##_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,      \
                                   const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)  \
    {                                                                                                                  \
        (void)next;                                                                                                    \
        (void)states;                                                                                                  \
        (void)user;                                                                                                    \
        layers.installs++;                                                                                             \
        table->Stream##function##_v1 = CUSHIM_LAYER_OF_KIND(name##_call, kind);                                        \
        return layers.install_code;                                                                                    \
    }                                                                                                                  \
    struct cushim_layer layer_##name = CUSHIM_LAYER(#name, name##_install, NULL);

NOTING_LAYER(a, Query)
NOTING_LAYER(b, Query)
NOTING_LAYER(c, Query)
NOTING_LAYER(synchronize, Synchronize)

int layers_begin(void **state)
{
    layers = (struct layers){.install_code = CUDA_SUCCESS};
    return mock_reset(state);
}

void layers_add(struct cushim_layer *layer)
{
    if (cushim_layer_add(layer) != CUDA_SUCCESS)
        fail_msg("%s", cushim_error_last()->message);
}

void layers_stop(struct cushim_layer *layer)
{
    if (cushim_layer_stop(layer) != CUDA_SUCCESS)
        fail_msg("%s", cushim_error_last()->message);
}

void layers_assert_passes(const struct cushim_dispatch_table *table, const char *names)
{
    layers.calls[0] = '\0';
    CUresult result = table->StreamQuery_v1(NULL);
    assert_string_equal(layers.calls, names);
    if (cushim_driver_version() == 0)
        assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
    else if (table == cushim_table_legacy())
        assert_int_equal(result, FAKE_CODE(ENTRY_StreamQuery_v1, 0));
}

void layers_assert_state(size_t index, const char *name, enum cushim_layer_state state)
{
    struct cushim_layer_info info;
    assert_int_equal(cushim_layer_get_info(index, &info), CUDA_SUCCESS);
    assert_string_equal(info.name, name);
    assert_null(info.path);
    assert_int_equal(info.state, state);
}

void layers_assert_refused(CUresult result, CUresult code, const char *function, const char *part)
{
    assert_int_equal(result, code);
    assert_int_equal(cushim_error_last()->code, code);
    assert_string_equal(cushim_error_last()->function, function);
    unit_assert_contains(cushim_error_last()->message, part);
}
