/* SPDX-License-Identifier: MIT */
/*
 * random_programs - runs random programs against the stream layer, each in a process of its own.
 *
 * See README.md for the options. Exit status: 0; 1 if an expectation was not met, a program crashed or hung; 77 if
 * there is no device. A failure is followed by the command that repeats it, and by the last operations.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "trace.h"

struct settings settings = {.seed = 1, .programs = 10, .threads = 1, .limit = 120, .faults = -1, .forks = true};

static unsigned trace_length = 60;

static int compare(const void *one, const void *other)
{
    const struct trace_entry *const *a = one;
    const struct trace_entry *const *b = other;
    return (int)((*a)->order - (*b)->order);
}

static size_t collect(const struct trace_entry **entries)
{
    size_t count = 0;
    for (unsigned i = 0; i < settings.threads; i++)
        for (unsigned j = 0; j < trace->counts[i] && j < TRACE_ENTRIES; j++)
            entries[count++] = &trace->entries[i][j];
    qsort(entries, count, sizeof entries[0], compare);
    return count;
}

void trace_print(unsigned most)
{
    static const struct trace_entry *entries[MAX_THREADS * TRACE_ENTRIES];
    size_t count = collect(entries);
    for (size_t i = count > most ? count - most : 0; i < count; i++) {
        const struct trace_entry *entry = entries[i];
        printf("thread %u operation %u %*s%s: %s", (unsigned)((entry - &trace->entries[0][0]) / TRACE_ENTRIES),
               entry->operation, (int)entry->depth * 2, "", entry->name, entry->text);
        if (entry->result >= 0)
            printf(" = %d", entry->result);
        printf("\n");
    }
}

static void pause_shortly(void)
{
    nanosleep(&(struct timespec){0, 2000000}, NULL);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

/* Waits for the child, and ends one that hangs. */
static int wait_for(pid_t child, bool *out_hung)
{
    double end = now() + settings.limit;
    int status = 0;
    while (waitpid(child, &status, WNOHANG) == 0) {
        if (now() > end && !*out_hung) {
            *out_hung = true;
            kill(child, SIGABRT);
        }
        pause_shortly();
    }
    return status;
}

static void explain(uint64_t seed, int status, bool hung)
{
    printf("FAILED: seed %llu: ", (unsigned long long)seed);
    if (hung)
        printf("did not end within %u seconds\n", settings.limit);
    else if (atomic_load(&trace->has_failed))
        printf("operation %u: %s\n", trace->failed_operation, trace->failure);
    else if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    else
        printf("exit status %d\n", WEXITSTATUS(status));
    printf("repeat it with: random_programs --seed %llu --programs 1 --threads %u --operations %u --faults %d",
           (unsigned long long)seed, settings.threads, settings.operations, settings.faults);
    printf("%s%s\n", settings.driver != NULL ? " --driver " : "", settings.driver != NULL ? settings.driver : "");
    trace_print(trace_length);
}

/* 0, FAILED or SKIPPED. */
static int run_one(uint64_t seed)
{
    bool hung = false;
    memset(trace, 0, sizeof *trace);
    fflush(NULL);
    pid_t child = settings.forks ? fork() : 0;
    if (child == 0) {
        program_run(seed);
        exit(0);
    }
    int status = child > 0 ? wait_for(child, &hung) : -1;
    if (WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == SKIPPED))
        return WEXITSTATUS(status);
    explain(seed, status, hung);
    return FAILED;
}

static unsigned long long operations_of_trace(void)
{
    unsigned long long count = 0;
    for (unsigned i = 0; i < settings.threads; i++)
        count += trace->numbers[i];
    return count;
}

static int run_all(void)
{
    unsigned long long operations = 0;
    unsigned long long expectations = 0;
    unsigned failed = 0;
    unsigned i = 0;
    double start = now();
    for (; i < settings.programs && (settings.seconds == 0 || now() < start + settings.seconds); i++) {
        int status = run_one(settings.seed + i);
        if (status == SKIPPED)
            return SKIPPED;
        failed += status != 0;
        if (failed != 0 && !settings.goes_on)
            break;
        operations += operations_of_trace();
        expectations += trace->expectations;
    }
    printf("%u programs from seed %llu, %llu operations, %llu functions and releases, %u failed, %.1f seconds\n", i,
           (unsigned long long)settings.seed, operations, expectations, failed, now() - start);
    return failed != 0 ? FAILED : 0;
}

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: random_programs [--driver FILE] [--seed N] [--programs N] [--operations N] [--threads N]\n"
                    "                       [--seconds N] [--limit N] [--faults 0|1] [--kernels 0|1] [--trace N]\n"
                    "                       [--verbose 0|1] [--go-on 0|1] [--fork 0|1]\n");
    exit(2);
}

static void read_option(const char *name, const char *value)
{
    unsigned number = (unsigned)strtoul(value, NULL, 10);
    if (strcmp(name, "--driver") == 0)
        settings.driver = value;
    else if (strcmp(name, "--seed") == 0)
        settings.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--programs") == 0)
        settings.programs = number;
    else if (strcmp(name, "--operations") == 0)
        settings.operations = number;
    else if (strcmp(name, "--threads") == 0)
        settings.threads = number;
    else if (strcmp(name, "--seconds") == 0)
        settings.seconds = strtod(value, NULL);
    else if (strcmp(name, "--limit") == 0)
        settings.limit = number;
    else if (strcmp(name, "--faults") == 0)
        settings.faults = (int)strtol(value, NULL, 10);
    else if (strcmp(name, "--kernels") == 0)
        settings.kernels = number != 0;
    else if (strcmp(name, "--trace") == 0)
        trace_length = number;
    else if (strcmp(name, "--verbose") == 0)
        settings.verbose = number != 0;
    else if (strcmp(name, "--fork") == 0)
        settings.forks = number != 0;
    else if (strcmp(name, "--go-on") == 0)
        settings.goes_on = number != 0;
    else
        usage();
}

int main(int count, char **arguments)
{
    bool has_programs = false;
    if (count % 2 == 0)
        usage();
    for (int i = 1; i + 1 < count; i += 2) {
        read_option(arguments[i], arguments[i + 1]);
        has_programs |= strcmp(arguments[i], "--programs") == 0;
    }
    if (settings.seconds != 0 && !has_programs)
        settings.programs = UINT32_MAX;
    if (settings.threads < 1 || settings.threads > MAX_THREADS)
        usage();
    trace = mmap(NULL, sizeof *trace, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (trace == MAP_FAILED)
        return FAILED;
    return run_all();
}
