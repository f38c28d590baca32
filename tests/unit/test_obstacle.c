/* SPDX-License-Identifier: MIT */
/* cushim_init() after a failure in a process to which the system refuses something. Linux only. */
#include "mock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "crowd.h"
#include "directory.h"
#include "os.h"
#include "os_obstacle.h"

/* ---- Ways to refuse something to this process. Each returns false if the machine does not permit it. ---- */

static bool limit(int which, rlim_t value)
{
    return setrlimit(which, &(struct rlimit){value, value}) == 0;
}

static bool limit_files(void)
{
    int next = dup(STDIN_FILENO);
    close(next);
    return limit(RLIMIT_NOFILE, (rlim_t)next + 1);
}

#if !defined(SANITIZED)
/* QEMU's emulation of a process ignores this limit. */
static bool limit_addresses(void)
{
    size_t limited = (size_t)4 << 30;
    return limit(RLIMIT_AS, limited)
           && mmap(NULL, limited, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED;
}
#endif

static bool filter_calls(long one, long other, unsigned action)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)one, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)other, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, action),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool refuse_eventfd(void)
{
    return filter_calls(SYS_eventfd2, SYS_eventfd2, SECCOMP_RET_ERRNO | EPERM);
}

static bool kill_for_descriptors(void)
{
    return filter_calls(SYS_eventfd2, SYS_socket, SECCOMP_RET_KILL_PROCESS);
}

static bool kill_for_pipe(void)
{
    return filter_calls(SYS_pipe2, SYS_clone, SECCOMP_RET_KILL_PROCESS);
}

/* As container engines before 2021. */
static bool refuse_faccessat2(void)
{
    enum { FACCESSAT2 = 439 };
    return filter_calls(FACCESSAT2, FACCESSAT2, SECCOMP_RET_ERRNO | EPERM);
}

enum { MAY_WRITE_FILE = 1 << 1, MAY_READ_FILE = 1 << 2 };

/* Landlock: the rights are refused everywhere except below a directory. */
static bool refuse_rights(uint64_t rights, const char *except)
{
    enum { CREATE_RULESET = 444, ADD_RULE, RESTRICT_SELF };
    int ruleset = (int)syscall(CREATE_RULESET, &rights, sizeof rights, 0);
    if (ruleset < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
        return false;
    if (except != NULL) {
        /* The kernel reads 12 bytes. */
        struct {
            uint64_t rights;
            int32_t directory;
        } rule = {rights, open(except, O_PATH | O_DIRECTORY)};
        if (syscall(ADD_RULE, ruleset, 1, &rule, 0) != 0)
            return false;
    }
    return syscall(RESTRICT_SELF, ruleset, 0) == 0;
}

static bool refuse_writing(void)
{
    return refuse_rights(MAY_WRITE_FILE, NULL);
}

static bool refuse_writing_except_proc(void)
{
    return refuse_rights(MAY_WRITE_FILE, "/proc");
}

static bool refuse_reading_except_tasks(void)
{
    return refuse_rights(MAY_READ_FILE, "/proc/self/task");
}

static bool hide_proc(void)
{
    int user = geteuid() != 0 ? CLONE_NEWUSER : 0;
    return unshare(CLONE_NEWNS | user) == 0 && mount("none", "/", "", MS_REC | MS_PRIVATE, NULL) == 0
           && mount("none", "/proc", "tmpfs", 0, NULL) == 0;
}

static bool refuse_nothing(void)
{
    return true;
}

/* In the child of a process that has loaded the driver. */
static bool fork_once(void)
{
    int status = 0;
    pid_t child = fork();
    if (child <= 0)
        return child == 0;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 1);
}

/* Another component of the process has started CUDA. */
static bool fork_with_device(void)
{
    return open(directory_path("root/dev/nvidia-uvm"), O_RDWR | O_CLOEXEC) >= 0 && fork_once();
}

/* A server with many files. */
static bool fork_with_device_among_many(void)
{
    enum { HIGH = 1100, LIMIT = 2048 };
    int file = open(directory_path("root/dev/nvidia-uvm"), O_RDWR | O_CLOEXEC);
    return limit(RLIMIT_NOFILE, LIMIT) && fcntl(file, F_DUPFD_CLOEXEC, HIGH) >= 0 && close(file) == 0 && fork_once();
}

/* ---- The machines ---- */

static void add_file(const char *name, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "root/%s", name);
    assert_int_equal(chmod(directory_write(path, text, strlen(text)), 0666), 0);
}

/* open() fails with ENXIO. */
static void add_dead_file(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(address.sun_path, sizeof address.sun_path, "%s", directory_path(name));
    assert_int_equal(bind(file, (struct sockaddr *)&address, sizeof address), 0);
    assert_int_equal(chmod(address.sun_path, 0666), 0);
    close(file);
}

/* What a machine has, or is. */
enum {
    CONTROL = 1 << 0,
    DEAD_CONTROL = 1 << 1,
    CONTROL_DIRECTORY = 1 << 2,
    UVM = 1 << 3,
    DEAD_UVM = 1 << 4,
    LOST_GPU = 1 << 5,
    JETSON = 1 << 6,
    GPU_DIRECTORY = 1 << 7,
    SLEEPING_GPU = 1 << 8,
    WHOLE = CONTROL | UVM
};

static void make_machine(unsigned parts)
{
    const char *config = (parts & LOST_GPU) != 0 ? "\xff\xff\xff\xff\xff\xff" : "\xde\x10\xa0\x23";
    if ((parts & JETSON) != 0) {
        add_file("dev/nvhost-ctrl-gpu", "");
        add_dead_file("root/dev/nvmap");
        return;
    }
    add_file("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    add_file("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
    add_file("sys/bus/pci/devices/0000:01:00.0/config", config);
    add_file("sys/bus/pci/devices/0000:01:00.0/power/runtime_status",
             (parts & SLEEPING_GPU) != 0 ? "suspended\n" : "active\n");
    if ((parts & GPU_DIRECTORY) != 0)
        assert_int_equal(mkdir(directory_path("root/dev/nvidia0"), 0777), 0);
    else
        add_file("dev/nvidia0", "");
    if ((parts & CONTROL) != 0)
        add_file("dev/nvidiactl", "");
    if ((parts & DEAD_CONTROL) != 0)
        add_dead_file("root/dev/nvidiactl");
    if ((parts & CONTROL_DIRECTORY) != 0)
        assert_int_equal(mkdir(directory_path("root/dev/nvidiactl"), 0777), 0);
    if ((parts & UVM) != 0)
        add_file("dev/nvidia-uvm", "");
    if ((parts & DEAD_UVM) != 0)
        add_dead_file("root/dev/nvidia-uvm");
}

/* ---- The scenarios ---- */

static CUresult answer;

/* The driver can leave the device open. */
static bool leaves_device_open;

static CUresult CUDAAPI init(unsigned flags)
{
    if (leaves_device_open && open(directory_path("root/dev/nvidia-uvm"), O_RDWR | O_CLOEXEC) < 0)
        return CUDA_SUCCESS;
    return answer;
}

/* Of this process, without a fork. */
static bool start_once(void)
{
    leaves_device_open = true;
    return cushim_init() == answer;
}

static const struct scenario {
    const char *name;
    unsigned machine;
    bool (*refuse)(void);
    CUresult code;
    enum cushim_reason reason;
    const char *words; /* in the message */
} scenarios[] = {
    {"no files", WHOLE, limit_files, (CUresult)304, CUSHIM_REASON_LIMIT, "open several files"},
    {"no files for devices", WHOLE, limit_files, (CUresult)100, CUSHIM_REASON_LIMIT, "open several files"},
#if !defined(SANITIZED) /* a sanitizer needs addresses itself */
    {"no addresses", WHOLE, limit_addresses, (CUresult)2, CUSHIM_REASON_LIMIT, "12 GiB of addresses"},
#endif
    /* Under a filter, nothing is tried for which it could end the process. */
    {"seccomp, eventfd", WHOLE, refuse_eventfd, (CUresult)304, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"seccomp, killing", WHOLE, kill_for_descriptors, (CUresult)304, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"seccomp, killing", WHOLE, kill_for_descriptors, (CUresult)999, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"seccomp, killing", WHOLE, kill_for_pipe, (CUresult)999, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"seccomp, faccessat2", WHOLE, refuse_faccessat2, (CUresult)100, CUSHIM_REASON_NO_DEVICE, "no GPU"},
    {"Landlock, comm", WHOLE, refuse_writing, (CUresult)304, CUSHIM_REASON_SANDBOX, "/comm"},
    {"Landlock, maps", WHOLE, refuse_reading_except_tasks, (CUresult)2, CUSHIM_REASON_SANDBOX, "/maps"},
    {"Landlock, /dev", WHOLE, refuse_writing_except_proc, (CUresult)100, CUSHIM_REASON_SANDBOX, "/dev/nvidiactl"},
    {"Landlock, not of this code", WHOLE, refuse_writing_except_proc, (CUresult)304, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"no /proc", WHOLE, hide_proc, (CUresult)304, CUSHIM_REASON_SANDBOX, "/comm"},
    {"no uvm", CONTROL, refuse_nothing, (CUresult)999, CUSHIM_REASON_UNIFIED_MEMORY, "nvidia-uvm"},
    {"no uvm, not of this code", CONTROL, refuse_nothing, (CUresult)100, CUSHIM_REASON_NO_DEVICE, "no GPU"},
    {"dead uvm", CONTROL | DEAD_UVM, refuse_nothing, (CUresult)999, CUSHIM_REASON_UNIFIED_MEMORY,
     "open /dev/nvidia-uvm"},
    {"dead control", DEAD_CONTROL | UVM, refuse_nothing, (CUresult)100, CUSHIM_REASON_NODE_WRONG,
     "open /dev/nvidiactl"},
    {"directory", CONTROL_DIRECTORY, refuse_nothing, (CUresult)100, CUSHIM_REASON_NODE_WRONG, "a directory"},
    {"directory", CONTROL_DIRECTORY, refuse_nothing, (CUresult)999, CUSHIM_REASON_NODE_WRONG, "open /dev/nvidiactl"},
    {"directory of a GPU", WHOLE | GPU_DIRECTORY, refuse_nothing, (CUresult)100, CUSHIM_REASON_NODE_WRONG,
     "open /dev/nvidia0"},
    {"lost GPU", WHOLE | LOST_GPU, refuse_nothing, (CUresult)100, CUSHIM_REASON_GPU_LOST, "answer"},
    {"lost GPU", WHOLE | LOST_GPU, refuse_nothing, (CUresult)999, CUSHIM_REASON_GPU_LOST, "answer"},
    /* To read its configuration would wake it. */
    {"sleeping GPU", WHOLE | LOST_GPU | SLEEPING_GPU, refuse_nothing, (CUresult)100, CUSHIM_REASON_NO_DEVICE, "no GPU"},
    {"sleeping GPU", WHOLE | LOST_GPU | SLEEPING_GPU, refuse_nothing, (CUresult)999, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"dead nvmap", JETSON, refuse_nothing, (CUresult)999, CUSHIM_REASON_NODE_WRONG, "open /dev/nvmap"},
    {"fork after a load", WHOLE, fork_once, (CUresult)3, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"second start", WHOLE, start_once, (CUresult)3, CUSHIM_REASON_UNKNOWN, "unknown"},
    {"fork after a start", WHOLE, fork_with_device, (CUresult)3, CUSHIM_REASON_FORKED, "fork"},
    {"fork with many files", WHOLE, fork_with_device_among_many, (CUresult)3, CUSHIM_REASON_FORKED, "fork"},
};

static const struct scenario *scenario;

static void load(void)
{
    mock_load("fake_12040", (struct cushim_load_options){.root = directory_machine()})->Init_v1 = init;
}

static bool load_and_refuse(void)
{
    load();
    answer = scenario->code;
    return scenario->refuse();
}

static bool cause_is_named(void)
{
    CUresult result = cushim_init();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    bool holds = result == scenario->code && diagnosis->reason == scenario->reason
                 && strstr(diagnosis->message, scenario->words) != NULL && diagnosis->advice[0] != '\0'
                 && strcmp(cushim_error_last()->message, diagnosis->message) == 0;
    if (!holds)
        fprintf(stderr, "%s: %d, %s: %s\n", scenario->name, (int)result, diagnosis->reason_name, diagnosis->message);
    return holds;
}

DIRECTORY_TEST(test_init_when_something_is_refused_then_names_it)
{
    for (size_t i = 0; i < sizeof scenarios / sizeof scenarios[0]; i++) {
        assert_int_equal(directory_remove(state), 0);
        assert_int_equal(directory_create(state), 0);
        scenario = &scenarios[i];
        make_machine(scenario->machine);
        if (!child_check(load_and_refuse, cause_is_named))
            unit_skip(scenario->name);
    }
}

/* This process is started by exec. */
DIRECTORY_TEST(test_init_when_another_part_has_the_device_open_and_there_was_no_fork_then_the_cause_is_unknown)
{
    make_machine(WHOLE);
    load();
    answer = CUDA_ERROR_NOT_INITIALIZED;
    int file = open(directory_path("root/dev/nvidia-uvm"), O_RDWR | O_CLOEXEC);
    assert_true(file >= 0);
    assert_int_equal(cushim_init(), CUDA_ERROR_NOT_INITIALIZED);
    assert_string_equal(cushim_diagnosis_get()->reason_name, "unknown");
    close(file);
}

/* An errno of a question is not an answer: the file can be used. */
static bool files_can_be_used(void)
{
    struct cushim_system system;
    struct cushim_feature_info info;
    cushim_system_get_info(directory_machine(), &system);
    char path[OS_PATH_SIZE];
    bool nodes_are_ready = system.control_node == CUSHIM_NODE_READY && system.gpu_node == CUSHIM_NODE_READY
                           && system.wsl_node == CUSHIM_NODE_ABSENT;
    if (!cush_os_file_real_path("/proc/../", path) || strcmp(path, "/") != 0) {
        fprintf(stderr, "a path with \"..\" has no real path\n");
        return false;
    }
    if (!nodes_are_ready || unit_load_path(unit_fake("fake_12040")) != CUDA_SUCCESS) {
        fprintf(stderr, "%d: %s\n", nodes_are_ready, cushim_diagnosis_get()->message);
        return false;
    }
    bool is_usable = cushim_feature_get_info(CUSHIM_FEATURE_IPC_MEMORY, CUSHIM_DRIVER_ALONE, &info) == CUDA_SUCCESS
                     && info.obstacle != CUSHIM_OBSTACLE_PLATFORM;
    if (!is_usable)
        fprintf(stderr, "%s\n", info.message);
    return is_usable;
}

DIRECTORY_TEST(test_files_when_only_the_question_is_refused_then_can_be_used)
{
    make_machine(WHOLE);
    if (!child_check(refuse_faccessat2, files_can_be_used))
        unit_skip("no filter can be installed");
}

/* ---- Several threads ---- */

/* In an emulator, which is much slower, fewer starts are tried. */
enum { STARTS = 640, SECONDS = 5 };
static atomic_int named_a_limit;
static int thread_count;

static bool limit_to_40_files(void)
{
    return limit(RLIMIT_NOFILE, 40);
}

/* What a start needs, and one: a second search takes too many. */
static bool limit_to_files_of_a_start(void)
{
    int next = dup(STDIN_FILENO);
    close(next);
    return limit(RLIMIT_NOFILE, (rlim_t)next + OS_START_FILES + 1);
}

static void start_often(int unused)
{
    (void)unused;
    const time_t end = time(NULL) + SECONDS;
    for (int i = 0; i == 0 || (i < STARTS / thread_count && time(NULL) < end); i++) {
        cushim_init();
        if (strstr(cushim_error_last()->message, "open several files") != NULL)
            atomic_fetch_add(&named_a_limit, 1);
    }
}

static bool no_thread_names_a_limit(void)
{
    named_a_limit = 0;
    crowd_run(thread_count, start_often);
    return named_a_limit == 0;
}

DIRECTORY_TEST(test_init_when_many_threads_look_for_the_cause_then_none_is_a_limit_for_another)
{
#if defined(SANITIZED)
    skip(); /* a sanitizer has descriptors of its own, and the limit of the test is close */
#endif
    make_machine(WHOLE);
    load();
    answer = (CUresult)304;
    thread_count = 32;
    child_check(limit_to_40_files, no_thread_names_a_limit);
    thread_count = 2;
    child_check(limit_to_files_of_a_start, no_thread_names_a_limit);
}

/* ---- A fork() while threads look for a cause: they do not exist in the child ---- */

enum { THREADS = 8, CHILDREN = 10 };
static pid_t children[CHILDREN];
static atomic_bool has_children;

/* Fewer than a start needs by the files of one search. */
static bool limit_to_too_few_files(void)
{
    int next = dup(STDIN_FILENO);
    close(next);
    return limit(RLIMIT_NOFILE, (rlim_t)next + OS_START_FILES - 2);
}

static bool limit_is_named(void)
{
    (void)cushim_init();
    return cushim_diagnosis_get()->reason == CUSHIM_REASON_LIMIT;
}

static void fork_while_others_start(int index)
{
    for (int i = 0; index == 0 && i < CHILDREN; i++)
        children[i] = child_start(limit_to_too_few_files, limit_is_named);
    if (index == 0)
        atomic_store(&has_children, true);
    while (!atomic_load(&has_children))
        (void)cushim_init();
}

DIRECTORY_TEST(test_init_when_threads_of_the_parent_look_for_a_cause_then_the_child_names_its_limit)
{
#if defined(SANITIZED)
    skip(); /* a sanitizer's locks can be held in the child, and it takes fstat() for a use of another thread's file */
#endif
    if (unit_runs_under_valgrind()) {
        unit_skip("valgrind takes the stacks of the parent's threads for leaks of the child");
        return;
    }
    make_machine(WHOLE);
    load();
    answer = (CUresult)304;
    crowd_run(THREADS, fork_while_others_start);
    int failed = 0;
    for (int i = 0; i < CHILDREN; i++) {
        int status = -1;
        failed += waitpid(children[i], &status, 0) != children[i] || status != 0;
    }
    assert_int_equal(failed, 0);
}

static bool is_filtered;

static void start_under_filter(int unused)
{
    (void)unused;
    is_filtered = kill_for_descriptors();
    if (is_filtered)
        (void)cushim_init();
}

static bool thread_starts_under_filter(void)
{
    crowd_run(1, start_under_filter);
    return is_filtered;
}

DIRECTORY_TEST(test_init_when_a_filter_is_of_one_thread_then_that_thread_is_not_killed)
{
    make_machine(WHOLE);
    load();
    answer = (CUresult)304;
    if (!child_check(thread_starts_under_filter, refuse_nothing))
        unit_skip("no filter can be installed");
}

static size_t count_files(void)
{
    size_t count = 0;
    for (int i = 0; i < 256; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

DIRECTORY_TEST(test_init_when_it_looks_for_the_cause_then_leaves_nothing_open)
{
    static const CUresult codes[] = {(CUresult)2, (CUresult)100, (CUresult)304, (CUresult)999};
    make_machine(WHOLE);
    load();
    size_t before = count_files();
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        answer = codes[i];
        assert_int_equal(cushim_init(), codes[i]);
        assert_int_equal(count_files(), before);
    }
}
