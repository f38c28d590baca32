/* SPDX-License-Identifier: MIT */
/*
 * stand_in.c - registers the kernel of a program that does not know softcuda. Preload it:
 *
 *   LD_LIBRARY_PATH=softcuda/580 LD_PRELOAD=libstand_in.so ./vector_add
 *
 * With a driver that executes kernels itself, it does nothing.
 */
#include <dlfcn.h>
#include <string.h>

#include "softcuda.h"

static void vector_add(struct softcuda_launch *launch)
{
    float *const *const memory[] = {launch->arguments[0], launch->arguments[1], launch->arguments[2]};
    int count = *(const int *)launch->arguments[3];
    for (int i = 0; i < count; i++)
        (*memory[0])[i] = (*memory[1])[i] + (*memory[2])[i];
}

__attribute__((constructor)) static void stand_in(void)
{
    static const size_t sizes[] = {sizeof(float *), sizeof(float *), sizeof(float *), sizeof(int)};
    softcuda_control_fn get = NULL;
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    void *found = driver != NULL ? dlsym(driver, SOFTCUDA_CONTROL_SYMBOL) : NULL;
    memcpy(&get, &found, sizeof get);
    const struct softcuda_control *soft = get != NULL ? get(SOFTCUDA_CONTROL_VERSION) : NULL;
    if (soft != NULL)
        soft->register_kernel("vector_add", vector_add, sizes, 4);
}
