/* SPDX-License-Identifier: MIT */
/*
 * What a driver shows with many settings of its variables, each in a process of its own, compared with settings.inc
 * and, on this machine's own driver, with cushim_gpu_find().
 *
 *   compare settings [DRIVER]   each setting of settings.inc for this number of GPUs. Without DRIVER: also with
 *                               cushim_gpu_find(), and with settings that are not in the list
 *   compare view                a few settings, for a machine of which a part is hidden
 *   compare processes           cushim_is_started() and cushim_gpu_find() around a start, and in children of fork()
 *   compare find [ROOT]         prints what cushim_gpu_find() finds
 *   compare started             calls cushim_is_started()
 *   compare shown DRIVER        prints what the driver shows with the present variables
 *
 * Exit status 1: an answer differs.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cushim/cushim.h"
#include "cushim/gpu.h"
#include "settings.h"

enum { AT_ONCE = 6, ANSWER_SIZE = 4096, MAX_GPUS = 64, UUID_SIZE = 48 };

static const char *driver = "libcuda.so.1";
static char uuids[MAX_GPUS][UUID_SIZE];
static const char *uuid_list[MAX_GPUS];
static int gpu_count;

/* What nobody has asked a driver yet. They move to settings.inc with the answers. */
static const struct setting unlisted[] = {
    {0, NULL, "MIG-<0:4:5>", 0, ""},
    {0, NULL, "MIG-<0:4:12>", 0, ""},
    {0, NULL, "MIG-<0:4:39>", 0, ""},
};

/* ---- The driver, in a process of its own ---- */

static cushim_fn driver_function(void *library, const char *name)
{
    union {
        void *object;
        cushim_fn function;
    } symbol = {dlsym(library, name)};
    return symbol.function;
}

static void uuid_write(const unsigned char bytes[16], char text[UUID_SIZE])
{
    text += sprintf(text, "GPU-");
    for (int i = 0; i < 16; i++)
        text += sprintf(text, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", bytes[i]);
}

static int start(void *library)
{
    return ((int (*)(unsigned))driver_function(library, "cuInit"))(0);
}

/* "0 GPU-8891... GPU-3f64..." */
static int print_shown(void)
{
    void *library = dlopen(driver, RTLD_NOW);
    if (library == NULL)
        return printf("no driver: %s", dlerror()), 1;
    int code = start(library), count = 0;
    printf("%d", code);
    if (code == 0)
        ((int (*)(int *))driver_function(library, "cuDeviceGetCount"))(&count);
    for (int i = 0; i < count; i++) {
        unsigned char bytes[16] = {0};
        char text[UUID_SIZE];
        ((int (*)(unsigned char *, int))driver_function(library, "cuDeviceGetUuid"))(bytes, i);
        uuid_write(bytes, text);
        printf(" %s", text);
    }
    fflush(stdout);
    _exit(0); /* a driver that is started need not end well */
}

static void variable_set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static void setting_set(const struct setting *setting)
{
    char text[SETTING_SIZE];
    if (setting->list != NULL)
        setting_expand(setting->list, uuid_list, text);
    variable_set("CUDA_VISIBLE_DEVICES", setting->list != NULL ? text : NULL);
    variable_set("CUDA_DEVICE_ORDER", setting->order);
}

/* Starts a process that prints what the driver shows with the present variables. */
static FILE *driver_ask(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    fflush(NULL);
    if (fork() == 0) {
        dup2(ends[1], STDOUT_FILENO);
        alarm(60);
        execl("/proc/self/exe", "compare", "shown", driver, (char *)NULL);
        _exit(9);
    }
    close(ends[1]);
    return fdopen(ends[0], "r");
}

static void driver_read(FILE *pipe, char answer[ANSWER_SIZE])
{
    if (pipe == NULL || fgets(answer, ANSWER_SIZE, pipe) == NULL)
        strcpy(answer, "nothing");
    if (pipe != NULL)
        fclose(pipe);
    while (waitpid(-1, NULL, WNOHANG) > 0)
        continue;
}

/* ---- What is compared with it ---- */

/* The words of cushim_gpu_find(), as print_shown() writes them; "not known ..." */
static void find_shown(char answer[ANSWER_SIZE])
{
    static struct cushim_gpu gpus[MAX_GPUS];
    struct cushim_gpus all;
    cushim_result result = cushim_gpu_find(NULL, gpus, MAX_GPUS, &all);
    if (result != 0 || all.code == CUDA_ERROR_UNKNOWN) {
        snprintf(answer, ANSWER_SIZE, "not known: %d %s", (int)result, all.message);
        return;
    }
    size_t used = (size_t)snprintf(answer, ANSWER_SIZE, "%d", (int)all.code);
    for (int ordinal = 0; ordinal < all.visible_count; ordinal++) {
        for (int i = 0; i < all.count; i++) {
            if (gpus[i].ordinal == ordinal)
                used += (size_t)snprintf(answer + used, ANSWER_SIZE - used, " %s", gpus[i].uuid);
        }
    }
}

static void observed(const struct setting *setting, char answer[ANSWER_SIZE])
{
    size_t used = (size_t)snprintf(answer, ANSWER_SIZE, "%d", setting->code);
    for (const char *shown = setting->shown; *shown != '\0'; shown++)
        used += (size_t)snprintf(answer + used, ANSWER_SIZE - used, " %s", uuids[*shown - '0']);
}

struct totals {
    int asked, different, unknown;
};

static void compare_one(const struct setting *setting, const char *real, bool is_listed, bool has_find,
                        struct totals *totals)
{
    char expected[ANSWER_SIZE] = "", found[ANSWER_SIZE] = "";
    totals->asked++;
    if (is_listed)
        observed(setting, expected);
    if (has_find)
        find_shown(found);
    bool is_unknown = has_find && strncmp(found, "not known", 9) == 0;
    bool is_different =
        (is_listed && strcmp(expected, real) != 0) || (has_find && !is_unknown && strcmp(found, real) != 0);
    totals->different += is_different;
    totals->unknown += is_unknown;
    if (is_different || is_unknown || !is_listed)
        printf("%s %s: cuInit: %s%s%s%s%s\n",
               is_different ? "DIFFERENT"
               : is_unknown ? "UNKNOWN"
                            : "same",
               setting_text(setting), real, is_listed ? "; listed: " : "", expected, has_find ? "; found: " : "",
               found);
    fflush(stdout);
}

/* Asks for several settings at a time. */
static void compare_all(const struct setting *list, size_t count, bool is_listed, bool has_find, struct totals *totals)
{
    for (size_t next = 0; next < count;) {
        const struct setting *asked[AT_ONCE];
        FILE *pipes[AT_ONCE];
        size_t used = 0;
        for (; next < count && used < AT_ONCE; next++) {
            if (is_listed && list[next].gpus != gpu_count)
                continue;
            setting_set(&list[next]);
            asked[used] = &list[next];
            pipes[used++] = driver_ask();
        }
        for (size_t i = 0; i < used; i++) {
            char real[ANSWER_SIZE];
            driver_read(pipes[i], real);
            setting_set(asked[i]);
            compare_one(asked[i], real, is_listed, has_find, totals);
        }
    }
}

static void clear(void)
{
    variable_set("CUDA_VISIBLE_DEVICES", NULL);
    variable_set("CUDA_DEVICE_ORDER", NULL);
}

/* The UUIDs that the driver shows without the variables. Returns false without a GPU. */
static bool read_uuids(void)
{
    char answer[ANSWER_SIZE];
    clear();
    driver_read(driver_ask(), answer);
    printf("%s: %s\n", driver, answer);
    for (const char *word = strstr(answer, " GPU-"); word != NULL && gpu_count < MAX_GPUS;
         word = strstr(word + 1, " GPU-"))
        snprintf(uuids[gpu_count++], UUID_SIZE, "%.40s", word + 1);
    for (int i = 0; i < MAX_GPUS; i++)
        uuid_list[i] = uuids[i < gpu_count ? i : 0];
    return gpu_count > 0;
}

static int finish(const struct totals *totals)
{
    clear();
    printf("RESULT %d settings asked, %d differ, %d not known\n", totals->asked, totals->different, totals->unknown);
    return totals->different != 0 || totals->asked == 0;
}

static int compare_settings(bool has_find)
{
    struct totals totals = {0};
    if (!read_uuids())
        return 77;
    compare_all(settings, setting_count, true, has_find, &totals);
    if (has_find)
        compare_all(unlisted, sizeof unlisted / sizeof unlisted[0], false, true, &totals);
    return finish(&totals);
}

/* Lines between which system_calls looks. */
static void mark(const char *line)
{
    puts(line);
    fflush(stdout);
}

static int print_found(const char *root)
{
    static struct cushim_gpu gpus[MAX_GPUS];
    const struct cushim_gpu_options options = {.root = root};
    struct cushim_gpus all;
    mark("begin");
    cushim_result result = cushim_gpu_find(&options, gpus, MAX_GPUS, &all);
    mark("end");
    if (result != CUDA_SUCCESS)
        return 1;
    printf("%d GPUs, %d visible, code %d: %s\n", all.count, all.visible_count, (int)all.code, all.message);
    for (int i = 0; i < all.count; i++)
        printf("  %s %s, ordinal %d, hider %d, capability %d, NVML %d, minor %d, %s\n", gpus[i].pci_bus_id,
               gpus[i].uuid, gpus[i].ordinal, (int)gpus[i].hider, gpus[i].capability, gpus[i].nvml_index, gpus[i].minor,
               gpus[i].name);
    return 0;
}

static int call_started(void)
{
    (void)cushim_is_started(); /* a first call can bind symbols */
    mark("begin");
    enum cushim_start_state state = cushim_is_started();
    mark("end");
    return state != CUSHIM_START_NO;
}

static int compare_view(void)
{
    static const char uuid[] = "<0:0:40>";
    static const struct setting view[] = {
        {0, NULL, NULL, 0, ""}, {0, NULL, "0", 0, ""}, {0, NULL, "1", 0, ""}, {0, NULL, uuid, 0, ""}};
    struct totals totals = {0};
    read_uuids();
    print_found(NULL);
    compare_all(view, gpu_count > 0 ? 4 : 3, false, true, &totals);
    return finish(&totals);
}

/* ---- Processes ---- */

static int failures;

static void check(bool holds, const char *what)
{
    printf("%s %s\n", holds ? "PASS" : "FAIL", what);
    failures += !holds;
    fflush(stdout);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

/* Runs `check_here` in a child of fork(), whose failures count here. */
static void in_child(void (*check_here)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        failures = 0;
        alarm(30);
        check_here();
        fflush(stdout);
        _exit(failures);
    }
    waitpid(child, &status, 0);
    failures += WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    if (!WIFEXITED(status))
        printf("FAIL the child was killed by signal %d\n", WTERMSIG(status));
}

static char before[ANSWER_SIZE];

static bool finds_the_same(void)
{
    char found[ANSWER_SIZE];
    find_shown(found);
    return strcmp(found, before) == 0;
}

static void check_forked(void)
{
    check(cushim_is_started() == CUSHIM_START_FORKED, "a child of a process that has started CUDA says forked");
    check(finds_the_same(), "it finds the same GPUs");
    check(start(dlopen(driver, RTLD_NOW)) == CUDA_ERROR_NOT_INITIALIZED, "cuInit returns 3 there");
}

static void check_not_forked(void)
{
    check(cushim_is_started() == CUSHIM_START_NO, "a child of a process that has not started CUDA says no");
    check(finds_the_same(), "it finds the same GPUs");
    check(start(dlopen(driver, RTLD_NOW)) == 0, "CUDA starts there");
    check(cushim_is_started() == CUSHIM_START_YES, "and it says yes");
}

static void check_after_failure(void)
{
    void *library = dlopen(driver, RTLD_NOW);
    variable_set("CUDA_VISIBLE_DEVICES", "");
    check(start(library) == CUDA_ERROR_NO_DEVICE, "cuInit fails with an empty list");
    check(cushim_is_started() == CUSHIM_START_NO, "and it says no");
    clear();
    in_child(check_not_forked);
    check(start(library) == 0 && cushim_is_started() == CUSHIM_START_YES, "a later start says yes");
}

static void check_nvml(void)
{
    struct cushim_gpu_options options = {.nvml = CUSHIM_GPU_NVML_ALWAYS};
    struct cushim_gpu gpus[MAX_GPUS];
    struct cushim_gpus all;
    double begin = now();
    check(cushim_gpu_find(&options, gpus, MAX_GPUS, &all) == CUDA_SUCCESS && all.visible_count > 0
              && gpus[0].mig != CUSHIM_GPU_MIG_NOT_KNOWN,
          "NVML answers");
    printf("TIME with NVML %.1f ms, ", now() - begin);
    begin = now();
    (void)cushim_gpu_find(&options, gpus, MAX_GPUS, &all);
    printf("then %.1f ms\n", now() - begin);
    in_child(check_not_forked);
}

static int check_processes(void)
{
    enum { TIMES = 200 };
    if (!read_uuids())
        return 77;
    double begin = now();
    find_shown(before);
    double first = now() - begin;
    begin = now();
    for (int i = 0; i < TIMES; i++)
        find_shown(before);
    printf("TIME by files %.3f ms, then %.3f ms\n", first, (now() - begin) / TIMES);
    in_child(check_after_failure);
    in_child(check_nvml);
    check(cushim_is_started() == CUSHIM_START_NO, "before the driver is open, it says no");
    void *library = dlopen(driver, RTLD_NOW);
    check(cushim_is_started() == CUSHIM_START_NO, "before the start, it says no");
    in_child(check_not_forked);
    begin = now();
    check(start(library) == 0, "CUDA starts");
    printf("TIME cuInit %.1f ms\n", now() - begin);
    begin = now();
    for (int i = 0; i < TIMES; i++)
        (void)cushim_is_started();
    printf("TIME cushim_is_started() %.2f us\n", (now() - begin) * 1e3 / TIMES);
    check(cushim_is_started() == CUSHIM_START_YES, "after it, it says yes");
    check(finds_the_same(), "the GPUs are the same");
    in_child(check_forked);
    printf("RESULT %d failures\n", failures);
    fflush(stdout);
    _exit(failures != 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (argc > 2)
        driver = argv[2];
    if (strcmp(what, "shown") == 0)
        return print_shown();
    if (strcmp(what, "settings") == 0)
        return compare_settings(argc <= 2);
    if (strcmp(what, "view") == 0)
        return compare_view();
    if (strcmp(what, "find") == 0)
        return print_found(argc > 2 ? argv[2] : NULL);
    if (strcmp(what, "started") == 0)
        return call_started();
    if (strcmp(what, "processes") == 0)
        return check_processes();
    fprintf(stderr, "usage: compare settings|view|processes|find|started [DRIVER]\n");
    return 2;
}
