/* SPDX-License-Identifier: MIT */
/* 64-bit Linux sleeps on a futex and signals with an eventfd. Other systems, and CUSHIM_PORTABLE, use a condition
 * variable and a pipe. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "../os_wait.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#if defined(__linux__) && defined(__LP64__) && !defined(CUSHIM_PORTABLE)
#    define LINUX_CALLS 1
#    include <sys/eventfd.h>
#    include <sys/syscall.h>
#else
#    define LINUX_CALLS 0
#endif

#define NANOSECONDS UINT64_C(1000000000)

uint64_t cushim_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NANOSECONDS + (uint64_t)now.tv_nsec;
}

static int cancellation_disable(void)
{
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}

static void cancellation_restore(int before)
{
    pthread_setcancelstate(before, NULL);
}

/* No function here is a cancellation point. These three also preserve errno: their errors are not errors of the
 * caller. */
static void write_descriptor(int descriptor, const void *bytes, size_t size)
{
    int error = errno;
    int cancellation = cancellation_disable();
    ssize_t written = write(descriptor, bytes, size);
    (void)written;
    cancellation_restore(cancellation);
    errno = error;
}

static ssize_t read_descriptor(int descriptor, void *bytes, size_t size)
{
    int error = errno;
    int cancellation = cancellation_disable();
    ssize_t count = read(descriptor, bytes, size);
    cancellation_restore(cancellation);
    errno = error;
    return count;
}

static void close_descriptor(int descriptor)
{
    int error = errno;
    int cancellation = cancellation_disable();
    close(descriptor);
    cancellation_restore(cancellation);
    errno = error;
}

atomic_uint cush_os_generation;

static void process_next_generation(void)
{
    atomic_fetch_add_explicit(&cush_os_generation, 1, memory_order_relaxed);
}

static void process_watch_forks(void)
{
    /* This fails only for lack of memory. A child is then not recognised, and its waits last until their deadlines. */
    (void)pthread_atfork(NULL, NULL, process_next_generation);
}

void cush_os_watch_forks(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, process_watch_forks);
}

/* A time that is too far for the clock is reduced. The caller checks again. */
static struct timespec time_to_timespec(uint64_t time)
{
    const uint64_t most = INT32_MAX; /* fits into a 32-bit time_t, too */
    uint64_t seconds = time / NANOSECONDS;
    return (struct timespec){.tv_sec = (time_t)(seconds < most ? seconds : most),
                             .tv_nsec = (long)(time % NANOSECONDS)};
}

void cush_os_sleep_until(uint64_t time)
{
    int cancellation = cancellation_disable();
    for (uint64_t now; (now = cushim_clock_ns()) < time;) {
        struct timespec left = time_to_timespec(time - now);
        nanosleep(&left, NULL); /* macOS cannot sleep until a time */
    }
    cancellation_restore(cancellation);
}

#if LINUX_CALLS

/* The values of <linux/futex.h>, which musl-gcc does not find. */
enum { WAIT_BITSET_PRIVATE = 9 | 128, WAKE_PRIVATE = 1 | 128 };

bool cush_os_wait(atomic_uint *word, unsigned value, uint64_t deadline)
{
    struct timespec until = time_to_timespec(deadline);
    long result = syscall(SYS_futex, word, WAIT_BITSET_PRIVATE, value, deadline != CUSHIM_FOREVER ? &until : NULL, NULL,
                          UINT32_MAX /* any bit */);
    return !(result != 0 && errno == ETIMEDOUT) || cushim_clock_ns() < deadline;
}

void cush_os_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* The value is the number of the eventfd plus one. */
os_signal cush_os_signal_open(void)
{
    return (os_signal)(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) + 1);
}

void cush_os_signal_close(os_signal signal)
{
    close_descriptor((int)signal - 1);
}

void cush_os_signal_set(os_signal signal)
{
    const uint64_t one = 1;
    /* This fails only if the counter is full, and then the eventfd is readable. */
    write_descriptor((int)signal - 1, &one, sizeof one);
}

void cush_os_signal_clear(os_signal signal)
{
    uint64_t count;
    (void)read_descriptor((int)signal - 1, &count, sizeof count);
}

cushim_descriptor cush_os_signal_descriptor(os_signal signal)
{
    return (int)signal - 1;
}

#else

/* One condition variable serves all words: each waiting thread checks its own word. */
static pthread_mutex_t wait_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t wait_changed;
static pthread_once_t wait_once = PTHREAD_ONCE_INIT;

/* The clock of the condition variable must not be set by a person. macOS cannot choose it, and has its own function. */
#    if defined(__APPLE__)
static void wait_make_condition(void)
{
    pthread_cond_init(&wait_changed, NULL);
}

static int wait_until(uint64_t deadline)
{
    uint64_t now = cushim_clock_ns();
    struct timespec left = time_to_timespec(deadline > now ? deadline - now : 0);
    return pthread_cond_timedwait_relative_np(&wait_changed, &wait_lock, &left);
}
#    else
static void wait_make_condition(void)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wait_changed, &attributes);
    pthread_condattr_destroy(&attributes);
}

static int wait_until(uint64_t deadline)
{
    struct timespec until = time_to_timespec(deadline);
    return pthread_cond_timedwait(&wait_changed, &wait_lock, &until);
}
#    endif

bool cush_os_wait(atomic_uint *word, unsigned value, uint64_t deadline)
{
    int result = 0;
    int cancellation = cancellation_disable();
    pthread_once(&wait_once, wait_make_condition);
    pthread_mutex_lock(&wait_lock);
    if (atomic_load(word) == value)
        result = wait_until(deadline);
    pthread_mutex_unlock(&wait_lock);
    cancellation_restore(cancellation);
    return result != ETIMEDOUT || cushim_clock_ns() < deadline;
}

void cush_os_wake(atomic_uint *word)
{
    (void)word;
    pthread_once(&wait_once, wait_make_condition);
    pthread_mutex_lock(&wait_lock);
    pthread_cond_broadcast(&wait_changed);
    pthread_mutex_unlock(&wait_lock);
}

/* The value holds both ends of a pipe, each plus one: the write end in the upper half, the read end in the lower. */
enum { HALF = sizeof(os_signal) * CHAR_BIT / 2 };

#    define HALF_MASK (((os_signal)1 << HALF) - 1)

static int signal_read_end(os_signal signal)
{
    return (int)(signal & HALF_MASK) - 1;
}

static int signal_write_end(os_signal signal)
{
    return (int)(signal >> HALF) - 1;
}

os_signal cush_os_signal_open(void)
{
    int ends[2];
    if (pipe(ends) != 0)
        return 0;
    if ((os_signal)ends[0] >= HALF_MASK || (os_signal)ends[1] >= HALF_MASK) {
        close_descriptor(ends[0]);
        close_descriptor(ends[1]);
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        fcntl(ends[i], F_SETFD, FD_CLOEXEC);
        fcntl(ends[i], F_SETFL, fcntl(ends[i], F_GETFL) | O_NONBLOCK);
    }
    return ((os_signal)ends[0] + 1) | ((os_signal)ends[1] + 1) << HALF;
}

void cush_os_signal_close(os_signal signal)
{
    close_descriptor(signal_read_end(signal));
    close_descriptor(signal_write_end(signal));
}

void cush_os_signal_set(os_signal signal)
{
    /* This fails only if the pipe is full, and then it is readable. */
    write_descriptor(signal_write_end(signal), "", 1);
}

void cush_os_signal_clear(os_signal signal)
{
    char bytes[64];
    while (read_descriptor(signal_read_end(signal), bytes, sizeof bytes) == (ssize_t)sizeof bytes)
        ;
}

cushim_descriptor cush_os_signal_descriptor(os_signal signal)
{
    return signal_read_end(signal);
}

#endif
