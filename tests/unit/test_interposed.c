/* SPDX-License-Identifier: MIT */
/* A dlsym() in front of the system's, as tools between a program and its driver have one: cushim uses it. */
#include "unit.h"

#include <dlfcn.h>

/* This program's own dlsym(), like that of a preloaded tool. */

static bool is_interposing;

static CUresult CUDAAPI interposed_query(CUstream hStream)
{
    return CUDA_ERROR_UNKNOWN;
}

static void *real_dlsym(void *library, const char *name)
{
    /* Its oldest version, which differs between processors. */
    static const char *const versions[] = {"GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.0", "GLIBC_2.27"};
    union {
        void *object;
        void *(*function)(void *, const char *);
    } real = {NULL};
    for (size_t i = 0; real.object == NULL && i < sizeof versions / sizeof versions[0]; i++)
        real.object = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return real.object != NULL ? real.function(library, name) : NULL;
}

void *dlsym(void *restrict library, const char *restrict name)
{
    union {
        void *object;
        CUresult(CUDAAPI *function)(CUstream);
    } interposed = {.function = interposed_query};
    return is_interposing && strcmp(name, "cuStreamQuery") == 0 ? interposed.object : real_dlsym(library, name);
}

UNIT_TEST(test_load_when_dlsym_is_replaced_then_uses_its_results)
{
    is_interposing = true;
    unit_load_plain("fake_12040");
    is_interposing = false;
    assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_UNKNOWN);
    assert_int_equal(cushim_table()->StreamSynchronize_v1(NULL),
                     unit_native_result(CUSHIM_SLOT_StreamSynchronize_v1, false));
}
