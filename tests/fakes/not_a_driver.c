/* SPDX-License-Identifier: MIT */
/*
 * not_a_driver.c - what may lie around under a driver's name and is none. Built into many libraries:
 *
 *   NOT_INIT         it exports cuInit
 *   NOT_CODE         it exports cuDriverGetVersion, which returns this
 *   NOT_VERSION      and first writes this
 *   NOT_CONSTRUCTOR  it calls back the program while it is being loaded
 *
 * With NOT_INIT and a NOT_CODE of 34 it is what the CUDA Toolkit gives programs to link with.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#if defined(NOT_CONSTRUCTOR)
#    include "constructor.h"
#endif

#if defined(_WIN32)
#    define EXPORT __declspec(dllexport)
#else
#    define EXPORT __attribute__((visibility("default")))
#endif

EXPORT int not_a_driver(void);

int not_a_driver(void)
{
    return 1;
}

#if defined(NOT_INIT)
EXPORT int cuInit(unsigned flags);

int cuInit(unsigned flags)
{
    (void)flags;
    return 34;
}
#endif

#if defined(NOT_CODE)
EXPORT int cuDriverGetVersion(int *version);

int cuDriverGetVersion(int *version)
{
#    if defined(NOT_VERSION)
    *version = NOT_VERSION;
#    else
    (void)version;
#    endif
    return NOT_CODE;
}
#endif
