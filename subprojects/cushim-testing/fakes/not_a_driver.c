/* SPDX-License-Identifier: MIT */
/*
 * not_a_driver.c - libraries with the name of a driver that are not drivers. The build makes many of this file:
 *
 *   NOT_INIT         the library exports cuInit
 *   NOT_CODE         it exports cuDriverGetVersion, which returns this code
 *   NOT_VERSION      and writes this version first
 *   NOT_CONSTRUCTOR  it calls back the program that is loading it
 *   NOT_CALLED       its cuInit calls this function of another library
 *
 * With NOT_INIT and a NOT_CODE of 34, it behaves like the stub of the CUDA Toolkit.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#if defined(NOT_CONSTRUCTOR)
#    include "constructor.h"
#endif
#include "export.h"

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
#    if defined(NOT_CALLED)
    extern int NOT_CALLED(void);
    return NOT_CALLED();
#    else
    return 34;
#    endif
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
