/* SPDX-License-Identifier: MIT */
/*
 * unload PLUGIN - a plug-in with its own copy of cushim is loaded, used and unloaded repeatedly: the driver can still
 * call into it, also to explain errors, the data that it returned can be read, and the process does not grow. Runs on
 * softcuda with late callbacks. Exit status: 0, or 1 if a check failed.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include "plugin.h"

#define CHECK(what)                                                                                                    \
    if (!(what)) {                                                                                                     \
        fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                                             \
        return 1;                                                                                                      \
    }

/* A copy that was mapped again in each round would take 100 KiB each time. */
enum { WARM_UP = 20, ROUNDS = 100, MAX_GROWTH_KIB = 4096 };

static long most_memory_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
}

static atomic_bool stops;
static atomic_int failures, wrong;

/* Calls of this thread fail all the time, also while the plug-in is loaded and unloaded. */
static void *fail_often(void *context)
{
    static const char expected[] = "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2";
    CUdeviceptr memory;
    cushim_table()->CtxSetCurrent_v1(context);
    while (!atomic_load(&stops)) {
        CUresult result = CUSHIM_CALL(MemAlloc_v2, &memory, 0);
        const char *message = cushim_error_last()->driver_message;
        if (result != CUDA_ERROR_INVALID_VALUE || message == NULL || strcmp(message, expected) != 0)
            atomic_fetch_add(&wrong, 1);
        atomic_fetch_add(&failures, 1);
    }
    return NULL;
}

static int run_round(const char *path)
{
    const struct cushim_diagnosis *diagnosis = NULL;
    __typeof__(plugin_use) *use;
    void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    CHECK(plugin != NULL);
    *(void **)&use = dlsym(plugin, "plugin_use");
    CHECK(use != NULL && use(&diagnosis) == CUDA_SUCCESS);
    CHECK(dlclose(plugin) == 0);
    CHECK(cushim_table()->CtxSynchronize_v1() == CUDA_SUCCESS); /* the detached completion has fired */
    CHECK(diagnosis->reason == CUSHIM_REASON_NONE && strcmp(diagnosis->reason_name, "none") == 0);
    CHECK(strcmp(diagnosis->path, cushim_diagnosis_get()->path) == 0);
    return 0;
}

int main(int count, char **arguments)
{
    CUcontext context;
    pthread_t thread;
    CHECK(count == 2);
    CHECK(cushim_init() == CUDA_SUCCESS);
    /* This program retains the context, too, so that the plug-in does not wait when it releases it. */
    CHECK(cushim_table()->DevicePrimaryCtxRetain_v1(&context, 0) == CUDA_SUCCESS);
    CHECK(cushim_table()->CtxSetCurrent_v1(context) == CUDA_SUCCESS);
    CHECK(pthread_create(&thread, NULL, fail_often, context) == 0);
    for (int i = 0; i < WARM_UP; i++)
        CHECK(run_round(arguments[1]) == 0);
    long before = most_memory_kib();
    for (int i = 0; i < ROUNDS; i++)
        CHECK(run_round(arguments[1]) == 0);
    long growth = most_memory_kib() - before;
    atomic_store(&stops, true);
    CHECK(pthread_join(thread, NULL) == 0);
    printf("%d rounds, %ld KiB more, %d failed calls beside them\n", ROUNDS, growth, atomic_load(&failures));
    CHECK(atomic_load(&failures) > 0 && atomic_load(&wrong) == 0);
    CHECK(growth <= MAX_GROWTH_KIB);
    CHECK(cushim_table()->DevicePrimaryCtxRelease_v1(0) == CUDA_SUCCESS);
    return 0;
}
