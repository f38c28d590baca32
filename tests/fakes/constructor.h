/* SPDX-License-Identifier: MIT */
/* Calls fake_driver_constructed() of the program that loads this library, while it does; if the program exports that. */
#ifndef FAKE_CONSTRUCTOR_H
#define FAKE_CONSTRUCTOR_H

#include <dlfcn.h>
#include <stddef.h>

__attribute__((constructor)) static void construct(void)
{
    union {
        void *object;
        void (*call)(void);
    } constructed = {dlsym(RTLD_DEFAULT, "fake_driver_constructed")};
    if (constructed.object != NULL)
        constructed.call();
}

#endif
