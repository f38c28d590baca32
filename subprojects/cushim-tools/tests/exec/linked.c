/* SPDX-License-Identifier: MIT */
/*
 * A program that is linked to libcuda.so.1, as programs without cushim are. It prints the version of the driver,
 * whether its linked functions are those that dlsym and cuGetProcAddress return, and the number of GPUs. With NEWER it
 * needs a function of CUDA 12.0; with an argument it ends by that signal.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuStreamQuery(void *stream);
int cuStreamQuery_ptsz(void *stream);
int cuStreamGetId(void *stream, unsigned long long *id);

static void *address_of(int (*function)(void *))
{
    void *address;
    memcpy(&address, &function, sizeof address);
    return address;
}

static void *address_from_driver(unsigned long long flags)
{
    void *symbol = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
    void *address = NULL;
    int (*get)(const char *, void **, int, unsigned long long);
    memcpy(&get, &symbol, sizeof get);
    return symbol != NULL && get("cuStreamQuery", &address, 11030, flags) == 0 ? address : NULL;
}

static void compare(const char *name, void *linked, void *driver)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    printf("%s %d %d %d\n", name, linked == dlsym(RTLD_DEFAULT, name), linked == dlsym(library, name),
           linked == driver);
}

int main(int argc, char **argv)
{
    int version = 0, count = -1;
    if (argc > 1)
        return raise(atoi(argv[1]));
    cuDriverGetVersion(&version);
    printf("version %d\n", version);
    compare("cuStreamQuery", address_of(cuStreamQuery), address_from_driver(1));
    compare("cuStreamQuery_ptsz", address_of(cuStreamQuery_ptsz), address_from_driver(2));
#if defined(NEWER)
    unsigned long long id;
    printf("id %d\n", cuStreamGetId(NULL, &id));
#endif
    printf("init %d\n", cuInit(0));
    int result = cuDeviceGetCount(&count);
    printf("devices %d %d\n", result, count);
    return 7;
}
