/* SPDX-License-Identifier: MIT */
#include "os_thread.h"

#include <malloc.h>
#include <stdlib.h>
#include <windows.h>

static SRWLOCK lock = SRWLOCK_INIT;
static CONDITION_VARIABLE signals[OS_SIGNAL_COUNT] = {CONDITION_VARIABLE_INIT, CONDITION_VARIABLE_INIT};

void os_lock(void)
{
    AcquireSRWLockExclusive(&lock);
}

void os_unlock(void)
{
    ReleaseSRWLockExclusive(&lock);
}

void os_wait(enum os_signal which)
{
    SleepConditionVariableSRW(&signals[which], &lock, INFINITE, 0);
}

void os_wake_one(enum os_signal which)
{
    WakeConditionVariable(&signals[which]);
}

void os_wake_all(enum os_signal which)
{
    WakeAllConditionVariable(&signals[which]);
}

static DWORD WINAPI run_body(void *argument)
{
    void (**body)(void) = argument;
    void (*run)(void) = *body;
    free(body);
    run();
    return 0;
}

bool os_start_thread(void (*body)(void))
{
    void (**box)(void) = malloc(sizeof *box);
    if (box == NULL)
        return false;
    *box = body;
    HANDLE thread = CreateThread(NULL, 0, run_body, box, 0, NULL);
    if (thread == NULL)
        free(box);
    else
        CloseHandle(thread);
    return thread != NULL;
}

static DWORD end_slot;
static void (*end_function)(void *value);

static void WINAPI end_of_thread(void *value)
{
    if (value != NULL)
        end_function(value);
}

void os_at_thread_end(void (*end)(void *value), void *value)
{
    if (end_function == NULL) { /* written once, before the end of any thread that could read it */
        end_slot = FlsAlloc(end_of_thread);
        end_function = end;
    }
    if (end_slot != FLS_OUT_OF_INDEXES)
        FlsSetValue(end_slot, value);
}

uint64_t os_clock(void)
{
    LARGE_INTEGER frequency, now;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    uint64_t seconds = (uint64_t)(now.QuadPart / frequency.QuadPart);
    uint64_t rest = (uint64_t)(now.QuadPart % frequency.QuadPart);
    return seconds * 1000000000u + rest * 1000000000u / (uint64_t)frequency.QuadPart;
}

void os_sleep(uint64_t nanoseconds)
{
    Sleep((DWORD)((nanoseconds + 999999u) / 1000000u));
}

void os_on_fork(void (*child)(void))
{
    (void)child; /* Windows has no fork */
}

char **os_environment(void)
{
    return _environ;
}

void *os_aligned_alloc(uint64_t alignment, uint64_t size)
{
    return _aligned_malloc((size_t)size, (size_t)alignment);
}

void os_aligned_free(void *memory)
{
    _aligned_free(memory);
}
