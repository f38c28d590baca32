/* SPDX-License-Identifier: MIT */
/* What of the API depends on the compiler: visibility, and how the current table is read. */
#ifndef CUSHIM_ATTRIBUTES_H
#define CUSHIM_ATTRIBUTES_H

/*
 * CUSHIM_API marks what the shared library exports. The static library is built with CUSHIM_STATIC, which hides its
 * names from whatever it is linked into, so that two plug-ins in one process can each hold a copy. A Windows program
 * that links the DLL needs no macro: nothing but functions crosses the boundary.
 *
 * What is shared between our own files and is no API begins with cush_: in a static link all names meet.
 */
#if defined(_WIN32)
#    if defined(CUSHIM_BUILD_SHARED)
#        define CUSHIM_API __declspec(dllexport)
#    else
#        define CUSHIM_API
#    endif
#elif defined(CUSHIM_STATIC) && defined(__GNUC__)
#    define CUSHIM_API __attribute__((visibility("hidden")))
#elif defined(__GNUC__)
#    define CUSHIM_API __attribute__((visibility("default")))
#else
#    define CUSHIM_API
#endif

/* Where it is 1, cushim_table() is an inline load; where 0, an exported function. */
#if defined(__GNUC__) && !defined(_WIN32)
#    define CUSHIM_INLINE_TABLE 1
#else
#    define CUSHIM_INLINE_TABLE 0
#endif

/* Puts an object into a section of an ELF file and keeps it there unreferenced; nothing where there are no such
 * sections. */
#if defined(__GNUC__) && defined(__ELF__)
#    define CUSHIM_ELF_SECTION(name) __attribute__((section(name), used))
#endif

/* A pointer that every thread reads and few write, in a form that C++ can see too (it has no _Atomic). */
#define CUSHIM_LOAD_ACQUIRE(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#define CUSHIM_STORE_RELEASE(address, value) __atomic_store_n((address), (value), __ATOMIC_RELEASE)

/* The compiler checks the arguments of a function that takes a printf format. */
#if defined(__MINGW32__)
#    define CUSHIM_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#    define CUSHIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#    define CUSHIM_PRINTF(text, first)
#endif

#endif
