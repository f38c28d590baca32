/* SPDX-License-Identifier: MIT */
/* fork(): after a load, during a load, and in the constructor of the driver. POSIX only. */
#include "unit.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "directory.h"

/* The fake's code for the slot that the children call. */
#define QUERY FAKE_CODE(ENTRY_StreamQuery_v1, 0)

static void (*in_constructor)(void);

__attribute__((visibility("default"))) void fake_driver_constructed(void)
{
    if (in_constructor != NULL)
        in_constructor();
}

static bool everything_works(void)
{
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_driver_version() == 12040
           && cushim_table()->StreamQuery_v1(NULL) == QUERY && cushim_diagnosis_get()->code == CUDA_SUCCESS;
}

UNIT_TEST(test_fork_when_loaded_then_the_child_goes_on)
{
    unit_load_plain("fake_12040");
    child_check(NULL, everything_works);
    assert_true(everything_works());
}

UNIT_TEST(test_fork_when_nothing_is_loaded_then_the_child_loads_for_itself)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    child_check(NULL, everything_works);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NOT_TRIED);
}

UNIT_TEST(test_fork_when_a_load_failed_then_the_child_may_try_again)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_int_equal(cushim_load(NULL), CUDA_ERROR_FILE_NOT_FOUND);
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    child_check(NULL, everything_works);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);
}

/* After cuInit: the driver in a child is not initialised. */

static CUresult CUDAAPI not_initialised(unsigned flags)
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

static bool is_told_of_the_fork(void)
{
    ((struct cushim_dispatch_table *)unit_object("fake_12040", "fake_hooks"))->Init_v1 = not_initialised;
    return cushim_init() == CUDA_ERROR_NOT_INITIALIZED && cushim_diagnosis_get()->reason == CUSHIM_REASON_FORKED
           && strcmp(cushim_error_last()->message, cushim_diagnosis_get()->message) == 0;
}

UNIT_TEST(test_fork_when_initialised_then_diagnosis_of_the_child_says_forked)
{
    unit_load_plain("fake_12040");
    assert_int_equal(cushim_init(), CUDA_SUCCESS);
    child_check(NULL, is_told_of_the_fork);
}

static struct {
    sem_t entered;
    sem_t about_to_fork;
} middle;

static void wait_for_the_fork(void)
{
    sem_post(&middle.entered);
    sem_wait(&middle.about_to_fork);
    /* The child must work whether the fork comes before the end of the load or waits for it. This makes the second case
     * likely, but no test depends on it. */
    usleep(50000);
}

static void *load_slowly(void *path)
{
    return unit_load_path(path) == CUDA_SUCCESS ? path : NULL;
}

static void fork_in_the_middle(const char *fake, bool (*holds)(void), bool loads)
{
    pthread_t thread;
    void *loaded;
    char path[1024];
    snprintf(path, sizeof path, "%s", unit_fake(fake));
    assert_int_equal(sem_init(&middle.entered, 0, 0), 0);
    assert_int_equal(sem_init(&middle.about_to_fork, 0, 0), 0);
    in_constructor = wait_for_the_fork;
    assert_int_equal(pthread_create(&thread, NULL, load_slowly, path), 0);
    sem_wait(&middle.entered);
    in_constructor = NULL;
    sem_post(&middle.about_to_fork);
    pid_t child = child_start(NULL, holds);
    assert_int_equal(pthread_join(thread, &loaded), 0);
    assert_int_equal(loaded != NULL, loads);
    child_end(child);
}

UNIT_TEST(test_fork_when_another_thread_is_loading_then_the_child_has_the_driver)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    fork_in_the_middle("fake_constructor", everything_works, true);
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), QUERY);
}

static bool can_load_another(void)
{
    return cushim_table()->StreamQuery_v1(NULL) == CUDA_ERROR_NO_DEVICE
           && unit_load_path(unit_fake("fake_12040")) == CUDA_SUCCESS && everything_works();
}

UNIT_TEST(test_fork_when_another_thread_is_failing_to_load_then_the_child_can_load)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    fork_in_the_middle("not_stub_constructor", can_load_another, false);
}

/* During a load that waits for the fork: the driver has a lock, which it also takes at forks. */

static struct {
    bool active;
    pthread_mutex_t lock;
    sem_t asked;
    sem_t locked;
} driver = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void lock_driver(void)
{
    if (!driver.active)
        return;
    pthread_mutex_lock(&driver.lock);
    sem_post(&driver.locked);
}

static void unlock_driver(void)
{
    if (driver.active)
        pthread_mutex_unlock(&driver.lock);
}

static CUresult CUDAAPI tell_version_under_lock(int *version)
{
    if (driver.active) {
        sem_post(&driver.asked);
        sem_wait(&driver.locked);
    }
    pthread_mutex_lock(&driver.lock);
    *version = 12040;
    pthread_mutex_unlock(&driver.lock);
    return CUDA_SUCCESS;
}

static bool can_load_by_itself(void)
{
    driver.active = false;
    return unit_load_path(unit_fake("fake_12040")) == CUDA_SUCCESS && everything_works();
}

static void *load_nothing(void *unused)
{
    (void)unit_load_path("none");
    return unused;
}

/* If the fork waited without a limit, this would hang and be killed. */
UNIT_TEST(test_fork_when_the_load_waits_for_it_then_both_go_on)
{
    pthread_t thread;
    void *loaded;
    char path[1024];
    snprintf(path, sizeof path, "%s", unit_fake("fake_12040"));
    alarm(20);
    /* cushim's handlers are registered before the driver's, so the driver's are called first. */
    assert_int_equal(pthread_create(&thread, NULL, load_nothing, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(pthread_atfork(lock_driver, unlock_driver, unlock_driver), 0);
    assert_int_equal(sem_init(&driver.asked, 0, 0), 0);
    assert_int_equal(sem_init(&driver.locked, 0, 0), 0);
    ((struct cushim_dispatch_table *)unit_object("fake_12040", "fake_hooks"))->DriverGetVersion_v1 =
        tell_version_under_lock;

    driver.active = true;
    assert_int_equal(pthread_create(&thread, NULL, load_slowly, path), 0);
    sem_wait(&driver.asked);
    pid_t child = child_start(NULL, can_load_by_itself);
    driver.active = false;
    assert_int_equal(pthread_join(thread, &loaded), 0);
    assert_non_null(loaded);
    child_end(child);
    assert_true(everything_works());
    child_check(NULL, everything_works); /* the lock is in its normal state */
    alarm(0);
}

/* In the fork handlers of another part, which are registered before cushim's, so that they run while the fork() has the
 * load lock. */

static bool handlers_call_cushim;
static int handlers_done;

static CUresult CUDAAPI fail_to_start(unsigned flags)
{
    return CUDA_ERROR_NO_DEVICE;
}

static void call_in_handler(void)
{
    struct cushim_layer_info info;
    if (!handlers_call_cushim)
        return;
    alarm(20);
    handlers_done += cushim_load(NULL) == CUDA_SUCCESS && cushim_init() == CUDA_ERROR_NO_DEVICE
                     && cushim_layer_get_info(0, &info) == CUDA_ERROR_NOT_FOUND;
    alarm(0);
}

__attribute__((constructor)) static void register_handlers(void)
{
    pthread_atfork(call_in_handler, call_in_handler, call_in_handler);
}

static bool both_handlers_are_done(void)
{
    return handlers_done == 2;
}

static bool handlers_work(void)
{
    int status = -1;
    ((struct cushim_dispatch_table *)unit_object("fake_12040", "fake_hooks"))->Init_v1 = fail_to_start;
    handlers_call_cushim = true;
    pid_t child = child_start(NULL, both_handlers_are_done);
    handlers_call_cushim = false;
    return waitpid(child, &status, 0) == child && status == 0 && both_handlers_are_done()
           && cushim_init() == CUDA_ERROR_NO_DEVICE;
}

UNIT_TEST(test_fork_when_handlers_of_another_part_call_cushim_then_they_get_answers)
{
    unit_load_plain("fake_12040");
    child_check(NULL, handlers_work);
}

static void load_with_constructor(void (*work)(void))
{
    in_constructor = work;
    assert_int_equal(unit_load_path(directory_fake("fake_constructor")), CUDA_SUCCESS);
    in_constructor = NULL;
}

static pid_t child_of_constructor;

/* The child stays inside the load. It must not hang there. */
static bool is_inside_a_load(void)
{
    return cushim_load(NULL) == CUDA_ERROR_NOT_READY && cushim_table()->StreamQuery_v1(NULL) == CUDA_ERROR_NO_DEVICE;
}

static void fork_a_child(void)
{
    child_of_constructor = child_start(NULL, is_inside_a_load);
}

DIRECTORY_TEST(test_fork_when_a_constructor_forks_then_both_go_on)
{
    load_with_constructor(fork_a_child);
    child_end(child_of_constructor);
    assert_true(everything_works());
    child_check(NULL, everything_works); /* the lock is in its normal state */
}

static bool ran_command;

static void run_a_command(void)
{
    ran_command = system("true") == 0;
}

DIRECTORY_TEST(test_fork_when_a_constructor_runs_a_command_then_the_load_goes_on)
{
    load_with_constructor(run_a_command);
    assert_true(ran_command);
    assert_true(everything_works());
}
