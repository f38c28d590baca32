/* SPDX-License-Identifier: MIT */
/* One random program: the driver, what its threads share, the threads, and the end of it all. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "trace.h"

const struct softcuda_control *soft;
bool faults;
atomic_bool broken;
bool may_break;

static uint64_t program_seed;
static pthread_barrier_t barrier;
static struct thread_objects objects_of[MAX_THREADS];

static const struct softcuda_control *find_softcuda(void)
{
    softcuda_control_fn control = NULL;
    void *library = dlopen(cushim_diagnosis_get()->path, RTLD_NOW | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&control, &found, sizeof control);
    if (library != NULL)
        dlclose(library);
    return control != NULL ? control(SOFTCUDA_CONTROL_VERSION) : NULL;
}

static void open_driver(void)
{
    const struct cushim_load_options options = {.path = settings.driver};
    if (cushim_load(&options) != CUDA_SUCCESS || cushim_init() != CUDA_SUCCESS) {
        printf("skipped: %s\n", cushim_error_last()->message);
        exit(SKIPPED);
    }
    cu = cushim_table();
    soft = find_softcuda();
    faults = soft != NULL && (settings.faults < 0 ? program_seed % 2 == 1 : settings.faults != 0);
    may_break = !faults && program_seed % 8 == 2 && (soft != NULL || settings.kernels);
}

static void open_bases(void)
{
    struct cushim_context **bases[2] = {&shared_objects.bases[0].context, &shared_objects.bases[1].context};
    CUresult result = cushim_driver_version() < 7000 ? cushim_context_create(0, 0, bases[0])
                                                     : cushim_context_create_primary(0, bases[0]);
    if (result == CUDA_SUCCESS)
        result = cushim_context_create(0, 0, bases[1]);
    if (result != CUDA_SUCCESS)
        fail("no context: %s", cushim_error_last()->message);
    driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[0].context));
    if (driver()->MemAlloc_v2(&shared_objects.memory, MEMORY_PIECE * MEMORY_PIECES) != CUDA_SUCCESS)
        fail("no memory on the device");
    driver()->MemAllocManaged_v1(&shared_objects.managed, 4096, CU_MEM_ATTACH_GLOBAL);
}

static void open_shared(void)
{
    for (int i = 0; i < SHARED; i++) {
        struct stream_slot *slot = &shared_objects.streams[i];
        *slot = (struct stream_slot){.of = -1, .owned = true, .shared = true};
        if (cushim_stream_create(shared_objects.bases[i].context, CU_STREAM_NON_BLOCKING, 0, &slot->stream)
                != CUDA_SUCCESS
            || cushim_dispatcher_create(&shared_objects.dispatchers[i]) != CUDA_SUCCESS
            || cushim_completion_create(slot->stream, i == 0 ? 0 : CUSHIM_COMPLETION_NOTIFYING,
                                        &shared_objects.completions[i].completion)
                   != CUDA_SUCCESS)
            fail("nothing to share: %s", cushim_error_last()->message);
        shared_objects.completions[i].shared = true;
        shared_objects.completions[i].polled = i == 0;
    }
}

static void close_completion(struct completion_slot *slot)
{
    if (slot->completion != NULL && !slot->captured
        && cushim_completion_wait(slot->completion, cushim_clock_ns() + PATIENCE, NULL) == CUDA_ERROR_TIMEOUT)
        fail("a completion did not fire");
    cushim_completion_detach(&slot->completion);
}

static void close_exchanged(void)
{
    for (int i = 0; i < EXCHANGED; i++)
        close_completion(&shared_objects.exchanged[i]);
}

static void close_shared(void)
{
    for (int i = 0; i < SHARED; i++) {
        close_completion(&shared_objects.completions[i]);
        cushim_stream_close(&shared_objects.streams[i].stream);
        cushim_dispatcher_run(shared_objects.dispatchers[i], 0, NULL);
        cushim_dispatcher_destroy(&shared_objects.dispatchers[i]);
    }
}

/* Pending work writes into memory that is freed next. */
static void complete_work(void)
{
    for (int i = 0; i < 2; i++) {
        driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[i].context));
        driver()->CtxSynchronize_v1();
    }
}

static void close_bases(void)
{
    complete_work();
    driver()->CtxSetCurrent_v1(cushim_context_handle(shared_objects.bases[0].context));
    for (unsigned i = 0; i < settings.threads; i++)
        driver()->MemFreeHost_v1(objects_of[i].words);
    driver()->MemFree_v2(shared_objects.memory);
    if (shared_objects.managed != 0)
        driver()->MemFree_v2(shared_objects.managed);
    driver()->CtxSetCurrent_v1(NULL);
    cushim_context_destroy(&shared_objects.bases[1].context);
    cushim_context_destroy(&shared_objects.bases[0].context);
}

static uint64_t seed_of(unsigned thread, unsigned operation)
{
    choose_from(program_seed * 1000003u + thread);
    return choose_seed() + operation;
}

void program_meet(void)
{
    pthread_barrier_wait(&barrier);
}

static void *run_thread(void *user)
{
    unsigned number = (unsigned)(uintptr_t)user;
    objects_open(&objects_of[number], number);
    program_meet(); /* captures may be begun: some of the calls above are not made in those */
    choose_from(seed_of(number, 0));
    unsigned count = settings.operations != 0 ? settings.operations : 2000 + choose(1001);
    for (objects->operation = 1; objects->operation <= count; objects->operation++)
        operation_run(seed_of(number, objects->operation));
    program_meet();
    if (faults)
        soft->clear_faults();
    objects_close();
    return NULL;
}

void program_run(uint64_t seed)
{
    pthread_t threads[MAX_THREADS];
    program_seed = seed;
    open_driver();
    open_bases();
    if (settings.threads > 1)
        open_shared();
    pthread_barrier_init(&barrier, NULL, settings.threads);
    for (unsigned i = 1; i < settings.threads; i++)
        if (pthread_create(&threads[i], NULL, run_thread, (void *)(uintptr_t)i) != 0)
            fail("no thread");
    run_thread(NULL);
    for (unsigned i = 1; i < settings.threads; i++)
        pthread_join(threads[i], NULL);
    close_exchanged();
    if (settings.threads > 1)
        close_shared();
    expectations_detach();
    close_bases();
    expectations_check();
}
