/* SPDX-License-Identifier: MIT */
/* The only header with compiler extensions: how a function is exported, and what runs when a library is loaded. */
#ifndef SOFT_COMPILER_H
#define SOFT_COMPILER_H

#if defined(_WIN32)
#    define SOFT_PUBLIC
#    define SOFT_NAMED(symbol) /* the .def file names it */
#else
#    define SOFT_PUBLIC __attribute__((visibility("default")))
#    define SOFT_NAMED(symbol) __asm__(symbol) __attribute__((visibility("default")))
#endif

/* In front of a function whose argument `at` is a format of printf, with its values from `first` on. */
#define SOFT_PRINTF(at, first) __attribute__((format(printf, at, first)))

/* In front of the declaration of a function that is called when the library is loaded. */
#define SOFT_CONSTRUCTOR __attribute__((constructor))

#endif
