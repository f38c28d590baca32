/* SPDX-License-Identifier: MIT */
/* Layers that a program adds: on which tables and in which order they are called, how they are stopped and refused. */
#include "mock.h"

#define LEGACY CUSHIM_DEFAULT_STREAM_LEGACY
#define PER_THREAD CUSHIM_DEFAULT_STREAM_PER_THREAD

static char calls[128];
static int installs;
static CUresult install_code;

static void note_call(const char *name, enum cushim_default_stream kind)
{
    size_t used = strlen(calls);
    snprintf(calls + used, sizeof calls - used, "%s%s ", name, kind == PER_THREAD ? "'" : "");
}

/* A layer that notes calls of cuStreamQuery and passes them on. */
#define NOTING_LAYER(layer)                                                                                            \
    static struct cushim_layer layer;                                                                                  \
    static CUresult layer##_query(enum cushim_default_stream kind, CUstream stream)                                    \
    {                                                                                                                  \
        note_call(#layer, kind);                                                                                       \
        return cushim_layer_next(&layer, kind)->StreamQuery_v1(stream);                                                \
    }                                                                                                                  \
    CUSHIM_LAYER_BOTH_KINDS(layer##_query, (CUstream stream), stream)                                                  \
    static CUresult layer##_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,     \
                                    enum cushim_default_stream kind, void *user)                                       \
    {                                                                                                                  \
        (void)next;                                                                                                    \
        (void)user;                                                                                                    \
        installs++;                                                                                                    \
        table->StreamQuery_v1 = CUSHIM_LAYER_OF_KIND(layer##_query, kind);                                             \
        return install_code;                                                                                           \
    }                                                                                                                  \
    static struct cushim_layer layer = CUSHIM_LAYER(#layer, layer##_install, NULL);

NOTING_LAYER(a)
NOTING_LAYER(b)
NOTING_LAYER(c)

static int begin(void **state)
{
    calls[0] = '\0';
    installs = 0;
    install_code = CUDA_SUCCESS;
    return mock_reset(state);
}

#define LAYER_TEST(test) cmocka_unit_test_setup(test, begin)

static void add(struct cushim_layer *layer)
{
    if (cushim_layer_add(layer) != CUDA_SUCCESS)
        fail_msg("%s", cushim_last_error()->message);
}

static void stop(struct cushim_layer *layer)
{
    if (cushim_layer_stop(layer) != CUDA_SUCCESS)
        fail_msg("%s", cushim_last_error()->message);
}

/* Asserts that a call through a table passes these layers in this order, and then reaches the driver or its absence. */
static void assert_passes(const struct cushim_dispatch_table *table, const char *names)
{
    calls[0] = '\0';
    CUresult result = table->StreamQuery_v1(NULL);
    assert_string_equal(calls, names);
    if (cushim_driver_version() == 0)
        assert_int_equal(result, CUDA_ERROR_NO_DEVICE);
    else if (table == cushim_table_legacy())
        assert_int_equal(result, FAKE_CODE(ROW_StreamQuery_v1, 0));
}

static void assert_state(size_t index, const char *name, enum cushim_layer_state state)
{
    struct cushim_layer_info info;
    assert_int_equal(cushim_query_layer(index, &info), CUDA_SUCCESS);
    assert_string_equal(info.name, name);
    assert_null(info.path);
    assert_int_equal(info.state, state);
}

static void assert_refused(CUresult result, CUresult code, const char *function, const char *part)
{
    assert_int_equal(result, code);
    assert_int_equal(cushim_last_error()->code, code);
    assert_string_equal(cushim_last_error()->function, function);
    unit_assert_contains(cushim_last_error()->message, part);
}

static void test_layer_when_added_after_the_load_then_called_in_both_tables(void **state)
{
    (void)state;
    unit_load_plain("fake_12040");
    add(&a);
    assert_passes(cushim_table_legacy(), "a ");
    assert_passes(cushim_table_per_thread(), "a' ");
    calls[0] = '\0';
    assert_int_equal(cushim_table_per_thread()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 1));
    assert_int_equal(installs, 2);
    assert_int_equal(cushim_driver_version(), 12040);
}

static void test_layer_when_added_before_the_load_then_nothing_is_loaded_until_a_call(void **state)
{
    (void)state;
    const struct cushim_dispatch_table *bootstrap = cushim_table_legacy();
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    add(&a);
    assert_int_equal(cushim_get_diagnosis()->reason, CUSHIM_REASON_NOT_TRIED);
    assert_ptr_equal(cushim_table_legacy(), bootstrap);
    assert_state(0, "a", CUSHIM_LAYER_WAITING);
    assert_int_equal(installs, 0);

    assert_int_equal(bootstrap->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
    assert_string_equal(calls, "a ");
    assert_int_equal(installs, 2);
    assert_state(0, "a", CUSHIM_LAYER_INSTALLED);
    assert_passes(bootstrap, "a "); /* a table that the program kept leads to the current one */
}

static void test_layer_when_there_is_no_driver_then_called_and_the_call_returns_no_device(void **state)
{
    (void)state;
    struct cushim_load_options none = {.path = "none"};
    assert_int_equal(cushim_load(&none), CUDA_ERROR_FILE_NOT_FOUND);
    add(&a);
    assert_passes(cushim_table_legacy(), "a ");
    assert_passes(cushim_table_per_thread(), "a' ");
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_ERROR_NO_DEVICE);
    unit_reset(NULL);

    add(&a);
    assert_int_equal(cushim_load(&none), CUDA_ERROR_FILE_NOT_FOUND);
    assert_passes(cushim_table_legacy(), "a ");
    assert_int_equal(cushim_driver_version(), 0);
    assert_int_equal(cushim_get_diagnosis()->reason, CUSHIM_REASON_NOT_WANTED);
}

static void test_layers_when_a_later_load_finds_a_driver_then_they_are_on_its_tables(void **state)
{
    (void)state;
    struct cushim_load_options none = {.path = "none"};
    assert_int_equal(cushim_load(&none), CUDA_ERROR_FILE_NOT_FOUND);
    add(&a);
    add(&b);
    stop(&a);
    const struct cushim_dispatch_table *absent = cushim_table_legacy();
    assert_int_equal(cushim_load(&none), CUDA_ERROR_FILE_NOT_FOUND);
    assert_ptr_equal(cushim_table_legacy(), absent); /* a program that tries again each second does not grow */
    assert_int_equal(installs, 4);

    unit_load_plain("fake_12040");
    assert_int_equal(installs, 6);
    assert_passes(cushim_table_legacy(), "b ");
    assert_int_equal(cushim_table()->CtxSynchronize_v1(), FAKE_CODE(ROW_CtxSynchronize_v1, 0));
    assert_int_equal(absent->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0)); /* by way of the layer */
    assert_int_equal(absent->CtxSynchronize_v1(), CUDA_ERROR_NO_DEVICE);
}

static void test_layers_when_stacked_then_the_newest_is_on_top(void **state)
{
    (void)state;
    add(&a);
    unit_load_plain("fake_12040");
    add(&b);
    const struct cushim_dispatch_table *kept = cushim_table_legacy();
    add(&c);
    assert_passes(cushim_table_legacy(), "c b a ");
    assert_passes(cushim_table_per_thread(), "c' b' a' ");
    assert_passes(kept, "b a ");
    assert_int_equal(installs, 6);
}

static void test_slots_when_the_layer_does_not_replace_them_then_they_are_the_drivers(void **state)
{
    (void)state;
    cushim_fn before[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
    unit_load_plain("fake_12040");
    FOR_EACH_KIND(kind)
    memcpy(before[kind], unit_table(kind), sizeof before[kind]);
    add(&a);
    FOR_EACH_KIND(kind)
    FOR_EACH_SLOT(slot)
    {
        struct cushim_slot_info info;
        assert_int_equal(cushim_query_slot(slot, kind, &info), CUDA_SUCCESS);
        assert_int_equal(info.is_layered, slot == CUSHIM_SLOT_StreamQuery_v1);
        bool finds = slot == CUSHIM_SLOT_GetProcAddress_v1 || slot == CUSHIM_SLOT_GetProcAddress_v2;
        if (unit_pointer(slot, kind) != before[kind][slot])
            assert_true(info.is_layered || finds);
    }
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamQuery_v1), CUSHIM_STATE_NATIVE);
    stop(&a);
    FOR_EACH_KIND(kind)
    assert_memory_equal(before[kind], unit_table(kind), sizeof before[kind]);
}

static void test_layer_when_stopped_then_the_tables_below_are_current(void **state)
{
    (void)state;
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *plain = cushim_table_legacy();
    add(&a);
    const struct cushim_dispatch_table *with_a = cushim_table_legacy();
    add(&b);
    const struct cushim_dispatch_table *with_both = cushim_table_legacy();
    stop(&b);
    assert_ptr_equal(cushim_table_legacy(), with_a);
    assert_passes(with_both, "b a ");
    stop(&a);
    assert_ptr_equal(cushim_table_legacy(), plain);
    assert_passes(plain, "");
    assert_passes(with_both, "b "); /* pointers that were obtained before can be called */
    assert_state(0, "a", CUSHIM_LAYER_STOPPED);
    assert_state(1, "b", CUSHIM_LAYER_STOPPED);
    add(&c);
    assert_passes(cushim_table_legacy(), "c ");
}

static void test_layer_when_stopped_in_the_middle_then_the_ones_above_pass_on_to_the_ones_below(void **state)
{
    (void)state;
    unit_load_plain("fake_12040");
    add(&a);
    add(&b);
    add(&c);
    const struct cushim_dispatch_table *kept = cushim_table_legacy();
    stop(&b);
    assert_int_equal(installs, 6);
    assert_passes(cushim_table_legacy(), "c a ");
    assert_passes(cushim_table_per_thread(), "c' a' ");
    assert_passes(kept, "c a ");
    stop(&a);
    assert_passes(cushim_table_legacy(), "c ");
    assert_passes(kept, "c ");
    assert_passes(cushim_table_per_thread(), "c' ");
}

static void test_layer_when_stopped_while_it_waits_then_never_installed(void **state)
{
    (void)state;
    add(&a);
    add(&b);
    stop(&a);
    assert_state(0, "a", CUSHIM_LAYER_STOPPED);
    unit_load_plain("fake_12040");
    assert_passes(cushim_table_legacy(), "b ");
    assert_int_equal(installs, 2);
}

static void test_stop_when_the_layer_is_not_installed_then_not_found(void **state)
{
    (void)state;
    unit_load_plain("fake_12040");
    add(&a);
    stop(&a);
    struct cushim_layer *const layers[] = {&a, &b, NULL};
    for (size_t i = 0; i < 3; i++)
        assert_refused(cushim_layer_stop(layers[i]), CUDA_ERROR_NOT_FOUND, "cushim_layer_stop", "not installed");
}

static void test_layer_when_it_is_installed_or_was_then_refused(void **state)
{
    (void)state;
    static const char function[] = "cushim_layer_add";
    struct cushim_layer same_name = CUSHIM_LAYER("a", a_install, NULL);
    add(&a); /* waits */
    assert_refused(cushim_layer_add(&a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    unit_load_plain("fake_12040");
    assert_refused(cushim_layer_add(&a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    assert_refused(cushim_layer_add(&same_name), CUDA_ERROR_ALREADY_ACQUIRED, function, "\"a\"");
    stop(&a);
    assert_refused(cushim_layer_add(&a), CUDA_ERROR_ALREADY_ACQUIRED, function, "already");
    assert_passes(cushim_table_legacy(), "");
    assert_int_equal(installs, 2);
}

static void test_layer_when_it_is_compiled_for_a_newer_cushim_then_refused(void **state)
{
    (void)state;
    static const struct {
        unsigned version, slot_count;
    } cases[] = {{0, CUSHIM_SLOT_COUNT},
                 {CUSHIM_LAYER_VERSION + 1, CUSHIM_SLOT_COUNT},
                 {CUSHIM_LAYER_VERSION, 0},
                 {CUSHIM_LAYER_VERSION, CUSHIM_SLOT_COUNT + 1}};
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct cushim_layer other = CUSHIM_LAYER("other", a_install, NULL);
        other.version = cases[i].version;
        other.slot_count = cases[i].slot_count;
        assert_refused(cushim_layer_add(&other), CUDA_ERROR_NOT_SUPPORTED, "cushim_layer_add", "version");
        assert_int_equal(other.is_used, 0);
    }
    assert_ptr_equal(cushim_table_legacy(), before);
    assert_int_equal(installs, 0);
}

static void test_layer_when_it_is_compiled_for_an_older_list_then_accepted(void **state)
{
    (void)state;
    static struct cushim_layer older = CUSHIM_LAYER("older", b_install, NULL);
    older.slot_count = CUSHIM_SLOT_COUNT - 1;
    unit_load_plain("fake_12040");
    add(&older);
    assert_int_equal(installs, 2);
    assert_int_equal(cushim_table()->CtxSynchronize_v1(), FAKE_CODE(ROW_CtxSynchronize_v1, 0));
}

static CUresult null_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             enum cushim_default_stream kind, void *user)
{
    (void)next;
    (void)kind;
    (void)user;
    table->MemAlloc_v2 = NULL;
    return CUDA_SUCCESS;
}

static void test_layer_when_it_is_incomplete_then_refused(void **state)
{
    (void)state;
    struct cushim_layer cases[] = {CUSHIM_LAYER(NULL, a_install, NULL), CUSHIM_LAYER("", a_install, NULL),
                                   CUSHIM_LAYER("x", NULL, NULL), CUSHIM_LAYER("x", null_install, NULL)};
    unit_load_plain("fake_12040");
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(cushim_layer_add(&cases[i]), CUDA_ERROR_INVALID_VALUE);
        assert_int_equal(cases[i].is_used, 0);
    }
    assert_int_equal(cushim_layer_add(NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_query_layer(0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_ptr_equal(cushim_table_legacy(), before);
}

static void test_layer_when_install_fails_after_the_load_then_nothing_is_changed(void **state)
{
    (void)state;
    struct cushim_layer_info info;
    unit_load_plain("fake_12040");
    add(&a);
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    install_code = CUDA_ERROR_INVALID_CONTEXT;
    assert_refused(cushim_layer_add(&b), CUDA_ERROR_INVALID_CONTEXT, "cushim_layer_add",
                   "\"b\" could not be installed (CUDA_ERROR_INVALID_CONTEXT)");
    assert_ptr_equal(cushim_table_legacy(), before);
    assert_int_equal(cushim_query_layer(1, &info), CUDA_ERROR_NOT_FOUND);
    install_code = CUDA_SUCCESS;
    add(&b);
    assert_passes(cushim_table_legacy(), "b a ");
}

static void test_load_when_a_waiting_layer_cannot_be_installed_then_it_fails_and_can_be_tried_again(void **state)
{
    (void)state;
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    add(&a);
    add(&b);
    install_code = CUDA_ERROR_NOT_SUPPORTED;
    unit_assert_failed(cushim_load(&options), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(cushim_get_diagnosis()->message, "\"a\"");
    assert_passes(cushim_table_legacy(), "");
    install_code = CUDA_SUCCESS;
    assert_int_equal(cushim_load(&options), CUDA_SUCCESS);
    assert_passes(cushim_table_legacy(), "b a ");
}

/* Calls of cushim by a layer that is being installed. */

static CUresult busy_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             enum cushim_default_stream kind, void *user)
{
    struct cushim_layer_info info;
    int version = 0;
    (void)table;
    (void)kind;
    assert_int_equal(cushim_layer_add(&a), CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_layer_stop(&a), CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_load(NULL), CUDA_ERROR_NOT_READY);
    assert_int_equal(cushim_query_layer(0, &info), CUDA_SUCCESS);
    assert_int_equal(next->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    assert_int_equal(version, 12040);
    *(int *)user += 1;
    return CUDA_SUCCESS;
}

static void test_install_when_it_calls_cushim_then_nothing_hangs(void **state)
{
    (void)state;
    int done = 0;
    struct cushim_layer busy = CUSHIM_LAYER("busy", busy_install, &done);
    unit_load_plain("fake_12040");
    add(&busy);
    unit_reset(NULL);
    add(&busy);
    unit_load_plain("fake_12040");
    assert_int_equal(done, 4);
    unit_reset(NULL);
}

/* An install function that calls what the layer below has replaced. */
static CUresult asking_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                               enum cushim_default_stream kind, void *user)
{
    (void)table;
    (void)kind;
    *(CUresult *)user = next->StreamQuery_v1(NULL);
    return install_code;
}

static void test_install_when_it_calls_a_layer_that_waited_too_then_the_call_reaches_the_driver(void **state)
{
    (void)state;
    struct cushim_load_options none = {.path = "none"};
    struct cushim_load_options fake = {.path = unit_fake("fake_12040")};
    CUresult asked = CUDA_SUCCESS;
    struct cushim_layer asking = CUSHIM_LAYER("asking", asking_install, &asked);
    add(&a);
    add(&asking);
    assert_int_equal(cushim_load(&none), CUDA_ERROR_FILE_NOT_FOUND);
    assert_string_equal(calls, "a a' ");
    assert_int_equal(asked, CUDA_ERROR_NO_DEVICE);
    install_code = CUDA_ERROR_UNKNOWN;
    unit_assert_failed(cushim_load(&fake), CUSHIM_REASON_BAD_LAYER, CUDA_ERROR_UNKNOWN);
    assert_passes(cushim_table_legacy(), "a ");
    install_code = CUDA_SUCCESS;
    assert_int_equal(cushim_load(&fake), CUDA_SUCCESS);
    assert_int_equal(asked, FAKE_CODE(ROW_StreamQuery_v1, 1));
    assert_passes(cushim_table_legacy(), "a ");
    unit_reset(NULL);
}

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

static void assert_look_ups_lead_to_the_top(void)
{
    const cuuint64_t legacy = CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    const cuuint64_t per_thread = CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    FOR_EACH_KIND(kind)
    {
        cushim_fn query = unit_pointer(CUSHIM_SLOT_StreamQuery_v1, kind);
        assert_true(look_up("cuStreamQuery", kind) == query);
        assert_true(look_up("cuCtxSynchronize", kind) == unit_pointer(CUSHIM_SLOT_CtxSynchronize_v1, kind));
        assert_true(proc_address(kind, "cuStreamQuery", 0) == query);
        assert_true(proc_address(kind, "cuStreamQuery", legacy) == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, LEGACY));
        assert_true(proc_address(kind, "cuStreamQuery", per_thread)
                    == unit_pointer(CUSHIM_SLOT_StreamQuery_v1, PER_THREAD));
        assert_true(proc_address(kind, "cuCtxSynchronize", 0) == unit_pointer(CUSHIM_SLOT_CtxSynchronize_v1, kind));
        assert_true(proc_address(kind, "cuGetProcAddress", 0) == unit_pointer(CUSHIM_SLOT_GetProcAddress_v2, kind));
    }
}

static void test_look_ups_when_there_are_layers_then_they_lead_to_the_top_table(void **state)
{
    (void)state;
    static const struct cushim_load_options cases[] = {
        {.max_version = 0}, {.max_version = 12030}, {.hide = "cuStreamGetId"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        begin(NULL);
        unit_load("fake_12040", cases[i]);
        assert_look_ups_lead_to_the_top();
        cushim_fn plain = look_up("cuStreamQuery", LEGACY);
        add(&a);
        assert_look_ups_lead_to_the_top();
        add(&b);
        assert_look_ups_lead_to_the_top();
        assert_true(look_up("cuStreamQuery", LEGACY) != plain);
        assert_int_equal(unit_call(look_up("cuCtxSynchronize", LEGACY)), FAKE_CODE(ROW_CtxSynchronize_v1, 0));
        stop(&b);
        assert_look_ups_lead_to_the_top();
        stop(&a);
        assert_look_ups_lead_to_the_top();
        assert_true(look_up("cuStreamQuery", LEGACY) == plain);
    }
}

static void test_look_ups_when_they_find_nothing_then_layers_change_nothing(void **state)
{
    (void)state;
    void *pointer = state;
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    unit_load("fake_12040", (struct cushim_load_options){.hide = "cuStreamQuery"});
    add(&a);
    cushim_fn fn = (cushim_fn)begin;
    assert_int_equal(cushim_lookup("cuStreamQuery", 12040, LEGACY, &fn), CUDA_ERROR_NOT_FOUND);
    assert_true(fn == (cushim_fn)begin);
    assert_int_equal(cushim_table()->GetProcAddress_v1("cuStreamQuery", &pointer, 12040, 0), CUDA_ERROR_NOT_FOUND);
    assert_ptr_equal(pointer, state);
    assert_int_equal(cushim_table()->GetProcAddress_v2("cuStreamQuery", &pointer, 12040, 0, &status), CUDA_SUCCESS);
    assert_null(pointer);
    assert_int_equal(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    assert_int_equal(cushim_table()->GetProcAddress_v1("cuStreamQuery", NULL, 12040, 0), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(unit_state(CUSHIM_SLOT_StreamQuery_v1), CUSHIM_STATE_MISSING);
    assert_int_equal(cushim_table_legacy()->StreamQuery_v1(NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(calls, "a ");
}

static CUresult CUDAAPI mock_callback(CUstream stream, CUstreamCallback callback, void *user_data, unsigned flags)
{
    (void)flags;
    note_call("driver", LEGACY);
    callback(stream, CUDA_SUCCESS, user_data);
    return CUDA_SUCCESS;
}

static void CUDA_CB do_nothing(void *user_data)
{
    (void)user_data;
}

static struct cushim_layer host;

static CUresult CUDAAPI host_LaunchHostFunc(CUstream stream, CUhostFn function, void *user_data)
{
    note_call("function", LEGACY);
    return cushim_layer_next(&host, LEGACY)->LaunchHostFunc_v1(stream, function, user_data);
}

static CUresult CUDAAPI host_StreamAddCallback(CUstream stream, CUstreamCallback callback, void *data, unsigned flags)
{
    note_call("callback", LEGACY);
    return cushim_layer_next(&host, LEGACY)->StreamAddCallback_v1(stream, callback, data, flags);
}

static CUresult CUDAAPI host_Init(unsigned flags)
{
    note_call("init", LEGACY);
    return cushim_layer_next(&host, LEGACY)->Init_v1(flags);
}

static CUresult host_install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                             enum cushim_default_stream kind, void *user)
{
    (void)next;
    (void)kind;
    (void)user;
    table->LaunchHostFunc_v1 = host_LaunchHostFunc;
    table->StreamAddCallback_v1 = host_StreamAddCallback;
    table->Init_v1 = host_Init;
    return CUDA_SUCCESS;
}

static struct cushim_layer host = CUSHIM_LAYER("host functions", host_install, NULL);

static void test_polyfill_when_a_layer_replaces_its_slot_then_the_layer_is_called_once(void **state)
{
    (void)state;
    add(&host);
    mock_load_kind("fake_9010", (struct cushim_load_options){0}, LEGACY)->StreamAddCallback_v1 = mock_callback;
    assert_int_equal(unit_state(CUSHIM_SLOT_LaunchHostFunc_v1), CUSHIM_STATE_POLYFILL);
    assert_int_equal(cushim_table_legacy()->LaunchHostFunc_v1(NULL, do_nothing, NULL), CUDA_SUCCESS);
    assert_string_equal(calls, "function driver ");
}

static void test_cushim_init_when_there_is_a_layer_then_the_layer_is_called(void **state)
{
    (void)state;
    unit_load_plain("fake_12040");
    add(&host);
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    assert_string_equal(calls, "init ");
}

/* Rows of the second form in entry_points.h. */
static const bool by_kind[CUSHIM_SLOT_COUNT] = {
#define CUSHIM_ENTRY(function, abi, since, params, args) false,
#define CUSHIM_ENTRY_BY_KIND(function, abi, since, params, args) true,
#include "cushim/entry_points.h"
};

static void test_rows_when_the_tables_differ_then_entry_points_h_marks_them(void **state)
{
    (void)state;
    unit_load_plain(FAKE_OF_LIST_VERSION);
    FOR_EACH_SLOT(slot)
    {
        if ((unit_pointer(slot, LEGACY) != unit_pointer(slot, PER_THREAD)) != by_kind[slot])
            fail_msg("%s", cush_symbols_slot_name(slot));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        LAYER_TEST(test_layer_when_added_after_the_load_then_called_in_both_tables),
        LAYER_TEST(test_layer_when_added_before_the_load_then_nothing_is_loaded_until_a_call),
        LAYER_TEST(test_layer_when_there_is_no_driver_then_called_and_the_call_returns_no_device),
        LAYER_TEST(test_layers_when_a_later_load_finds_a_driver_then_they_are_on_its_tables),
        LAYER_TEST(test_layers_when_stacked_then_the_newest_is_on_top),
        LAYER_TEST(test_slots_when_the_layer_does_not_replace_them_then_they_are_the_drivers),
        LAYER_TEST(test_layer_when_stopped_then_the_tables_below_are_current),
        LAYER_TEST(test_layer_when_stopped_in_the_middle_then_the_ones_above_pass_on_to_the_ones_below),
        LAYER_TEST(test_layer_when_stopped_while_it_waits_then_never_installed),
        LAYER_TEST(test_stop_when_the_layer_is_not_installed_then_not_found),
        LAYER_TEST(test_layer_when_it_is_installed_or_was_then_refused),
        LAYER_TEST(test_layer_when_it_is_compiled_for_a_newer_cushim_then_refused),
        LAYER_TEST(test_layer_when_it_is_compiled_for_an_older_list_then_accepted),
        LAYER_TEST(test_layer_when_it_is_incomplete_then_refused),
        LAYER_TEST(test_layer_when_install_fails_after_the_load_then_nothing_is_changed),
        LAYER_TEST(test_load_when_a_waiting_layer_cannot_be_installed_then_it_fails_and_can_be_tried_again),
        LAYER_TEST(test_install_when_it_calls_cushim_then_nothing_hangs),
        LAYER_TEST(test_install_when_it_calls_a_layer_that_waited_too_then_the_call_reaches_the_driver),
        LAYER_TEST(test_look_ups_when_there_are_layers_then_they_lead_to_the_top_table),
        LAYER_TEST(test_look_ups_when_they_find_nothing_then_layers_change_nothing),
        LAYER_TEST(test_polyfill_when_a_layer_replaces_its_slot_then_the_layer_is_called_once),
        LAYER_TEST(test_cushim_init_when_there_is_a_layer_then_the_layer_is_called),
        LAYER_TEST(test_rows_when_the_tables_differ_then_entry_points_h_marks_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
