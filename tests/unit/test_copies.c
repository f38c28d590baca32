/* SPDX-License-Identifier: MIT */
/* Several copies of cushim in one process: this program has one, and so has each of two plug-ins. POSIX only. */
#include "unit.h"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "copy.h"

/* A plug-in that goes leaves its diagnoses behind, and a reference to the driver: whoever was given one may still use
 * it. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:test_copies.c\n";
}

struct copy {
    void *library;
    __typeof__(copy_load) *load;
    __typeof__(copy_table) *table;
    __typeof__(copy_driver_version) *driver_version;
    __typeof__(copy_diagnosis) *diagnosis;
};

static void *find(struct copy *copy, const char *name)
{
    void *found = dlsym(copy->library, name);
    if (found == NULL)
        fail_msg("%s", dlerror());
    return found;
}

static struct copy open_copy(const char *name, int how)
{
    char path[1024];
    struct copy copy;
    snprintf(path, sizeof path, "%s/%s.so", PROGRAMS, name);
    copy.library = dlopen(path, RTLD_NOW | how);
    if (copy.library == NULL)
        fail_msg("%s", dlerror());
    *(void **)&copy.load = find(&copy, "copy_load");
    *(void **)&copy.table = find(&copy, "copy_table");
    *(void **)&copy.driver_version = find(&copy, "copy_driver_version");
    *(void **)&copy.diagnosis = find(&copy, "copy_diagnosis");
    return copy;
}

static void assert_independent(int how)
{
    struct copy one = open_copy("copy_one", how);
    struct copy two = open_copy("copy_two", how);
    struct cushim_load_options capped = {.path = unit_fake("fake_12040"), .max_version = 11020};
    struct cushim_load_options other = {.path = unit_fake("fake_12040"),
                                        .default_stream = CUSHIM_DEFAULT_STREAM_PER_THREAD};
    assert_int_equal(one.load(&capped), CUDA_SUCCESS);
    assert_int_equal(two.diagnosis()->reason, CUSHIM_REASON_NOT_TRIED);
    assert_int_equal(two.load(&other), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis()->reason, CUSHIM_REASON_NOT_TRIED);
    unit_load_plain("fake_11040");

    assert_ptr_not_equal(one.table(), two.table());
    assert_ptr_not_equal(one.table(), cushim_table());
    assert_int_equal(one.driver_version(), 11020);
    assert_int_equal(two.driver_version(), 12040);
    assert_int_equal(cushim_driver_version(), 11040);
    assert_int_equal(one.table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
    assert_int_equal(two.table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 1));
    assert_int_equal(one.table()->StreamGetId_v1(NULL, NULL), CUDA_ERROR_NOT_SUPPORTED);
    assert_int_equal(two.table()->StreamGetId_v1(NULL, NULL), FAKE_CODE(ROW_StreamGetId_v1, 1));
    assert_int_equal(dlclose(one.library), 0);
    assert_int_equal(two.table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 1));
    assert_int_equal(dlclose(two.library), 0);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
}

static void test_copies_when_opened_locally_then_each_has_a_driver_of_its_own(void **state)
{
    (void)state;
    assert_independent(RTLD_LOCAL);
}

static void test_copies_when_opened_globally_then_each_has_a_driver_of_its_own(void **state)
{
    (void)state;
    assert_independent(RTLD_GLOBAL);
}

static void test_copies_when_linked_statically_then_nothing_of_cushim_is_shown(void **state)
{
    (void)state;
    struct copy one = open_copy("copy_one", RTLD_LOCAL);
    assert_null(dlsym(one.library, "cushim_load_as"));
    assert_null(dlsym(one.library, "cushim_current_table"));
    assert_null(dlsym(one.library, "cushim_diagnosis"));
    assert_int_equal(dlclose(one.library), 0);
}

/* A copy watches forks, and must not do so when it is gone. */
static void test_fork_when_a_copy_was_closed_then_it_is_not_asked_any_more(void **state)
{
    (void)state;
    struct copy one = open_copy("copy_one", RTLD_LOCAL);
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    assert_int_equal(one.load(&options), CUDA_SUCCESS);
    assert_int_equal(dlclose(one.library), 0);
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_copy_when_opened_again_then_it_begins_anew(void **state)
{
    (void)state;
    struct cushim_load_options options = {.path = unit_fake("fake_12040")};
    for (int i = 0; i < 3; i++) {
        struct copy one = open_copy("copy_one", RTLD_LOCAL);
        assert_int_equal(one.load(&options), CUDA_SUCCESS);
        assert_int_equal(one.table()->StreamQuery_v1(NULL), FAKE_CODE(ROW_StreamQuery_v1, 0));
        assert_int_equal(dlclose(one.library), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(test_copies_when_opened_locally_then_each_has_a_driver_of_its_own),
        UNIT_TEST(test_copies_when_opened_globally_then_each_has_a_driver_of_its_own),
        UNIT_TEST(test_copies_when_linked_statically_then_nothing_of_cushim_is_shown),
        UNIT_TEST(test_fork_when_a_copy_was_closed_then_it_is_not_asked_any_more),
        UNIT_TEST(test_copy_when_opened_again_then_it_begins_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
