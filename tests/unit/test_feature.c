/* SPDX-License-Identifier: MIT */
/* Features, as far as the driver alone decides. tests/features has the tests with devices. */
#include "unit.h"

#include <limits.h>
#include <stdio.h>

#if defined(__linux__)
#    include <sched.h>
#    include <sys/mount.h>
#    include <sys/stat.h>
#    include <unistd.h>

#    include "child.h"
#endif

static struct cushim_feature_info alone(enum cushim_feature feature)
{
    struct cushim_feature_info info;
    assert_int_equal(cushim_feature_get_info(feature, CUSHIM_DRIVER_ALONE, &info), CUDA_SUCCESS);
    assert_int_equal(info.is_usable, info.obstacle == CUSHIM_OBSTACLE_NONE);
    assert_int_equal(info.is_usable, info.message[0] == '\0');
    return info;
}

UNIT_TEST(test_feature_find_when_the_name_is_in_the_list_then_it_is_found)
{
    static const char *const words[] = {
#define CUSHIM_FEATURE(id, name, description, source) name,
#include "cushim/features.h"
    };
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        enum cushim_feature found = CUSHIM_FEATURE_COUNT;
        enum cushim_slot slot;
        assert_int_equal(cushim_feature_find(words[i], &found), CUDA_SUCCESS);
        assert_int_equal(found, i);
        assert_int_equal(cushim_slot_find(words[i], &slot), CUDA_ERROR_NOT_FOUND);
    }
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
}

UNIT_TEST(test_feature_find_when_the_name_is_unknown_then_not_found_and_writes_nothing)
{
    static const char *const names[] = {"", "memory", "Memory-Pools", "memory_pools", "memory-pools ", "MEMORY_POOLS"};
    enum cushim_feature found = CUSHIM_FEATURE_COUNT;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(cushim_feature_find(names[i], &found), CUDA_ERROR_NOT_FOUND);
    assert_int_equal(cushim_feature_find(NULL, &found), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(found, CUSHIM_FEATURE_COUNT);
    assert_int_equal(cushim_feature_find("graphs", NULL), CUDA_ERROR_INVALID_VALUE);
}

UNIT_TEST(test_feature_when_a_driver_is_loaded_then_its_version_and_functions_decide)
{
#define F(name) CUSHIM_FEATURE_##name
    static const struct {
        const char *driver, *hide;
        int limit;
        enum cushim_feature feature;
        enum cushim_obstacle obstacle;
        int since;           /* 0: any */
        const char *message; /* NULL: any */
    } rows[] = {
        {"fake_11000", NULL, 0, F(MEMORY_POOLS), CUSHIM_OBSTACLE_VERSION, 0,
         "memory-pools: cuMemPoolCreate needs CUDA 11.2; this driver is CUDA 11.0."},
        {"fake_11000", NULL, 0, F(CLUSTERS), CUSHIM_OBSTACLE_VERSION, 11080,
         "clusters: it needs CUDA 11.8; this driver is CUDA 11.0."},
        {"fake_11000", NULL, 0, F(GREEN_CONTEXTS), CUSHIM_OBSTACLE_VERSION, 0,
         "green-contexts: cuGreenCtxCreate needs CUDA 12.4; this driver is CUDA 11.0."},
        {"fake_11000", NULL, 0, F(VIRTUAL_MEMORY), CUSHIM_OBSTACLE_NONE, 0, ""},
        {"fake_12040", NULL, 11010, F(MEMORY_POOLS), CUSHIM_OBSTACLE_VERSION, 0,
         "memory-pools: cuMemPoolCreate needs CUDA 11.2; the version limit is CUDA 11.1, and this driver is CUDA "
         "12.4."},
        /* A version that no slot shows. */
        {"fake_11040", NULL, 0, F(VIRTUAL_MEMORY_VISIBLE), CUSHIM_OBSTACLE_VERSION, 12000,
         "virtual-memory-visible: it needs CUDA 12.0; this driver is CUDA 11.4."},
        {"fake_12040", NULL, 11080, F(VIRTUAL_MEMORY_VISIBLE), CUSHIM_OBSTACLE_VERSION, 12000,
         "virtual-memory-visible: it needs CUDA 12.0; this driver is limited to CUDA 11.8."},
        {"fake_12040", "MemPoolCreate", 0, F(MEMORY_POOLS), CUSHIM_OBSTACLE_FUNCTION, 0,
         "memory-pools: cuMemPoolCreate is hidden by CUSHIM_HIDE or the option hide."},
        {"fake_12040", "MemPoolCreate", 0, F(STREAM_ORDERED_ALLOCATION), CUSHIM_OBSTACLE_NONE, 0, ""},
        {"fake_12040", "MemPoolCreate", 11020, F(MEMORY_POOLS), CUSHIM_OBSTACLE_FUNCTION, 0, NULL},
        {"fake_12040", NULL, 11080, F(CLUSTERS), CUSHIM_OBSTACLE_NONE, 0, ""},
        {"fake_10000", NULL, 0, F(GRAPHS), CUSHIM_OBSTACLE_NONE, 10000, ""},
        {"fake_10000", NULL, 0, F(GRAPH_UPDATE), CUSHIM_OBSTACLE_VERSION, 0, NULL},
        {"fake_6050", NULL, 0, F(PER_THREAD_STREAMS), CUSHIM_OBSTACLE_VERSION, 0,
         "per-thread-streams: it needs CUDA 7.0; this driver is CUDA 6.5."},
        {"fake_9010", NULL, 0, F(PER_THREAD_STREAMS), CUSHIM_OBSTACLE_NONE, 0, ""},
        /* Drivers from CUDA 11.2 to 12.2 have the functions, and do not know the attribute that shows the feature. */
        {"fake_11040", NULL, 0, F(MEMORY_FABRIC_HANDLES), CUSHIM_OBSTACLE_VERSION, 0,
         "memory-fabric-handles: it needs CUDA 12.3; this driver is CUDA 11.4."},
        {"fake_11040", NULL, 0, F(MPS), CUSHIM_OBSTACLE_VERSION, 0, NULL},
    };
#undef F
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        unit_reset(state);
        unit_load(rows[i].driver, (struct cushim_load_options){.hide = rows[i].hide, .max_version = rows[i].limit});
        struct cushim_feature_info info = alone(rows[i].feature);
        assert_int_equal(info.obstacle, rows[i].obstacle);
        if (rows[i].since != 0)
            assert_int_equal(info.since, rows[i].since);
        if (rows[i].message != NULL)
            assert_string_equal(info.message, rows[i].message);
    }
}

#if defined(__linux__)
#    define CHANNELS "/dev/nvidia-caps-imex-channels"

/* In a /dev of its own. */
static bool make_empty_channels(void)
{
    int user = geteuid() != 0 ? CLONE_NEWUSER : 0;
    return unshare(CLONE_NEWNS | user) == 0 && mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0
           && mount("none", "/dev", "tmpfs", 0, NULL) == 0 && mkdir(CHANNELS, 0755) == 0;
}

static bool fabric_handles_are_usable(void)
{
    struct cushim_feature_info info;
    return cushim_feature_get_info(CUSHIM_FEATURE_MEMORY_FABRIC_HANDLES, CUSHIM_DRIVER_ALONE, &info) == CUDA_SUCCESS
           && info.is_usable;
}

static bool a_channel_makes_fabric_handles_usable(void)
{
    bool were_usable = fabric_handles_are_usable();
    FILE *channel = fopen(CHANNELS "/channel0", "w");
    return channel != NULL && fclose(channel) == 0 && !were_usable && fabric_handles_are_usable();
}

UNIT_TEST(test_fabric_handles_when_the_directory_of_channels_is_empty_then_not_usable)
{
    unit_load_plain("fake_13000");
    if (!child_check(make_empty_channels, a_channel_makes_fabric_handles_usable))
        unit_skip("this machine gives a process no file system of its own");
}
#endif

/* Not an older one, with which the program would fail again. */
UNIT_TEST(test_feature_when_the_driver_is_too_old_then_the_message_names_the_version_that_is_enough)
{
    int too_old = 0;
    unit_load_plain("fake_6050");
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info info = alone((enum cushim_feature)i);
        char text[40];
        snprintf(text, sizeof text, "needs CUDA %d.%d;", info.since / 1000, info.since % 1000 / 10);
        if (info.obstacle == CUSHIM_OBSTACLE_VERSION)
            unit_assert_contains(info.message, text);
        too_old += info.obstacle == CUSHIM_OBSTACLE_VERSION;
    }
    assert_true(too_old > CUSHIM_FEATURE_COUNT / 2);
}

UNIT_TEST(test_feature_when_no_driver_exists_then_the_message_is_that_of_the_diagnosis)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    struct cushim_feature_info infos[CUSHIM_FEATURE_COUNT];
    assert_int_equal(cushim_feature_get_all(0, CUSHIM_FEATURE_COUNT, infos), CUDA_SUCCESS);
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        assert_int_equal(infos[i].obstacle, CUSHIM_OBSTACLE_NO_DRIVER);
        assert_false(infos[i].is_usable);
        unit_assert_contains(infos[i].message, cushim_diagnosis_get()->message);
    }
}

UNIT_TEST(test_feature_when_the_driver_is_newer_than_the_list_then_its_needs_are_met)
{
    unit_load_plain("fake_future");
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info info = alone((enum cushim_feature)i);
        assert_true(info.is_usable || info.obstacle == CUSHIM_OBSTACLE_PLATFORM);
    }
    struct cushim_feature_info newest = alone(CUSHIM_FEATURE_PTX);
    unit_reset(state);
    unit_load("fake_future", (struct cushim_load_options){.max_version = CUSHIM_LIST_VERSION});
    assert_int_equal(newest.values[0].value, alone(CUSHIM_FEATURE_PTX).values[0].value);
}

UNIT_TEST(test_feature_list_when_counted_then_the_values_of_each_feature_fit)
{
    static const int features[] = {
#define CUSHIM_FEATURE_DEVICE(id, attribute, test, wanted) CUSHIM_FEATURE_##id,
#define CUSHIM_FEATURE_PROPERTY(id, property, test, wanted) CUSHIM_FEATURE_##id,
#include "cushim/features.h"
    };
    size_t counts[CUSHIM_FEATURE_COUNT] = {0};
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++) {
        counts[features[i]]++;
        assert_in_range(counts[features[i]], 1,
                        sizeof((struct cushim_feature_info *)0)->values / sizeof(struct cushim_feature_value));
    }
}

static void assert_ptx(const char *fake, int max_version, int version)
{
    unit_load(fake, (struct cushim_load_options){.max_version = max_version});
    struct cushim_feature_info info = alone(CUSHIM_FEATURE_PTX);
    assert_true(info.is_usable);
    assert_int_equal(info.value_count, 1);
    assert_int_equal(info.values[0].id, CUSHIM_PROPERTY_PTX_VERSION);
    assert_string_equal(info.values[0].name, "PTX_VERSION");
    assert_int_equal(info.values[0].value, version);
}

UNIT_TEST(test_ptx_when_the_driver_has_a_version_then_the_version_of_ptx_follows)
{
    assert_ptx("fake_6050", 0, 41);
    unit_reset(state);
    assert_ptx("fake_12040", 0, 84);
    unit_reset(state);
    assert_ptx("fake_13000", 11080, 78);
    unit_reset(state);
    assert_ptx("fake_13000", 12060, 85);
}

UNIT_TEST(test_feature_when_the_device_cannot_be_asked_then_it_is_an_obstacle)
{
    struct cushim_feature_info info;
    unit_load_plain("fake_12040"); /* its cuDeviceGetAttribute fails */
    assert_int_equal(cushim_feature_get_info(CUSHIM_FEATURE_MEMORY_POOLS, 0, &info), CUDA_SUCCESS);
    assert_int_equal(info.obstacle, CUSHIM_OBSTACLE_UNKNOWN);
    assert_int_equal(info.value_count, 0);
    unit_assert_contains(info.message, "CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED");
    assert_int_equal(cushim_feature_get_info(CUSHIM_FEATURE_CONFIDENTIAL_COMPUTING, 0, &info), CUDA_SUCCESS);
    assert_int_equal(info.obstacle, CUSHIM_OBSTACLE_UNKNOWN);
    assert_int_equal(cushim_feature_get_info(CUSHIM_FEATURE_GRAPHS, 0, &info), CUDA_SUCCESS);
    assert_true(info.is_usable);
}

/* Three devices, each with the same answer to every question but one. */
static CUresult count_result, device_result, attribute_results[3];
static int attribute_values[3];

static CUresult CUDAAPI get_count(int *out_count)
{
    *out_count = 3;
    return count_result;
}

static CUresult CUDAAPI get_device(CUdevice *out_device, int index)
{
    *out_device = index;
    return index == 2 ? device_result : CUDA_SUCCESS;
}

static CUresult CUDAAPI get_attribute(int *out_value, CUdevice_attribute attribute, CUdevice device)
{
    *out_value = attribute_values[device];
    return attribute_results[device];
}

static CUresult require(const char *feature)
{
    return cushim_require(&feature, 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL);
}

UNIT_TEST(test_require_when_a_device_does_not_say_yes_then_refused)
{
    static const struct {
        CUresult count, device, attributes[3];
        int values[3];
        const char *feature;
        CUresult expected;
        const char *message;
    } rows[] = {
        {0, 0, {0, 0, 0}, {1, 1, 1}, "memory-pools", CUDA_SUCCESS, NULL},
        {0, 0, {0, 0, 0}, {1, 0, 1}, "memory-pools", CUDA_ERROR_NOT_SUPPORTED, "reports no support"},
        {0, 0, {0, 0, 0}, {1, 1, 0}, "memory-pools", CUDA_ERROR_NOT_SUPPORTED, "reports no support"},
        {0, 0, {0, 0, 999}, {1, 1, 1}, "memory-pools", CUDA_ERROR_NOT_SUPPORTED, "error 999"},
        {0, 101, {0, 0, 0}, {1, 1, 1}, "memory-pools", CUDA_ERROR_NOT_SUPPORTED, "report its devices (error 101)"},
        {999, 0, {0, 0, 0}, {1, 1, 1}, "memory-pools", CUDA_ERROR_NOT_SUPPORTED, "report its devices (error 999)"},
        {CUDA_ERROR_NOT_INITIALIZED, 0, {0, 0, 0}, {0, 0, 0}, "memory-pools", CUDA_SUCCESS, NULL},
        /* The attribute is newer than some drivers that have the feature, which then do not know it. */
        {0, 0, {1, 1, 1}, {0, 0, 0}, "host-registration", CUDA_SUCCESS, NULL},
        {0, 0, {1, 101, 1}, {0, 0, 0}, "host-registration", CUDA_ERROR_NOT_SUPPORTED, "error 101"},
    };
    struct cushim_dispatch_table *hooks = unit_object("fake_12040", "fake_hooks");
    unit_load_plain("fake_12040");
    hooks->DeviceGetCount_v1 = get_count;
    hooks->DeviceGet_v1 = get_device;
    hooks->DeviceGetAttribute_v1 = get_attribute;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        count_result = rows[i].count;
        device_result = rows[i].device;
        memcpy(attribute_results, rows[i].attributes, sizeof attribute_results);
        memcpy(attribute_values, rows[i].values, sizeof attribute_values);
        assert_int_equal(require(rows[i].feature), rows[i].expected);
        if (rows[i].message != NULL)
            unit_assert_contains(cushim_error_last()->message, rows[i].message);
    }
    *hooks = *(struct cushim_dispatch_table *)unit_object("fake_12040", "fake_first_hooks");
}

static CUresult CUDAAPI get_uuid_of_gpu(CUuuid *out_uuid, CUdevice device)
{
    memset(out_uuid, 7, sizeof *out_uuid);
    return device == 2 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static CUresult CUDAAPI get_uuid_of_part(CUuuid *out_uuid, CUdevice device)
{
    memset(out_uuid, device == 1 ? 8 : 7, sizeof *out_uuid);
    return CUDA_SUCCESS;
}

UNIT_TEST(test_mig_when_the_uuids_of_gpu_and_device_differ_then_it_is_a_part)
{
    static const enum cushim_obstacle obstacles[] = {CUSHIM_OBSTACLE_DEVICE, CUSHIM_OBSTACLE_NONE,
                                                     CUSHIM_OBSTACLE_UNKNOWN};
    struct cushim_dispatch_table *hooks = unit_object("fake_12040", "fake_hooks");
    unit_load_plain("fake_12040");
    hooks->DeviceGetUuid_v1 = get_uuid_of_gpu;
    hooks->DeviceGetUuid_v2 = get_uuid_of_part;
    for (int i = 0; i < 3; i++) {
        struct cushim_feature_info info;
        assert_int_equal(cushim_feature_get_info(CUSHIM_FEATURE_MIG, i, &info), CUDA_SUCCESS);
        assert_int_equal(info.obstacle, obstacles[i]);
    }
    *hooks = *(struct cushim_dispatch_table *)unit_object("fake_12040", "fake_first_hooks");
}

UNIT_TEST(test_feature_get_all_when_compared_with_one_then_equal)
{
    static struct cushim_feature_info infos[CUSHIM_FEATURE_COUNT + 2];
    memset(infos, 0x5a, sizeof infos);
    unit_load("fake_13000", (struct cushim_load_options){.max_version = 11040, .hide = "MemCreate"});
    assert_int_equal(cushim_feature_get_all(CUSHIM_DRIVER_ALONE, CUSHIM_FEATURE_COUNT + 1, infos), CUDA_SUCCESS);
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        struct cushim_feature_info info = alone((enum cushim_feature)i);
        assert_string_equal(infos[i].name, info.name);
        assert_string_equal(infos[i].message, info.message);
        assert_int_equal(infos[i].is_usable, info.is_usable);
        assert_int_equal(infos[i].since, info.since);
    }
    assert_null(infos[CUSHIM_FEATURE_COUNT].name);
    assert_int_equal(infos[CUSHIM_FEATURE_COUNT + 1].since, 0x5a5a5a5a);
}

UNIT_TEST(test_feature_when_arguments_are_bad_then_refused)
{
    static const int features[] = {-1, INT_MIN, CUSHIM_FEATURE_COUNT, INT_MAX};
    struct cushim_feature_info info = {.name = "untouched"};
    for (size_t i = 0; i < sizeof features / sizeof features[0]; i++)
        assert_int_equal(cushim_feature_get_info((enum cushim_feature)features[i], CUSHIM_DRIVER_ALONE, &info),
                         CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(info.name, "untouched");
    assert_int_equal(cushim_feature_get_info(CUSHIM_FEATURE_GRAPHS, 0, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_error_last()->function, "cushim_feature_get_info");
    assert_int_equal(cushim_feature_get_all(0, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_string_equal(cushim_error_last()->function, "cushim_feature_get_all");
}

UNIT_TEST(test_obstacle_name_when_asked_then_a_word)
{
    assert_string_equal(cushim_obstacle_name(CUSHIM_OBSTACLE_NONE), "none");
    assert_string_equal(cushim_obstacle_name(CUSHIM_OBSTACLE_NOT_INITIALIZED), "not-initialised");
    assert_string_equal(cushim_obstacle_name(CUSHIM_OBSTACLE_UNKNOWN), "unknown");
    assert_string_equal(cushim_obstacle_name((enum cushim_obstacle) - 1), "unknown");
    assert_string_equal(cushim_obstacle_name(CUSHIM_OBSTACLE_COUNT), "unknown");
}

/* A driver that is loaded and not initialised. */
static void load_before_init(void)
{
    unit_load_plain("fake_11000");
    count_result = CUDA_ERROR_NOT_INITIALIZED;
    ((struct cushim_dispatch_table *)unit_object("fake_11000", "fake_hooks"))->DeviceGetCount_v1 = get_count;
}

UNIT_TEST(test_require_when_a_feature_is_usable_then_success)
{
    static const char *const names[] = {"graphs", "StreamQuery_v1", "virtual-memory"};
    load_before_init();
    assert_int_equal(cushim_require(names, 3, CUSHIM_DEFAULT_STREAM_LEGACY, NULL), CUDA_SUCCESS);
}

UNIT_TEST(test_require_when_a_feature_is_unusable_then_it_is_named_with_its_obstacle)
{
    static const char *const names[] = {"graphs", "memory-pools", "StreamGetId_v1"};
    const char *unmet = NULL;
    load_before_init();
    assert_int_equal(cushim_require(names, 3, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NOT_SUPPORTED);
    assert_ptr_equal(unmet, names[1]);
    assert_string_equal(cushim_error_last()->function, "cushim_require");
    assert_string_equal(cushim_error_last()->message,
                        "memory-pools: cuMemPoolCreate needs CUDA 11.2; this driver is CUDA 11.0.");
}

UNIT_TEST(test_require_when_a_feature_is_named_without_a_driver_then_no_device)
{
    static const char *const names[] = {"graphs"};
    const char *unmet = NULL;
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_require(names, 1, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet), CUDA_ERROR_NO_DEVICE);
    assert_ptr_equal(unmet, names[0]);
}
