/* SPDX-License-Identifier: MIT */
/* A library with a function that makes a call of the driver that fails; and with MAIN, a program that calls it in the
 * library of its argument. */
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "functions.h"

#ifdef MAIN
int main(int argc, char **argv)
{
    void *library = dlopen(argc == 2 ? argv[1] : "none", RTLD_NOW);
    void *symbol = library != NULL ? dlsym(library, "fail_there") : NULL;
    int (*function)(void);
    memcpy(&function, &symbol, sizeof function);
    return function != NULL ? function() : 2;
}
#else
int fail_there(void);
int fail_there(void)
{
    return cuStreamIsCapturing((CUstream)1, NULL) == 0;
}
#endif
