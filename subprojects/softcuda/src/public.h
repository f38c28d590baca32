/* SPDX-License-Identifier: MIT */
/* How a function is exported: the only file that depends on the compiler. */
#ifndef SOFT_PUBLIC_H
#define SOFT_PUBLIC_H

#if defined(_WIN32)
#    define SOFT_PUBLIC
#    define SOFT_NAMED(symbol) /* the .def file names it */
#else
#    define SOFT_PUBLIC __attribute__((visibility("default")))
#    define SOFT_NAMED(symbol) __asm__(symbol) __attribute__((visibility("default")))
#endif

#endif
