/* SPDX-License-Identifier: MIT */
/*
 * unload PLUGIN - a plug-in with its own copy of cushim is loaded, used and unloaded repeatedly: the driver can still
 * call into it, the data that it returned can be read, and the process does not grow. Runs on softcuda with late
 * callbacks. Exit status: 0, or 1 if a check failed.
 */
#include <dlfcn.h>
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
enum { WARM_UP = 20, ROUNDS = 100, MOST_GROWTH_KIB = 4096 };

static long most_memory_kib(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) == 0 ? usage.ru_maxrss : 0;
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
    CHECK(strcmp(diagnosis->path, cushim_get_diagnosis()->path) == 0);
    return 0;
}

int main(int count, char **arguments)
{
    CUcontext context;
    CHECK(count == 2);
    CHECK(cushim_init() == CUDA_SUCCESS);
    /* This program retains the context, too, so that the plug-in does not wait when it releases it. */
    CHECK(cushim_table()->DevicePrimaryCtxRetain_v1(&context, 0) == CUDA_SUCCESS);
    CHECK(cushim_table()->CtxSetCurrent_v1(context) == CUDA_SUCCESS);
    for (int i = 0; i < WARM_UP; i++)
        CHECK(run_round(arguments[1]) == 0);
    long before = most_memory_kib();
    for (int i = 0; i < ROUNDS; i++)
        CHECK(run_round(arguments[1]) == 0);
    long growth = most_memory_kib() - before;
    printf("%d rounds, %ld KiB more\n", ROUNDS, growth);
    CHECK(growth <= MOST_GROWTH_KIB);
    CHECK(cushim_table()->DevicePrimaryCtxRelease_v1(0) == CUDA_SUCCESS);
    return 0;
}
