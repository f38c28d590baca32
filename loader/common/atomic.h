/* SPDX-License-Identifier: MIT */
/*
 * Atomic operations and thread-local variables: <stdatomic.h> and _Thread_local, or, for Microsoft's compiler, which
 * has both only in new versions and behind an option, as much of them as cushim uses. There each operation is
 * sequentially consistent, whatever order the call names. Clang for that target is treated in the same way, so that it
 * tests this.
 */
#ifndef CUSHIM_COMMON_ATOMIC_H
#define CUSHIM_COMMON_ATOMIC_H

#include "cushim/attributes.h"

#if !defined(_MSC_VER)
#    include <stdatomic.h>
#    define CUSH_THREAD_LOCAL _Thread_local
#else
#    include <intrin.h>
#    include <stdbool.h>
#    include <stdint.h>

#    define CUSH_THREAD_LOCAL __declspec(thread)
#    define _Atomic(type) type volatile
typedef volatile bool atomic_bool;
typedef volatile int atomic_int;
typedef volatile unsigned atomic_uint;
typedef volatile unsigned long long atomic_ullong;

/* x86-64 does not move a load before an earlier one; the barrier keeps the compiler from it. */
#    if defined(_M_ARM64)
#        define CUSH_READ(bits, type, from) (type) __ldar##bits((unsigned __int##bits volatile *)(from))
#    else
#        define CUSH_READ(bits, type, from) *(const volatile type *)(from)
#    endif

#    define CUSH_ATOMIC(name, type, bits, word, suffix)                                                                \
        static inline type cush_load_##name(const volatile void *from)                                                 \
        {                                                                                                              \
            type value = CUSH_READ(bits, type, from);                                                                  \
            _ReadWriteBarrier();                                                                                       \
            return value;                                                                                              \
        }                                                                                                              \
        static inline type cush_exchange_##name(volatile void *at, type value)                                         \
        {                                                                                                              \
            return (type)_InterlockedExchange##suffix((word volatile *)at, (word)value);                               \
        }                                                                                                              \
        static inline bool cush_compare_exchange_##name(volatile void *at, void *expected, type value)                 \
        {                                                                                                              \
            type before = *(type *)expected;                                                                           \
            type found = (type)_InterlockedCompareExchange##suffix((word volatile *)at, (word)value, (word)before);    \
            *(type *)expected = found;                                                                                 \
            return found == before;                                                                                    \
        }

#    define CUSH_ATOMIC_NUMBER(name, type, word, suffix)                                                               \
        static inline type cush_add_##name(volatile void *at, type value)                                              \
        {                                                                                                              \
            return (type)_InterlockedExchangeAdd##suffix((word volatile *)at, (word)value);                            \
        }                                                                                                              \
        static inline type cush_subtract_##name(volatile void *at, type value)                                         \
        {                                                                                                              \
            return cush_add_##name(at, (type)(0 - value));                                                             \
        }                                                                                                              \
        static inline type cush_or_##name(volatile void *at, type value)                                               \
        {                                                                                                              \
            return (type)_InterlockedOr##suffix((word volatile *)at, (word)value);                                     \
        }                                                                                                              \
        static inline type cush_and_##name(volatile void *at, type value)                                              \
        {                                                                                                              \
            return (type)_InterlockedAnd##suffix((word volatile *)at, (word)value);                                    \
        }
#    if defined(__clang__) /* a subset does not use each of these */
#        pragma clang diagnostic push
#        pragma clang diagnostic ignored "-Wunused-function"
#    endif
CUSH_ATOMIC(byte, unsigned char, 8, char, 8)
CUSH_ATOMIC(word, unsigned, 32, long, )
CUSH_ATOMIC(long, unsigned long long, 64, long long, 64)
CUSH_ATOMIC_NUMBER(word, unsigned, long, )
CUSH_ATOMIC_NUMBER(long, unsigned long long, long long, 64)

static inline void *cush_load_pointer(const volatile void *from)
{
    return (void *)(uintptr_t)cush_load_long(from);
}

static inline void *cush_exchange_pointer(volatile void *at, const void *value)
{
    return (void *)(uintptr_t)cush_exchange_long(at, (uintptr_t)value);
}

static inline bool cush_compare_exchange_pointer(volatile void *at, void *expected, const void *value)
{
    return cush_compare_exchange_long(at, expected, (uintptr_t)value);
}

#    if defined(__clang__)
#        pragma clang diagnostic pop
#    endif

/* The operation for the type of a variable: everything else is a pointer. The comma removes `volatile` from it. */
#    define CUSH_BY_TYPE(operation, at)                                                                                \
        _Generic((0, *(at)), bool                                                                                      \
                 : operation##_byte, int                                                                               \
                 : operation##_word, unsigned                                                                          \
                 : operation##_word, unsigned long                                                                     \
                 : operation##_word, unsigned long long                                                                \
                 : operation##_long, default                                                                           \
                 : operation##_pointer)
#    define CUSH_OF_NUMBER(operation, at)                                                                              \
        _Generic((0, *(at)), unsigned : operation##_word, unsigned long long : operation##_long)

#    define atomic_init(at, value) ((void)(*(at) = (value)))
#    define atomic_load(at) CUSH_BY_TYPE(cush_load, at)(at)
#    define atomic_load_explicit(at, order) atomic_load(at)
#    define atomic_exchange(at, value) CUSH_BY_TYPE(cush_exchange, at)(at, value)
#    define atomic_store(at, value) ((void)atomic_exchange(at, value))
#    define atomic_store_explicit(at, value, order) atomic_store(at, value)
#    define atomic_compare_exchange_strong(at, expected, value)                                                        \
        CUSH_BY_TYPE(cush_compare_exchange, at)(at, expected, value)
#    define atomic_compare_exchange_weak(at, expected, value) atomic_compare_exchange_strong(at, expected, value)
#    define atomic_fetch_add(at, value) CUSH_OF_NUMBER(cush_add, at)(at, value)
#    define atomic_fetch_add_explicit(at, value, order) atomic_fetch_add(at, value)
#    define atomic_fetch_sub(at, value) CUSH_OF_NUMBER(cush_subtract, at)(at, value)
#    define atomic_fetch_sub_explicit(at, value, order) atomic_fetch_sub(at, value)
#    define atomic_fetch_or(at, value) CUSH_OF_NUMBER(cush_or, at)(at, value)
#    define atomic_fetch_or_explicit(at, value, order) atomic_fetch_or(at, value)
#    define atomic_fetch_and(at, value) CUSH_OF_NUMBER(cush_and, at)(at, value)

/* The macros of attributes.h, which must not include <intrin.h>. */
#    define CUSHIM_LOAD_ACQUIRE(address) atomic_load(address)
#    define CUSHIM_STORE_RELEASE(address, value) atomic_store(address, value)
#    define CUSHIM_EXCHANGE(address, value) atomic_exchange(address, value)
#endif

#endif
