/* SPDX-License-Identifier: MIT */
/* A fork while another thread is in softcuda's first cuInit. The library is initialised once in a process, so each
 * attempt has a process of its own. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "cushim/cushim.h"

enum { ATTEMPTS = 300, SECONDS = 10 };

static const char *path;
static CUresult (*init)(unsigned int);
static pthread_barrier_t both;

static void *initialise(void *unused)
{
    (void)unused;
    pthread_barrier_wait(&both);
    init(0);
    pthread_barrier_wait(&both);
    return NULL;
}

/* 0 if the child of the fork could call the library. */
static int fork_beside_init(void)
{
    pthread_t thread;
    int status = -1;
    void *library = dlopen(path, RTLD_NOW);
    if (library == NULL)
        return 1;
    union {
        void *object;
        CUresult (*function)(unsigned int);
    } find = {dlsym(library, "cuInit")};
    init = find.function;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&thread, NULL, initialise, NULL);
    pthread_detach(thread);
    pthread_barrier_wait(&both);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        CUresult result = init(0);
        _exit(result == CUDA_SUCCESS || result == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    waitpid(child, &status, 0);
    pthread_barrier_wait(&both);
    return status == 0 ? 0 : 1;
}

static void test_child_when_forked_during_the_first_init_then_it_can_call_the_library(void **state)
{
    (void)state;
    for (int i = 0; i < ATTEMPTS; i++) {
        int status = -1;
        pid_t attempt = fork();
        if (attempt == 0)
            _exit(fork_beside_init());
        assert_int_equal(waitpid(attempt, &status, 0), attempt);
        assert_int_equal(status, 0);
    }
}

int main(int argc, char **argv)
{
    path = argc > 1 ? argv[1] : "";
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_child_when_forked_during_the_first_init_then_it_can_call_the_library),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
