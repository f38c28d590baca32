/* SPDX-License-Identifier: MIT */
/*
 * What the trace layer adds to a call that does nothing, in nanoseconds of processor time:
 *
 *   cost TRACE.SO FILE SIZE
 *
 * Each round makes the call without the layer and with it, and reads the clock as often as the layer does. The layer
 * takes clock_gettime() from this program, which can also answer at once. Medians of the rounds are printed.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "../../trace/file/format.h"
#include "cushim/cushim.h"

enum { ROUNDS = 101, CALLS = 20000 };

static int (*real_clock)(clockid_t, struct timespec *);
static bool has_clock;

int clock_gettime(clockid_t clock, struct timespec *out_time)
{
    if (has_clock)
        return real_clock(clock, out_time);
    *out_time = (struct timespec){1, 1};
    return 0;
}

static CUresult CUDAAPI nothing_LaunchKernel(CUfunction function, unsigned int x, unsigned int y, unsigned int z,
                                             unsigned int block_x, unsigned int block_y, unsigned int block_z,
                                             unsigned int shared, CUstream stream, void **parameters, void **extra)
{
    (void)function, (void)x, (void)y, (void)z, (void)block_x, (void)block_y, (void)block_z, (void)shared, (void)stream;
    (void)parameters, (void)extra;
    return CUDA_SUCCESS;
}

static CUresult CUDAAPI nothing_StreamQuery(CUstream stream)
{
    (void)stream;
    return CUDA_SUCCESS;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    table->LaunchKernel_v1 = nothing_LaunchKernel;
    table->StreamQuery_v1 = nothing_StreamQuery;
    return CUDA_SUCCESS;
}

static struct cushim_layer nothing = CUSHIM_LAYER("nothing", install, NULL);

/* Of this thread, so that other programs do not count. */
static double processor_time(void)
{
    struct timespec time;
    syscall(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

static double time_queries(const struct cushim_dispatch_table *table)
{
    double start = processor_time();
    for (int i = 0; i < CALLS; i++)
        table->StreamQuery_v1(NULL);
    return (processor_time() - start) / CALLS;
}

static double time_launches(const struct cushim_dispatch_table *table)
{
    double start = processor_time();
    for (int i = 0; i < CALLS; i++)
        table->LaunchKernel_v1(NULL, 1, 2, 3, 4, 5, 6, 7, NULL, NULL, NULL);
    return (processor_time() - start) / CALLS;
}

static double time_clock(void)
{
    struct timespec time;
    double start = processor_time();
    for (int i = 0; i < CALLS; i++)
        clock_gettime(CLOCK_MONOTONIC, &time);
    return (processor_time() - start) / CALLS;
}

static int compare(const void *a, const void *b)
{
    double one = *(const double *)a, other = *(const double *)b;
    return one < other ? -1 : one > other;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void measure(const char *name, double (*time_calls)(const struct cushim_dispatch_table *),
                    const struct cushim_dispatch_table *plain, const struct cushim_dispatch_table *traced)
{
    double without[ROUNDS], record[ROUNDS], clock[ROUNDS], call[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        has_clock = false;
        without[i] = time_calls(plain);
        record[i] = time_calls(traced) - without[i];
        has_clock = true;
        clock[i] = time_clock();
        call[i] = time_calls(traced) - without[i] - 2 * clock[i];
    }
    printf("    %s: a record without clocks %.1f ns (bound 25); a call two readings of the clock, %.1f ns each, and "
           "%.1f ns (bound 40)\n",
           name, median(record), median(clock), median(call));
}

int main(int argc, char **argv)
{
    int file = argc == 4 ? open(argv[2], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;
    void *object = argc == 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    void *symbols[] = {dlsym(RTLD_NEXT, "clock_gettime"), object != NULL ? dlsym(object, "cushim_layer_entry") : NULL};
    struct cushim_layer *(*entry)(void);
    memcpy(&real_clock, &symbols[0], sizeof real_clock);
    memcpy(&entry, &symbols[1], sizeof entry);
    if (entry == NULL || !trace_file_make(file, strtoull(argv[3], NULL, 10), true, false, false, "cost")
        || setenv("CUSHIM_TRACE", argv[2], 1) != 0 || cushim_layer_add(&nothing) != CUDA_SUCCESS)
        return 2;
    (void)cushim_load(&(struct cushim_load_options){.path = "none"});
    const struct cushim_dispatch_table *plain = cushim_table_legacy();
    if (cushim_layer_add(entry()) != CUDA_SUCCESS)
        return 2;
    measure("cuStreamQuery", time_queries, plain, cushim_table_legacy());
    measure("cuLaunchKernel", time_launches, plain, cushim_table_legacy());
    return 0;
}
