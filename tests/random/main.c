/* SPDX-License-Identifier: MIT */
/*
 * random_programs - runs random programs against the stream layer, each in a process of its own.
 *
 * See README.md for the options. Exit status: 0; 1 if an expectation was not met, a program crashed or hung; 77 if
 * there is no device. A failure is followed by the command that repeats it, and by the last operations.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"
#include "random.h"

enum { SHOWN = 60 };

struct settings settings = {.seed = 1, .programs = 10, .threads = 1, .limit = 120, .forks = true};
const struct softcuda_control *soft;
bool faults;
atomic_bool broken;

/* In memory that the parent reads when the program has failed, crashed or hangs. */
static struct trace {
    atomic_bool has_failed;
    char failure[256];
    unsigned markers;
    atomic_uint count;
    /* The last ones of each thread, which alone writes them. */
    struct entry {
        unsigned number; /* its place among those of all threads, from 1; 0: none */
        int result;      /* -1: it did not return, or has no result */
        char text[88];
    } entries[MAX_THREADS][SHOWN];
} * trace;

static _Thread_local struct entry *entry;
static _Thread_local unsigned own_number, own_count;
static _Thread_local uint64_t state;
static pthread_barrier_t barrier;

void choose_from(uint64_t seed)
{
    state = seed;
}

uint64_t choose_seed(void)
{
    uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

unsigned choose(unsigned count)
{
    return (unsigned)((choose_seed() >> 32) % count);
}

bool one_in(unsigned count)
{
    return choose(count) == 0;
}

void note(const char *format, ...)
{
    va_list arguments;
    entry = &trace->entries[own_number][own_count++ % SHOWN];
    entry->number = atomic_fetch_add_explicit(&trace->count, 1, memory_order_relaxed) + 1;
    entry->result = -1;
    va_start(arguments, format);
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
    va_end(arguments);
}

CUresult noted(CUresult result)
{
    entry->result = (int)result;
    /* Where a second call fails, too, the words may be about that one. */
    if (!faults && result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && cushim_error_last()->code != result)
        fail("%s returned %d, and cushim_error_last() has %d", entry->text, (int)result,
             (int)cushim_error_last()->code);
    return result;
}

void fail(const char *format, ...)
{
    if (!atomic_exchange(&trace->has_failed, true)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(trace->failure, sizeof trace->failure, format, arguments);
        va_end(arguments);
    }
    _exit(FAILED);
}

void check(bool holds, const char *message)
{
    if (!holds)
        fail("%s: %s", entry != NULL ? entry->text : "the driver", message);
}

void program_meet(void)
{
    pthread_barrier_wait(&barrier);
}

static void open_driver(void)
{
    const struct cushim_load_options options = {.path = settings.driver};
    softcuda_control_fn control = NULL;
    if (cushim_load(&options) != CUDA_SUCCESS || cushim_init() != CUDA_SUCCESS) {
        printf("skipped: %s\n", cushim_error_last()->message);
        exit(SKIPPED);
    }
    cu = cushim_table();
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&control, &found, sizeof control);
    soft = control != NULL ? control(SOFTCUDA_CONTROL_VERSION) : NULL;
    faults = soft != NULL && settings.seed % 2 == 1 && !settings.without_faults;
}

static void *run_thread(void *user)
{
    own_number = (unsigned)(uintptr_t)user;
    thread_run(own_number, settings.seed * 1000003u + own_number);
    return NULL;
}

static void run_program(void)
{
    pthread_t threads[MAX_THREADS];
    open_driver();
    pthread_barrier_init(&barrier, NULL, settings.threads);
    shared_open();
    for (unsigned i = 1; i < settings.threads; i++)
        if (pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i) != 0)
            fail("no thread");
    run_thread(NULL);
    for (unsigned i = 1; i < settings.threads; i++)
        pthread_join(threads[i], NULL);
    shared_close();
    markers_finish();
    trace->markers = markers_count();
}

/* Waits for the child, and ends one that hangs. */
static int wait_for(pid_t child, bool *out_hung)
{
    int status = 0;
    for (unsigned waited = 0; waitpid(child, &status, WNOHANG) == 0; waited += 2) {
        if (waited > settings.limit * 1000 && !*out_hung) {
            *out_hung = true;
            kill(child, SIGABRT);
        }
        nanosleep(&(struct timespec){0, 2000000}, NULL);
    }
    return status;
}

static void explain(int status, bool hung)
{
    unsigned count = atomic_load(&trace->count);
    printf("FAILED: seed %llu: %s", (unsigned long long)settings.seed, hung ? "hung; " : "");
    if (atomic_load(&trace->has_failed))
        printf("%s\n", trace->failure);
    else
        printf("%s %d\n", WIFSIGNALED(status) ? "signal" : "exit status",
               WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    printf("repeat it with: random_programs --seed %llu --programs 1 --threads %u --operations %u%s%s\n",
           (unsigned long long)settings.seed, settings.threads, settings.operations,
           settings.driver != NULL ? " --driver " : "", settings.driver != NULL ? settings.driver : "");
    for (unsigned number = count > SHOWN ? count - SHOWN + 1 : 1; number <= count; number++) {
        for (unsigned i = 0; i < settings.threads * SHOWN; i++) {
            const struct entry *one = &trace->entries[i / SHOWN][i % SHOWN];
            if (one->number != number)
                continue;
            printf("thread %u %s", i / SHOWN, one->text);
            printf(one->result >= 0 ? " = %d\n" : "\n", one->result);
        }
    }
}

/* 0, FAILED or SKIPPED. */
static int run_one(void)
{
    bool hung = false;
    memset(trace, 0, sizeof *trace);
    fflush(NULL);
    pid_t child = settings.forks ? fork() : 0;
    if (child == 0) {
        run_program();
        exit(0);
    }
    int status = child > 0 ? wait_for(child, &hung) : -1;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED))
        return WEXITSTATUS(status);
    explain(status, hung);
    return FAILED;
}

static bool read_option(const char *name, const char *value)
{
    unsigned *const numbers[] = {&settings.programs, &settings.operations, &settings.threads, &settings.limit};
    static const char *const names[] = {"--programs", "--operations", "--threads", "--limit"};
    for (int i = 0; i < 4; i++)
        if (strcmp(name, names[i]) == 0)
            *numbers[i] = (unsigned)strtoul(value, NULL, 10);
    if (strcmp(name, "--driver") == 0)
        settings.driver = value;
    else if (strcmp(name, "--seed") == 0)
        settings.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--faults") == 0)
        settings.without_faults = strcmp(value, "0") == 0;
    else if (strcmp(name, "--fork") == 0)
        settings.forks = strcmp(value, "0") != 0;
    return strncmp(name, "--", 2) == 0;
}

int main(int count, char **arguments)
{
    bool is_right = count % 2 == 1;
    unsigned long long markers = 0;
    for (int i = 1; i + 1 < count; i += 2)
        is_right &= read_option(arguments[i], arguments[i + 1]);
    trace = mmap(NULL, sizeof *trace, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!is_right || settings.threads < 1 || settings.threads > MAX_THREADS || trace == MAP_FAILED) {
        fprintf(stderr, "usage: random_programs [--driver FILE] [--seed N] [--programs N] [--operations N]\n"
                        "                       [--threads N] [--limit N] [--faults 0] [--fork 0]\n");
        return 2;
    }
    for (unsigned i = 0; i < settings.programs; i++, settings.seed++) {
        int status = run_one();
        if (status != 0)
            return status;
        markers += trace->markers;
    }
    printf("%u programs, the last with seed %llu, %llu functions and releases\n", settings.programs,
           (unsigned long long)settings.seed - 1, markers);
    return 0;
}
