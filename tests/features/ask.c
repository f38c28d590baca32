/* SPDX-License-Identifier: MIT */
/* Asks for features in unusual situations, on softcuda with two devices: before cuInit; for devices that do not exist;
 * while calls of the driver fail; from many threads. */
#include "use.h"

#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int failures;
static struct cushim_feature_info plain[CUSHIM_FEATURE_COUNT];

static void check(bool condition, const char *what, const char *message)
{
    if (condition)
        return;
    failures++;
    printf("FAILED: %s: %s\n", what, message);
}

/* By the members of the values: the padding between these is not defined. */
static bool is_equal(const struct cushim_feature_info *left, const struct cushim_feature_info *right)
{
    bool has_equal_values = left->value_count == right->value_count;
    for (size_t i = 0; has_equal_values && i < left->value_count; i++) {
        const struct cushim_feature_value *one = &left->values[i], *other = &right->values[i];
        has_equal_values = one->id == other->id && one->value == other->value && strcmp(one->name, other->name) == 0;
    }
    return has_equal_values && left->obstacle == right->obstacle && left->is_usable == right->is_usable
           && left->since == right->since && strcmp(left->message, right->message) == 0;
}

static void test_feature_when_asked_before_init_then_no_feature_of_a_device_is_usable(void)
{
    struct cushim_feature_info info;
    int waiting = 0;
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        check(cushim_feature_get_info((enum cushim_feature)i, 0, &info) == CUDA_SUCCESS && !info.is_usable,
              "usable before cuInit", info.name);
        waiting += info.obstacle == CUSHIM_OBSTACLE_NOT_INITIALIZED && strstr(info.message, "cuInit") != NULL;
    }
    check(waiting > CUSHIM_FEATURE_COUNT / 2, "before cuInit", "few features wait for it");
}

static void test_feature_when_the_device_does_not_exist_then_refused(void)
{
    static const int devices[] = {2, 7, -2, INT_MAX, INT_MIN};
    struct cushim_feature_info info = {.name = "untouched"};
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        check(cushim_feature_get_info(CUSHIM_FEATURE_GRAPHS, devices[i], &info) == CUDA_ERROR_INVALID_DEVICE,
              "a device that does not exist", info.name);
        check(strcmp(info.name, "untouched") == 0, "a refused call wrote", info.name);
    }
}

static void test_feature_when_there_are_two_devices_then_each_is_asked(void)
{
    struct cushim_feature_info second[CUSHIM_FEATURE_COUNT];
    check(cushim_feature_get_all(0, CUSHIM_FEATURE_COUNT, plain) == CUDA_SUCCESS
              && cushim_feature_get_all(1, CUSHIM_FEATURE_COUNT, second) == CUDA_SUCCESS,
          "all features", cushim_error_last()->message);
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++)
        check(is_equal(&plain[i], &second[i]), "two equal devices", second[i].message);
    const struct cushim_feature_info *peer = &plain[CUSHIM_FEATURE_PEER_ACCESS];
    check(peer->is_usable && peer->value_count == 1 && peer->values[0].value == 1, "peer access of two", peer->message);
}

/* One call of the driver fails: only the features that need its answer can differ, and they name what is not known. */
static void test_feature_when_a_call_of_the_driver_fails_then_what_is_not_known_is_named(const char *symbol)
{
    static struct cushim_feature_info infos[CUSHIM_FEATURE_COUNT];
    int differing = 0;
    for (unsigned nth = 1; nth < 100; nth++) {
        int differ = 0;
        use_softcuda()->clear_faults();
        (void)use_softcuda()->fail_call(symbol, nth, CUDA_ERROR_UNKNOWN);
        check(cushim_feature_get_all(0, CUSHIM_FEATURE_COUNT, infos) == CUDA_SUCCESS, symbol, "the call failed");
        for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
            if (is_equal(&infos[i], &plain[i]))
                continue;
            differ++;
            check(infos[i].is_usable || !plain[i].is_usable || strstr(infos[i].message, "(error 999)") != NULL, symbol,
                  infos[i].message);
            check(infos[i].value_count <= plain[i].value_count, symbol, "more values");
        }
        check(differ <= 1, symbol, "more than one feature changed");
        differing += differ;
    }
    use_softcuda()->clear_faults();
    check(differing > 0, symbol, "no failing call changed a feature");
    check(cushim_feature_get_all(0, CUSHIM_FEATURE_COUNT, infos) == CUDA_SUCCESS
              && is_equal(&infos[CUSHIM_FEATURE_PEER_ACCESS], &plain[CUSHIM_FEATURE_PEER_ACCESS]),
          symbol, "afterwards");
}

static void *ask_often(void *out_wrong)
{
    struct cushim_feature_info infos[CUSHIM_FEATURE_COUNT];
    for (int round = 0; round < 200; round++) {
        if (cushim_feature_get_all(round % 2, CUSHIM_FEATURE_COUNT, infos) != CUDA_SUCCESS)
            ++*(int *)out_wrong;
        for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++)
            *(int *)out_wrong += !is_equal(&infos[i], &plain[i]);
    }
    return NULL;
}

static void test_feature_when_threads_ask_at_the_same_time_then_equal(void)
{
    enum { THREADS = 8 };
    pthread_t threads[THREADS];
    int wrong[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        check(pthread_create(&threads[i], NULL, ask_often, &wrong[i]) == 0, "threads", "not created");
    for (int i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
        check(wrong[i] == 0, "threads", "the answers differ");
    }
}

int main(void)
{
    (void)cushim_load(NULL);
    if (use_softcuda() == NULL) {
        puts("skipped: the driver is not softcuda");
        return 77;
    }
    test_feature_when_asked_before_init_then_no_feature_of_a_device_is_usable();
    if (cushim_init() != CUDA_SUCCESS)
        return 1;
    test_feature_when_the_device_does_not_exist_then_refused();
    test_feature_when_there_are_two_devices_then_each_is_asked();
    test_feature_when_a_call_of_the_driver_fails_then_what_is_not_known_is_named("cuDeviceGetAttribute");
    test_feature_when_a_call_of_the_driver_fails_then_what_is_not_known_is_named("cuDeviceCanAccessPeer");
    test_feature_when_a_call_of_the_driver_fails_then_what_is_not_known_is_named("cuDeviceGetCount");
    test_feature_when_threads_ask_at_the_same_time_then_equal();
    printf("%d failures\n", failures);
    return failures != 0;
}
