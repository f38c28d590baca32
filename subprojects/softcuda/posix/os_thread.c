/* SPDX-License-Identifier: MIT */
#include "os_thread.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t signals[OS_SIGNAL_COUNT] = {PTHREAD_COND_INITIALIZER, PTHREAD_COND_INITIALIZER};

void os_lock(void)
{
    pthread_mutex_lock(&lock);
}

void os_unlock(void)
{
    pthread_mutex_unlock(&lock);
}

void os_wait(enum os_signal which)
{
    pthread_cond_wait(&signals[which], &lock);
}

void os_wake_one(enum os_signal which)
{
    pthread_cond_signal(&signals[which]);
}

void os_wake_all(enum os_signal which)
{
    pthread_cond_broadcast(&signals[which]);
}

static void *run_body(void *argument)
{
    void (**body)(void) = argument;
    void (*run)(void) = *body;
    free(body);
    run();
    return NULL;
}

bool os_start_thread(void (*body)(void))
{
    /* ISO C does not allow to store a function pointer in a void pointer, so it is stored in an object. */
    void (**box)(void) = malloc(sizeof *box);
    if (box == NULL)
        return false;
    *box = body;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_t thread;
    int failed = pthread_create(&thread, &attributes, run_body, box);
    pthread_attr_destroy(&attributes);
    if (failed != 0)
        free(box);
    return failed == 0;
}

static pthread_key_t end_key;
static void (*end_function)(void *value);

static void end_of_thread(void *value)
{
    end_function(value);
}

void os_at_thread_end(void (*end)(void *value), void *value)
{
    if (end_function == NULL) { /* written once, before the end of any thread that could read it */
        end_function = end;
        pthread_key_create(&end_key, end_of_thread);
    }
    pthread_setspecific(end_key, value);
}

uint64_t os_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void os_sleep(uint64_t nanoseconds)
{
    struct timespec span = {(time_t)(nanoseconds / 1000000000u), (long)(nanoseconds % 1000000000u)};
    nanosleep(&span, NULL);
}

static void (*fork_child)(void);

static void in_child(void)
{
    /* The waiting threads do not exist in the child. */
    for (int i = 0; i < OS_SIGNAL_COUNT; i++)
        pthread_cond_init(&signals[i], NULL);
    fork_child();
    os_unlock();
}

void os_on_fork(void (*child)(void))
{
    fork_child = child;
    pthread_atfork(os_lock, os_unlock, in_child);
}

extern char **environ;

char **os_environment(void)
{
    return environ;
}

void *os_aligned_alloc(uint64_t alignment, uint64_t size)
{
    void *memory = NULL;
    return posix_memalign(&memory, (size_t)alignment, (size_t)size) == 0 ? memory : NULL;
}

void os_aligned_free(void *memory)
{
    free(memory);
}
