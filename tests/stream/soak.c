/* SPDX-License-Identifier: MIT */
/*
 * soak - many threads create, wait for, detach and destroy completions for the given time.
 *
 *   soak SECONDS [THREADS [SEED]]
 *
 * It runs in rounds of at most two seconds, each in a process of its own. softcuda refuses callbacks now and then; in
 * every second round a kernel faults in the middle. Every callback must be called or cancelled exactly once, every
 * destroy function must be called exactly once, and every wait must return. Exit status: 0; 1 if a check failed; 77 if
 * there is no device.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kernels.h"
#include "softcuda.h"

enum { MAX_THREADS = 256 };

static struct cushim_context *context;
static struct cushim_dispatcher *dispatcher;
static const struct softcuda_control *soft; /* NULL on a real driver */
static uint64_t end;
static atomic_bool stopped;
static atomic_bool broken; /* a kernel that faults was launched: from now on every call may fail, but must return */

/* The events that have to happen, and those that happened. */
static atomic_llong completions, refusals, waits;
static atomic_llong functions, function_calls, function_releases;
static atomic_llong works, work_releases;
static atomic_llong faults;

struct once {
    atomic_int calls;
    atomic_int releases;
};

static void fault(const char *what)
{
    if (atomic_fetch_add(&faults, 1) < 10)
        fprintf(stderr, "%s\n", what);
}

static void call_once(CUresult status, void *user)
{
    struct once *once = user;
    if (atomic_load(&once->releases) != 0 || atomic_fetch_add(&once->calls, 1) != 0)
        fault("a function was called after its release, or twice");
    atomic_fetch_add(&function_calls, 1);
}

static void release_once(void *user)
{
    atomic_fetch_add(&function_releases, 1);
    free(user); /* the sanitizers would report a second call */
}

static void release_work(void *user)
{
    atomic_fetch_add(&work_releases, 1);
    free(user);
}

static CUresult enqueue_work(struct cushim_stream *stream, void *user)
{
    return *(unsigned char *)user % 8 == 0 ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static unsigned next(unsigned *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 16;
}

static const char *const refused_calls[] = {"cuEventRecord", "cuEventQuery", "cuStreamWaitEvent",
                                            "cuStreamAddCallback"};

static bool is_polled(unsigned choice)
{
    return choice % 4 == 0;
}

static struct cushim_completion *make(struct cushim_stream *stream, unsigned choice)
{
    struct cushim_completion *completion = NULL;
    CUresult result;
    if (soft != NULL && choice % 64 == 0)
        soft->fail_call(refused_calls[choice / 64 % 4], 1, CUDA_ERROR_OUT_OF_MEMORY);
    if (choice % 2 == 0) {
        result = cushim_completion_create(stream, is_polled(choice) ? 0 : CUSHIM_COMPLETION_NOTIFYING, &completion);
    } else {
        unsigned char *work = malloc(16);
        if (work == NULL)
            return NULL;
        *work = (unsigned char)(choice >> 8);
        atomic_fetch_add(&works, 1);
        result = cushim_stream_enqueue(stream, enqueue_work, work, release_work, &completion);
    }
    atomic_fetch_add(result == CUDA_SUCCESS ? &completions : &refusals, 1);
    if ((result == CUDA_SUCCESS) != (completion != NULL))
        fault("a refusal wrote its result, or a success did not");
    return completion;
}

/* Sets a callback on the common dispatcher, on the thread's own dispatcher, or an inline callback. */
static void attach_function(struct cushim_completion *completion, struct cushim_dispatcher *own, unsigned choice)
{
    struct cushim_dispatcher *taken = own != NULL ? own : dispatcher;
    struct once *once = choice % 3 != 0 ? calloc(1, sizeof *once) : NULL;
    if (once == NULL)
        return;
    atomic_fetch_add(&functions, 1);
    CUresult result = choice % 3 == 1
                          ? cushim_completion_set_callback(completion, taken, call_once, once, release_once)
                          : cushim_completion_set_inline_callback(completion, call_once, once, release_once);
    if (result != CUDA_SUCCESS)
        fault("a function was refused");
}

/* The status of finished work: success, or the sticky error of the context. */
static void check_status(CUresult result, CUresult status)
{
    if (result != CUDA_SUCCESS)
        fault("a completion has not fired");
    if (status != CUDA_SUCCESS && (!atomic_load(&broken) || status != CUDA_ERROR_ILLEGAL_ADDRESS))
        fault("a completion has a wrong status");
}

static void wait_by_descriptor(struct cushim_completion *completion)
{
    cushim_descriptor descriptor;
    if (cushim_completion_get_descriptor(completion, &descriptor) != CUDA_SUCCESS)
        return;
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    if (poll(&wanted, 1, 20000) != 1)
        fault("a descriptor said nothing");
    CUresult status = CUDA_SUCCESS;
    check_status(cushim_completion_poll(completion, &status), status);
}

static void completion_finish(struct cushim_completion *completion, unsigned choice)
{
    if (choice % 4 == 0) {
        CUresult status = CUDA_SUCCESS;
        atomic_fetch_add(&waits, 1);
        check_status(cushim_completion_wait(completion, cushim_clock_ns() + UINT64_C(20000000000), &status), status);
    } else if (choice % 4 == 1) {
        wait_by_descriptor(completion);
    }
    if (choice & 16)
        cushim_completion_destroy(&completion);
    else
        cushim_completion_detach(&completion);
}

static void *work_on(void *user)
{
    unsigned seed = (unsigned)(size_t)user;
    struct cushim_stream *stream = NULL;
    if (cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream) != CUDA_SUCCESS) {
        if (!atomic_load(&broken))
            fault("no stream");
        return NULL;
    }
    while (cushim_clock_ns() < end) {
        unsigned choice = next(&seed);
        struct cushim_completion *completion = make(stream, choice);
        if (completion == NULL)
            continue;
        /* A dispatcher that ends with its completion, which the driver's thread may be firing. If the work is far
         * behind, so many dispatchers exist that the operating system provides no more descriptors. */
        struct cushim_dispatcher *own = NULL;
        if (next(&seed) % 8 == 0) {
            CUresult result = cushim_dispatcher_create(&own);
            if (result != CUDA_SUCCESS && result != CUDA_ERROR_OPERATING_SYSTEM)
                fault("no dispatcher");
        }
        if (!is_polled(choice))
            attach_function(completion, own, next(&seed));
        completion_finish(completion, next(&seed));
        cushim_dispatcher_destroy(&own);
    }
    cushim_stream_close(&stream);
    return NULL;
}

static void *run_functions(void *user)
{
    while (!atomic_load(&stopped))
        cushim_dispatcher_run(dispatcher, cushim_clock_ns() + 10000000, NULL);
    return NULL;
}

static const struct softcuda_control *find_softcuda(void)
{
    softcuda_control_fn control = NULL;
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&control, &found, sizeof control);
    return control != NULL ? control(SOFTCUDA_CONTROL_VERSION) : NULL;
}

static int report(void)
{
    printf("%lld completions, %lld refusals, %lld waits; %lld functions, %lld called, %lld released; "
           "%lld works, %lld released; %lld faults\n",
           atomic_load(&completions), atomic_load(&refusals), atomic_load(&waits), atomic_load(&functions),
           atomic_load(&function_calls), atomic_load(&function_releases), atomic_load(&works),
           atomic_load(&work_releases), atomic_load(&faults));
    return atomic_load(&faults) == 0 && atomic_load(&functions) == atomic_load(&function_releases)
                   && atomic_load(&works) == atomic_load(&work_releases) && atomic_load(&completions) > 0
               ? 0
               : 1;
}

/* Launches a kernel that faults, at a random moment in the round. */
static void launch_fault(unsigned seed)
{
    CUfunction function = NULL;
    cu->CtxPushCurrent_v2(cushim_context_handle(context));
    CUresult result = kernel_get("conformance_fault", &function);
    usleep(next(&seed) % 500000);
    atomic_store(&broken, true);
    if (result != CUDA_SUCCESS || kernel_launch(function, NULL, NULL) != CUDA_SUCCESS)
        fault("no kernel that faults");
}

static int round_of(double seconds, int wanted, size_t seed, bool with_fault)
{
    pthread_t threads[MAX_THREADS];
    pthread_t runner;
    if (cushim_context_create(0, 0, &context) != CUDA_SUCCESS) {
        printf("skipped: %s\n", cushim_error_last()->message);
        return 77;
    }
    cu = cushim_table();
    soft = find_softcuda();
    end = cushim_clock_ns() + (uint64_t)(seconds * 1e9);
    if (cushim_dispatcher_create(&dispatcher) != CUDA_SUCCESS
        || pthread_create(&runner, NULL, run_functions, NULL) != 0)
        return 1;
    for (int i = 0; i < wanted; i++)
        if (pthread_create(&threads[i], NULL, work_on, (void *)(seed * 1000 + (size_t)i)) != 0)
            return 1;
    if (with_fault)
        launch_fault((unsigned)seed);
    for (int i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    cushim_context_destroy(&context); /* waits for all callbacks */
    atomic_store(&stopped, true);
    pthread_join(runner, NULL);
    cushim_dispatcher_run(dispatcher, 0, NULL);
    cushim_dispatcher_destroy(&dispatcher);
    return report();
}

int main(int count, char **arguments)
{
    double seconds = count > 1 ? atof(arguments[1]) : 0;
    int wanted = count > 2 ? atoi(arguments[2]) : 64;
    size_t seed = count > 3 ? (size_t)atoi(arguments[3]) : 1;
    int status = 0;
    if (seconds <= 0 || wanted < 1 || wanted > MAX_THREADS) {
        fprintf(stderr, "usage: soak SECONDS [THREADS [SEED]]\n");
        return 2;
    }
    for (bool with_fault = false; seconds > 0 && status == 0; seconds -= 2, seed++, with_fault = !with_fault) {
        fflush(stdout);
        pid_t child = fork();
        if (child == 0)
            exit(round_of(seconds < 2 ? seconds : 2, wanted, seed, with_fault));
        if (child < 0 || waitpid(child, &status, 0) != child)
            return 1;
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
