/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The parts of the API that depend on the compiler: visibility, and how the current table is read.
 */
#ifndef CUSHIM_ATTRIBUTES_H
#define CUSHIM_ATTRIBUTES_H

/**
 * Marks the names that the shared library exports. The static library is built with CUSHIM_STATIC, which hides its
 * names outside the program or library that it is linked into, so that two plug-ins in one process can each have a
 * copy. A Windows program that links to the DLL needs no macro, because it imports only functions.
 *
 * Names that cushim's source files share, but that are not part of the API, begin with cush_, because a static link has
 * one namespace.
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

/** Exports the function of CUSHIM_LAYER_ENTRY. */
#if defined(_WIN32)
#    define CUSHIM_LAYER_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#    define CUSHIM_LAYER_EXPORT __attribute__((visibility("default")))
#else
#    define CUSHIM_LAYER_EXPORT
#endif

/* The driver and the library are compiled with enums of the size of an int. */
enum cushim_enum_size { CUSHIM_ENUM_SIZE };
#if defined(__cplusplus)
static_assert(sizeof(enum cushim_enum_size) == sizeof(int), "cushim: compile without -fshort-enums");
#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L
_Static_assert(sizeof(enum cushim_enum_size) == sizeof(int), "cushim: compile without -fshort-enums");
#endif

/** 1: cushim_table() reads a pointer to the current table. 0: it calls an exported function. */
#if defined(__GNUC__) && !defined(_WIN32)
#    define CUSHIM_INLINE_TABLE 1
#else
#    define CUSHIM_INLINE_TABLE 0
#endif

/** The address to which the current function returns; NULL where the compiler cannot tell. */
#if defined(__GNUC__)
#    define CUSHIM_RETURN_ADDRESS() __builtin_return_address(0)
#else
#    define CUSHIM_RETURN_ADDRESS() NULL
#endif

/** Puts an object into a section of an ELF file and keeps it there, even if nothing refers to it. Defined only where
 *  such sections exist. */
#if defined(__GNUC__) && defined(__ELF__)
#    define CUSHIM_ELF_SECTION(name) __attribute__((section(name), used))
#endif

/** Marks a function that other modules do not see, and that a definition in the program replaces. */
#if defined(__GNUC__) && defined(__ELF__)
#    define CUSHIM_REPLACEABLE __attribute__((visibility("hidden"), weak))
#else
#    define CUSHIM_REPLACEABLE
#endif

/** Keeps an inline function of C++ within the program or library that contains it: others can have a copy of cushim of
 *  their own, and the dynamic linker would make one function of all. */
#if defined(__GNUC__) && defined(__ELF__)
#    define CUSHIM_LOCAL __attribute__((visibility("hidden")))
#else
#    define CUSHIM_LOCAL
#endif

/** Atomic access to a variable that every thread reads and few threads write. C++ has no _Atomic. Microsoft's compiler
 *  has none of these; the public headers do not need them there. */
#if !defined(_MSC_VER)
#    define CUSHIM_LOAD_ACQUIRE(address) __atomic_load_n((address), __ATOMIC_ACQUIRE)
#    define CUSHIM_STORE_RELEASE(address, value) __atomic_store_n((address), (value), __ATOMIC_RELEASE)
#    define CUSHIM_EXCHANGE(address, value) __atomic_exchange_n((address), (value), __ATOMIC_ACQ_REL)

/** Loads a pointer atomically, for code that reads the object only through this pointer. The data dependency orders the
 *  two reads on every machine that has a CUDA driver. Unlike after an acquire load, the compiler can leave arguments on
 *  the stack where they are. */
#    if defined(__SANITIZE_THREAD__)
#        define CUSHIM_LOAD_DEPENDENT(address) CUSHIM_LOAD_ACQUIRE(address)
#    else
#        define CUSHIM_LOAD_DEPENDENT(address) __atomic_load_n((address), __ATOMIC_RELAXED)
#    endif
#endif

/** Marks a function that is called only when something fails or a program starts, before its type. It is compiled for
 *  size, is never copied into its callers, and what leads to it is moved out of the way of other code. */
#if defined(__GNUC__)
#    define CUSHIM_COLD __attribute__((cold, noinline))
#elif defined(_MSC_VER)
#    define CUSHIM_COLD __declspec(noinline)
#else
#    define CUSHIM_COLD
#endif

/** Lets the compiler check the arguments of a function that takes a printf format. */
#if defined(__MINGW32__)
#    define CUSHIM_PRINTF(text, first) __attribute__((format(gnu_printf, text, first)))
#elif defined(__GNUC__)
#    define CUSHIM_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#    define CUSHIM_PRINTF(text, first)
#endif

#endif
