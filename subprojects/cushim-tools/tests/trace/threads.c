/* SPDX-License-Identifier: MIT */
/*
 * Many threads record into files that have room and into files that are full: each call is in the file or counted.
 *
 *   threads TRACE.SO [DIRECTORY of a file system that is too small]
 */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../../trace/file/reader.h"
#include "cushim/cushim.h"

enum { ROUNDS = 10, THREADS = 40, MANY_CALLS = 3000, FEW_CALLS = 20, CALLS_OF_A_TURN = 2 };
enum { ALL_CALLS = ROUNDS * (THREADS / 8) * (MANY_CALLS + 7 * FEW_CALLS) * CALLS_OF_A_TURN };

static char path[4096];

static void *make_calls(void *turns)
{
    int version;
    for (int i = 0; i < *(const int *)turns; i++) {
        cushim_table_legacy()->DriverGetVersion_v1(&version);
        cushim_table_legacy()->StreamQuery_v1((CUstream)8); /* fails */
    }
    return NULL;
}

static void run_threads(void)
{
    static const int many = MANY_CALLS, few = FEW_CALLS;
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t threads[THREADS];
        for (int i = 0; i < THREADS; i++)
            pthread_create(&threads[i], NULL, make_calls, (void *)(uintptr_t)(i % 8 == 0 ? &many : &few));
        for (int i = 0; i < THREADS; i++)
            pthread_join(threads[i], NULL);
    }
}

/* The layer has one file in a process. */
static bool run_child(void)
{
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        run_threads();
        exit(0);
    }
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static bool file_is_complete(const char *name, bool has_room)
{
    struct trace_reader reader;
    struct trace_call call;
    uint64_t calls = 0, unreturned = 0;
    const char *why = trace_open(path, &reader);
    for (; why == NULL && trace_read(&reader, &call); calls++)
        unreturned += !call.returned;
    uint64_t others = why == NULL ? reader.header->dropped + reader.header->overwritten : 0;
    printf("%s: %s, %" PRIu64 " calls, %" PRIu64 " did not return, %" PRIu64 " not in the file\n", name,
           why != NULL ? why : "read", calls, unreturned, others);
    bool is_complete = why == NULL && calls + others == ALL_CALLS && unreturned == 0 && reader.damaged == 0
                       && (others == 0) == has_room;
    trace_close(&reader);
    return is_complete;
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint64_t size;
        bool keeps_newest, is_full;
    } files[] = {
        {"room", 64 << 20, true, false},
        {"newest", 1 << 20, true, true},
        {"first", 1 << 20, false, true},
        {"newest, full disk", 64 << 20, true, true},
        {"first, full disk", 64 << 20, false, true},
    };
    snprintf(path, sizeof path, "%s/cushim-threads-XXXXXX", argc > 2 ? argv[2] : "/tmp");
    int file = mkstemp(path);
    bool passed =
        argc > 1 && file >= 0 && setenv("CUSHIM_LAYERS", argv[1], 1) == 0 && setenv("CUSHIM_TRACE", path, 1) == 0;
    for (size_t i = argc > 2 ? 3 : 0; passed && i < (argc > 2 ? 5 : 3); i++)
        passed = ftruncate(file, 0) == 0
                 && trace_file_make(file, files[i].size, files[i].keeps_newest, false, false, files[i].name)
                 && run_child() && file_is_complete(files[i].name, !files[i].is_full);
    unlink(path);
    return passed ? 0 : 1;
}
