/* SPDX-License-Identifier: MIT */
#define WIN32_LEAN_AND_MEAN
#include "../os_wait.h"

#include <windows.h>

#define NANOSECONDS UINT64_C(1000000000)

uint64_t cushim_clock_ns(void)
{
    LARGE_INTEGER now, frequency;
    QueryPerformanceFrequency(&frequency);
    QueryPerformanceCounter(&now);
    uint64_t per_second = (uint64_t)frequency.QuadPart;
    uint64_t ticks = (uint64_t)now.QuadPart;
    return ticks / per_second * NANOSECONDS + ticks % per_second * NANOSECONDS / per_second;
}

atomic_uint cush_os_generation; /* Windows has no fork(). */

void cush_os_watch_forks(void)
{
}

/* One condition variable serves all words: each waiting thread checks its own word. */
static SRWLOCK wait_lock = SRWLOCK_INIT;
static CONDITION_VARIABLE wait_changed = CONDITION_VARIABLE_INIT;

/* Returns the milliseconds until a deadline, rounded up, so that a thread does not wake before it. */
static DWORD time_until_ms(uint64_t deadline)
{
    uint64_t now = cushim_clock_ns();
    if (deadline == CUSHIM_FOREVER)
        return INFINITE;
    uint64_t left = deadline > now ? (deadline - now + 999999) / 1000000 : 0;
    return left < INFINITE ? (DWORD)left : INFINITE - 1;
}

bool cush_os_wait(atomic_uint *word, unsigned value, uint64_t deadline)
{
    AcquireSRWLockExclusive(&wait_lock);
    if (atomic_load(word) == value)
        SleepConditionVariableSRW(&wait_changed, &wait_lock, time_until_ms(deadline), 0);
    ReleaseSRWLockExclusive(&wait_lock);
    return deadline == CUSHIM_FOREVER || cushim_clock_ns() < deadline;
}

void cush_os_wake(atomic_uint *word)
{
    (void)word;
    AcquireSRWLockExclusive(&wait_lock);
    WakeAllConditionVariable(&wait_changed);
    ReleaseSRWLockExclusive(&wait_lock);
}

/* Shorter sleeps than a millisecond do not exist, so a thread yields instead. */
void cush_os_sleep_until(uint64_t time)
{
    uint64_t now = cushim_clock_ns();
    Sleep(time > now ? (DWORD)((time - now) / 1000000) : 0);
}

os_signal cush_os_signal_open(void)
{
    return (os_signal)CreateEventA(NULL, TRUE, FALSE, NULL);
}

void cush_os_signal_close(os_signal signal)
{
    CloseHandle((HANDLE)signal);
}

void cush_os_signal_set(os_signal signal)
{
    SetEvent((HANDLE)signal);
}

void cush_os_signal_clear(os_signal signal)
{
    ResetEvent((HANDLE)signal);
}

cushim_descriptor cush_os_signal_descriptor(os_signal signal)
{
    return (cushim_descriptor)signal;
}
