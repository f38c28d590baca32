/* SPDX-License-Identifier: MIT */
/*
 * One program with two subsets and the whole library in one static link. Each has its own table, version
 * limit, layer and errors, also when several threads make the first call.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "parts.h"

enum { PARTS = 3, THREADS = 4, SOFTCUDA_VERSION = 13000 };
static const struct part *const parts[PARTS] = {&first_part, &second_part, &whole_part};
static const char *const names[PARTS] = {"first", "second", "whole"};
static const int limits[PARTS] = {11020, 11080, 12020};

#define CHECK(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            printf("%s:%d: %s, part %d\n", __FILE__, __LINE__, #condition, (int)i);                                    \
            return 1;                                                                                                  \
        }                                                                                                              \
    } while (0)

/* The first call of each part loads, on whichever thread it is. */
static void *call(void *user)
{
    (void)user;
    for (int i = 0; i < PARTS; i++) {
        int count = 0;
        (void)parts[i]->count_devices(&count);
    }
    return NULL;
}

static int call_in_threads(void)
{
    pthread_t threads[THREADS];
    int i;
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_create(&threads[i], NULL, call, NULL) == 0);
    for (i = 0; i < THREADS; i++)
        CHECK(pthread_join(threads[i], NULL) == 0);
    return 0;
}

static int check_part(int i, int version)
{
    const char *message = NULL;
    int count = 0;
    CHECK(parts[i]->version() == version);
    CHECK(parts[i]->init() == CUDA_SUCCESS);
    CHECK(parts[i]->count_devices(&count) == CUDA_SUCCESS && count > 0);
    CHECK(parts[i]->calls() >= THREADS + 1);
    CHECK(parts[i]->fail(&message) == CUDA_ERROR_NOT_FOUND && strstr(message, names[i]) != NULL);
    CHECK(parts[i]->table() != parts[(i + 1) % PARTS]->table());
    CHECK(parts[i]->slots != parts[(i + 1) % PARTS]->slots);
    return 0;
}

/* Loads with a version limit for each part, or by the first call, which several threads make. */
static int check(int is_limited)
{
    int i;
    for (i = 0; i < PARTS; i++) {
        CHECK(parts[i]->add_layer() == CUDA_SUCCESS);
        if (is_limited)
            parts[i]->load(limits[i]);
    }
    CHECK(call_in_threads() == 0);
    for (i = 0; i < PARTS; i++)
        CHECK(check_part(i, is_limited ? limits[i] : SOFTCUDA_VERSION) == 0);
    return 0;
}

int main(void)
{
    int i = 0, status = -1;
    pid_t child = fork();
    if (child == 0) {
        int failed = check(0);
        fflush(stdout);
        _exit(failed);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    return check(1);
}
