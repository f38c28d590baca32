/* SPDX-License-Identifier: MIT */
/* Layers that are refused, and functions that install layers: those that fail, and those that call cushim. */
#include "layers.h"

LAYERS_TEST(test_layer_when_it_is_installed_or_was_then_refused)
{
    static const char function[] = "cushim_layer_add";
    struct cushim_layer same_name = CUSHIM_LAYER("a", layer_a.install, NULL);
    layers_add(&layer_a); /* waits */
    layers_assert_refused(cushim_layer_add(&layer_a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    unit_load_plain("fake_12040");
    layers_assert_refused(cushim_layer_add(&layer_a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    layers_assert_refused(cushim_layer_add(&same_name), CUDA_ERROR_ALREADY_ACQUIRED, function, "\"a\"");
    layers_stop(&layer_a);
    layers_assert_refused(cushim_layer_add(&layer_a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    layers_assert_passes(cushim_table_legacy(), "");
    assert_int_equal(layers.installs, 2);
}

LAYERS_TEST(test_layer_when_it_is_compiled_for_a_newer_cushim_then_refused)
{
    static const struct {
        unsigned version, slot_count;
    } cases[] = {{0, CUSHIM_SLOT_COUNT},
                 {CUSHIM_LAYER_VERSION + 1, CUSHIM_SLOT_COUNT},
                 {CUSHIM_LAYER_VERSION, 0},
                 {CUSHIM_LAYER_VERSION, CUSHIM_SLOT_COUNT + 1}};
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cushim_layer other = CUSHIM_LAYER("other", layer_a.install, NULL);
        other.version = cases[i].version;
        other.slot_count = cases[i].slot_count;
        layers_assert_refused(cushim_layer_add(&other), CUDA_ERROR_NOT_SUPPORTED, "cushim_layer_add", "version");
        assert_int_equal(other.is_used, 0);
    }
    assert_ptr_equal(cushim_table_legacy(), before);
    assert_int_equal(layers.installs, 0);
}

LAYERS_TEST(test_layer_when_it_is_compiled_for_a_set_of_functions_then_refused_with_a_sentence)
{
    unit_load_plain("fake_12040");
    struct cushim_layer other = CUSHIM_LAYER("other", layer_a.install, NULL);
    other.version = 0x80000001;
    other.slot_count = 20;
    layers_assert_refused(cushim_layer_add(&other), CUDA_ERROR_NOT_SUPPORTED, "cushim_layer_add",
                          "amalgamate.py --slots");
    assert_int_equal(other.is_used, 0);
    assert_int_equal(layers.installs, 0);
}

LAYERS_TEST(test_layer_when_a_reserved_member_is_set_then_refused)
{
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    for (size_t i = 0; i < sizeof layer_a.reserved / sizeof layer_a.reserved[0]; i++) {
        struct cushim_layer other = CUSHIM_LAYER("other", layer_a.install, NULL);
        other.reserved[i] = &other;
        layers_assert_refused(cushim_layer_add(&other), CUDA_ERROR_INVALID_VALUE, "cushim_layer_add", "reserved");
        assert_int_equal(other.is_used, 0);
    }
    assert_ptr_equal(cushim_table_legacy(), before);
    assert_int_equal(layers.installs, 0);
}

LAYERS_TEST(test_layer_when_it_is_compiled_for_an_older_list_then_accepted)
{
    static struct cushim_layer older = CUSHIM_LAYER("older", NULL, NULL);
    older.install = layer_b.install;
    older.slot_count = CUSHIM_SLOT_COUNT - 1;
    unit_load_plain("fake_12040");
    layers_add(&older);
    assert_int_equal(layers.installs, 2);
    assert_int_equal(cushim_table()->CtxSynchronize_v1(), FAKE_CODE(ENTRY_CtxSynchronize_v1, 0));
}

static CUresult null_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    table->MemAlloc_v2 = NULL;
    return CUDA_SUCCESS;
}

LAYERS_TEST(test_layer_when_it_is_incomplete_then_refused)
{
    struct cushim_layer cases[] = {CUSHIM_LAYER(NULL, layer_a.install, NULL), CUSHIM_LAYER("", layer_a.install, NULL),
                                   CUSHIM_LAYER("x", NULL, NULL), CUSHIM_LAYER("x", null_install, NULL)};
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cushim_layer_add(&cases[i]), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cases[i].is_used, 0);
    }
    assert_int_equal(cushim_layer_add(NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_layer_get_info(0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(cushim_table_legacy(), before);
}

LAYERS_TEST(test_layer_when_install_fails_after_the_load_then_nothing_is_changed)
{
    struct cushim_layer_info info;
    unit_load_plain("fake_12040");
    layers_add(&layer_a);
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    layers.install_code = CUDA_ERROR_INVALID_CONTEXT;
    layers_assert_refused(cushim_layer_add(&layer_b), CUDA_ERROR_INVALID_CONTEXT, "cushim_layer_add",
                          "\"b\" could not be installed (CUDA_ERROR_INVALID_CONTEXT)");
    assert_ptr_equal(cushim_table_legacy(), before);
    assert_int_equal(cushim_layer_get_info(1, &info), CUDA_ERROR_NOT_FOUND);
    layers.install_code = CUDA_SUCCESS;
    layers_add(&layer_b);
    layers_assert_passes(cushim_table_legacy(), "b a ");
}

LAYERS_TEST(test_load_when_a_waiting_layer_cannot_be_installed_then_it_fails_and_can_be_tried_again)
{
    const char *path = unit_fake("fake_12040");
    layers_add(&layer_a);
    layers_add(&layer_b);
    layers.install_code = CUDA_ERROR_NOT_SUPPORTED;
    unit_assert_failed(unit_load_path(path), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_diagnosis_get()->message, "\"a\"");
    layers_assert_passes(cushim_table_legacy(), "");
    layers.install_code = CUDA_SUCCESS;
    assert_int_equal(unit_load_path(path), CUDA_SUCCESS);
    layers_assert_passes(cushim_table_legacy(), "b a ");
}

/* Calls of cushim by a layer that is being installed. An assertion would jump out of the load, and the next test would
 * wait for it: so each call that is answered as it must be counts. */

struct busy_answers {
    int added, stopped, loaded, asked, called;
};

static CUresult busy_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    struct cushim_layer_info info;
    int version = 0;
    struct busy_answers *right = user;
    right->added += cushim_layer_add(&layer_a) == CUDA_ERROR_NOT_READY;
    right->stopped += cushim_layer_stop(&layer_a) == CUDA_ERROR_NOT_READY;
    right->loaded += cushim_load(NULL) == CUDA_ERROR_NOT_READY;
    right->asked += cushim_layer_get_info(0, &info) == CUDA_SUCCESS;
    right->called += next->DriverGetVersion_v1(&version) == CUDA_SUCCESS && version == 12040;
    return CUDA_SUCCESS;
}

LAYERS_TEST(test_install_when_it_calls_cushim_then_nothing_hangs)
{
    enum { INSTALLED = 4 }; /* twice, for two kinds of default stream */
    struct busy_answers right = {0};
    struct cushim_layer busy = CUSHIM_LAYER("busy", busy_install, &right);
    unit_load_plain("fake_12040");
    layers_add(&busy);
    unit_reset(NULL);
    layers_add(&busy);
    unit_load_plain("fake_12040");
    assert_int_equal(right.added, INSTALLED);
    assert_int_equal(right.stopped, INSTALLED);
    assert_int_equal(right.loaded, INSTALLED);
    assert_int_equal(right.asked, INSTALLED);
    assert_int_equal(right.called, INSTALLED);
    unit_reset(NULL);
}

/* An install function that calls what the layer below has replaced. */
static CUresult asking_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                               const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    *(CUresult *)user = next->StreamQuery_v1(NULL);
    return layers.install_code;
}

static CUresult states_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                               const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    enum cushim_slot_state(*copies)[CUSHIM_SLOT_COUNT] = user;
    memcpy(copies[kind], states, sizeof copies[kind]);
    return CUDA_SUCCESS;
}

LAYERS_TEST(test_install_when_called_then_it_gets_the_states_of_the_slots)
{
    static enum cushim_slot_state states[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    for (int i = 0; i < 2; i++) {
        struct cushim_layer layer = CUSHIM_LAYER("states", states_install, states);
        unit_reset(state);
        memset(states, 0xff, sizeof states);
        layers_add(&layer_a);
        layers_add(&layer);
        unit_set_variable("CUSHIM_DRIVER", i == 0 ? "none" : unit_fake("fake_11040"));
        unit_set_variable("CUSHIM_MAX_VERSION", "11.2");
        assert_int_equal(cushim_load(NULL) == CUDA_SUCCESS, i == 1);
        FOR_EACH_KIND(kind)
        {
            FOR_EACH_SLOT(slot)
            assert_int_equal(states[kind][slot], cushim_slot_get_state(slot, kind));
            assert_int_equal(states[kind][CUSHIM_SLOT_DriverGetVersion_v1],
                             i == 0 ? CUSHIM_STATE_MISSING : CUSHIM_STATE_ADAPTED);
        }
        unit_reset(state);
    }
}

LAYERS_TEST(test_install_when_it_calls_a_layer_that_waited_too_then_the_call_reaches_the_driver)
{
    const char *fake = unit_fake("fake_12040");
    CUresult asked = CUDA_SUCCESS;
    struct cushim_layer asking = CUSHIM_LAYER("asking", asking_install, &asked);
    layers_add(&layer_a);
    layers_add(&asking);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    assert_string_equal(layers.calls, "a a' ");
    assert_int_equal(asked, CUDA_ERROR_NO_DEVICE);
    layers.install_code = CUDA_ERROR_UNKNOWN;
    unit_assert_failed(unit_load_path(fake), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_UNKNOWN);
    layers_assert_passes(cushim_table_legacy(), "a ");
    layers.install_code = CUDA_SUCCESS;
    assert_int_equal(unit_load_path(fake), CUDA_SUCCESS);
    assert_int_equal(asked, FAKE_CODE(ENTRY_StreamQuery_v1, 1));
    layers_assert_passes(cushim_table_legacy(), "a ");
    unit_reset(NULL);
}

/* Reads the tables below two layers, as these do when they are called, and can fail then. */
struct reader {
    const struct cushim_dispatch_table *tables[2];
    struct cushim_dispatch_table copies[2];
    CUresult code;
};

static CUresult reading_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    struct reader *reader = user;
    reader->tables[0] = cushim_layer_next(&layer_a, kind);
    reader->tables[1] = cushim_layer_next(&layer_b, kind);
    for (int i = 0; i < 2; i++)
        reader->copies[i] = *reader->tables[i];
    return reader->code;
}

/* A call that has just taken the table of a layer goes on with it. */
LAYERS_TEST(test_load_when_a_layer_fails_then_the_tables_that_others_have_read_stay)
{
    static struct reader reader;
    const char *fake = unit_fake("fake_12040");
    struct cushim_layer reading = CUSHIM_LAYER("reading", reading_install, &reader);
    reader.code = CUDA_SUCCESS;
    layers_add(&layer_a);
    layers_add(&layer_b);
    layers_add(&reading);
    assert_int_equal(unit_load_path("none"), CUDA_ERROR_FILE_NOT_FOUND);
    reader.code = CUDA_ERROR_UNKNOWN;
    unit_assert_failed(unit_load_path(fake), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_UNKNOWN);
    for (int i = 0; i < 2; i++)
        assert_memory_equal(reader.tables[i], &reader.copies[i], sizeof reader.copies[i]);
    layers_assert_passes(cushim_table_legacy(), "b a ");
    unit_reset(NULL);
}
