/* SPDX-License-Identifier: MIT */
/* CUSHIM_LOG: the lines of the log callback in a file or on stderr, whatever happens to either. POSIX only. */
#include "unit.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "directory.h"
#include "mock.h"

static char expected[65536];

static void expect_line(void *unused, const char *line)
{
    size_t used = strlen(expected);
    snprintf(expected + used, sizeof expected - used, "cushim[%ld]: %s\n", (long)getpid(), line);
}

static const char *file_text(const char *path)
{
    static char text[1 << 20];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    assert_true(size < sizeof text); /* the lines have long paths */
    text[size] = '\0';
    return text;
}

static CUresult load_expecting(const char *fake)
{
    return cushim_load(&(struct cushim_load_options){.path = unit_fake(fake), .log = expect_line});
}

DIRECTORY_TEST(test_log_variable_when_it_names_a_file_then_every_load_appends_the_lines_of_the_callback)
{
    char log[256];
    strcpy(expected, "before\n");
    snprintf(log, sizeof log, "%s", directory_write("log", expected, strlen(expected)));
    unit_set_variable("CUSHIM_LOG", log);
    unit_set_variable("CUSHIM_HIDE", "Stream\nQuery");
    assert_int_equal(load_expecting("not_stub"), CUDA_ERROR_INVALID_VALUE);
    unit_set_variable("CUSHIM_HIDE", NULL);
    assert_int_equal(load_expecting("not_stub"), CUDA_ERROR_STUB_LIBRARY);
    assert_int_equal(load_expecting("fake_12040"), CUDA_SUCCESS);
    unit_assert_contains(expected, "]: loaded /");
    assert_string_equal(file_text(log), expected);
}

DIRECTORY_TEST(test_log_variable_when_the_first_call_loads_then_its_load_is_logged)
{
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    unit_assert_contains(file_text(directory_path("log")), "fake_12040.so: a driver for CUDA 12.4\n");
    unit_assert_contains(file_text(directory_path("log")), "]: loaded ");
}

static CUresult answer;

static CUresult CUDAAPI init(unsigned flags)
{
    (void)flags;
    return answer;
}

/* How a program reaches cuInit. */
static CUresult start_by_slot(void)
{
    return cushim_table()->Init_v1(0);
}

static CUresult start_by_symbol(void)
{
    CUresult(CUDAAPI * start)(unsigned) = NULL;
    cushim_fn found = cushim_symbol("cuInit");
    memcpy(&start, &found, sizeof start);
    return start(0);
}

static CUresult (*const starts[])(void) = {cushim_init, start_by_slot, start_by_symbol};

static const char *logged_start(void)
{
    static char line[1024];
    const char *found = strstr(file_text(directory_path("log")), "]: cuInit ");
    snprintf(line, sizeof line, "%s", found != NULL ? found : "");
    return line;
}

DIRECTORY_TEST(test_log_variable_when_a_start_fails_then_one_line_says_why_on_each_way)
{
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        char line[1024];
        mock_reset(state);
        unit_set_variable("CUSHIM_LOG", directory_write("log", "", 0));
        mock_load("fake_12040", (struct cushim_load_options){.root = directory_machine()})->Init_v1 = init;
        assert_string_equal(logged_start(), "");
        answer = CUDA_ERROR_SYSTEM_NOT_READY;
        assert_int_equal(starts[i](), answer);
        snprintf(line, sizeof line, "]: cuInit failed: %s\n", cushim_diagnosis_get()->message);
        assert_string_equal(logged_start(), line);
        answer = CUDA_SUCCESS;
        assert_int_equal(starts[i](), answer);
        unit_assert_contains(logged_start(), "]: cuInit succeeded\n");
    }
}

DIRECTORY_TEST(test_log_variable_when_a_start_succeeds_then_no_line_is_added)
{
    mock_reset(state);
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    mock_load("fake_12040", (struct cushim_load_options){.max_version = 0})->Init_v1 = init;
    answer = CUDA_SUCCESS;
    assert_int_equal(cushim_init(), answer);
    assert_string_equal(logged_start(), "");
}

DIRECTORY_TEST(test_log_variable_when_cuInit_is_hidden_or_devices_are_then_the_line_says_so)
{
    mock_reset(state);
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    unit_set_variable("CUDA_VISIBLE_DEVICES", "7");
    mock_load("fake_12040", (struct cushim_load_options){.hide = "cuInit"});
    assert_int_equal(cushim_init(), CUDA_ERROR_NOT_SUPPORTED);
    unit_assert_contains(logged_start(), "cuInit is hidden");
    unit_assert_contains(file_text(directory_path("log")), "]: CUDA_VISIBLE_DEVICES=7\n");
}

DIRECTORY_TEST(test_log_variable_when_the_file_cannot_be_written_then_the_driver_is_loaded)
{
    static char long_path[100000];
    char fifo[256];
    snprintf(fifo, sizeof fifo, "%s", directory_path("fifo"));
    assert_int_equal(mkfifo(fifo, 0600), 0);
    memset(long_path, 'x', sizeof long_path - 1);
    const char *const paths[] = {"/no/such/directory/log", directory_root(), "/dev/full", fifo, long_path};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        unit_reset(NULL);
        unit_set_variable("CUSHIM_LOG", paths[i]);
        alarm(20); /* for an open that waits */
        unit_load_plain("fake_12040");
        assert_int_equal(cushim_diagnosis_get()->variable_count, 0);
    }
    alarm(0);
}

static bool load_without_room(void)
{
    const struct rlimit none = {0, 0};
    return setrlimit(RLIMIT_FSIZE, &none) == 0 && unit_load_path(unit_fake("fake_12040")) == CUDA_SUCCESS;
}

DIRECTORY_TEST(test_log_variable_when_files_may_not_grow_then_the_driver_is_loaded)
{
    unit_set_variable("CUSHIM_LOG", directory_write("log", "before\n", strlen("before\n")));
    child_check(NULL, load_without_room);
    assert_string_equal(file_text(directory_path("log")), "before\n");
}

/* stderr of the child, or -1 for none, and what SIGPIPE does there. */
static int child_stderr;
static void (*child_on_pipe)(int);

static bool load_in_child(void)
{
    signal(SIGPIPE, child_on_pipe);
    if (child_stderr >= 0)
        dup2(child_stderr, STDERR_FILENO);
    else
        close(STDERR_FILENO);
    return unit_load_path(unit_fake("fake_12040")) == CUDA_SUCCESS && cushim_driver_version() == 12040;
}

static pid_t start_child(int writer, void (*on_pipe)(int))
{
    unit_set_variable("CUSHIM_LOG", "stderr");
    child_stderr = writer;
    child_on_pipe = on_pipe;
    return child_start(NULL, load_in_child);
}

DIRECTORY_TEST(test_log_variable_when_it_is_stderr_then_the_lines_have_the_number_of_the_process)
{
    char text[4096], start[64];
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = start_child(ends[1], SIG_DFL);
    close(ends[1]);
    size_t used = 0;
    for (ssize_t got = 1; got > 0; used += (size_t)got)
        got = read(ends[0], text + used, sizeof text - 1 - used);
    text[used] = '\0';
    close(ends[0]);
    child_end(child);
    snprintf(start, sizeof start, "cushim[%ld]: /", (long)child);
    assert_memory_equal(text, start, strlen(start));
    unit_assert_contains(text, "]: loaded ");
}

DIRECTORY_TEST(test_log_variable_when_stderr_is_closed_or_unread_then_the_driver_is_loaded)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    child_end(start_child(ends[1], SIG_DFL));
    child_end(start_child(ends[1], SIG_IGN));
    child_end(start_child(-1, SIG_DFL));
    close(ends[1]);
}

enum { CHILDREN = 4, LOADS = 200, LINES = 2 };

static bool load_often(void)
{
    for (int load = 0; load < LOADS; load++)
        (void)unit_load_path(unit_fake("not_stub"));
    return true;
}

DIRECTORY_TEST(test_log_variable_when_processes_share_a_file_then_no_line_is_lost_or_divided)
{
    pid_t children[CHILDREN];
    int lines = 0;
    unit_set_variable("CUSHIM_LOG", directory_path("log"));
    for (int i = 0; i < CHILDREN; i++)
        children[i] = child_start(NULL, load_often);
    for (int i = 0; i < CHILDREN; i++)
        child_end(children[i]);
    for (const char *line = file_text(directory_path("log")); *line != '\0'; line = strchr(line, '\n') + 1, lines++)
        assert_memory_equal(line, "cushim[", strlen("cushim["));
    assert_int_equal(lines, CHILDREN * LOADS * LINES);
}
