/* SPDX-License-Identifier: MIT */
/*
 * Every name of the drop-in library calls the slot that its spelling says, in the table of its kind, with its
 * arguments. The current tables are replaced by two whose slots record each call. C++ makes the arguments from the list
 * alone.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#define CUSHIM_OWN_TYPES 1
extern "C" {
#include "tables.h"

#define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments) CUresult CUDAAPI symbol parameters;
#include "lists/exports.inc"
}
#include "cushim/abi/egl.h" /* a frame is passed by value */

static std::string called; /* the kind and the slot, and the bytes of the arguments */

template <typename... Values> static std::string bytes_of(const Values &...values)
{
    std::string bytes;
    (bytes.append(reinterpret_cast<const char *>(&values), std::min(sizeof values, sizeof(void *))), ...);
    return bytes;
}

#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI record_legacy_##function##_##abi params                                                    \
    {                                                                                                                  \
        called = "legacy " #function "_" #abi " " + bytes_of args;                                                     \
        return CUDA_ERROR_ASSERT;                                                                                      \
    }                                                                                                                  \
    static CUresult CUDAAPI record_per_thread_##function##_##abi params                                                \
    {                                                                                                                  \
        called = "per_thread " #function "_" #abi " " + bytes_of args;                                                 \
        return CUDA_ERROR_ASSERT;                                                                                      \
    }
#include "cushim/entry_points.h"

static const struct cushim_dispatch_table legacy_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) record_legacy_##function##_##abi,
#include "cushim/entry_points.h"
};
static const struct cushim_dispatch_table per_thread_table = {
#define CUSHIM_ENTRY(function, abi, since, params, args) record_per_thread_##function##_##abi,
#include "cushim/entry_points.h"
};

/* A value that no other parameter of the call has. */
static unsigned char last_byte = 0;

template <typename Value> static Value distinct()
{
    Value value;
    std::memset(&value, ++last_byte, sizeof value);
    return value;
}

static int failures = 0;

static void fail(const char *symbol, const std::string &why)
{
    std::printf("%s %s\n", symbol, why.c_str());
    failures++;
}

template <typename... Parameters>
static void check_call(const char *symbol, const std::string &expected, CUresult(CUDAAPI *name)(Parameters...))
{
    const std::tuple<Parameters...> values{distinct<Parameters>()...};
    called.clear();
    if (std::apply(name, values) != CUDA_ERROR_ASSERT)
        fail(symbol, "does not return what the slot returns");
    if (called != expected + " " + std::apply(bytes_of<Parameters...>, values))
        fail(symbol, "calls " + called + ", not " + expected + ", or with other arguments");
}

/* The slot and the table that a name means, from its spelling alone. */
static std::string meaning_of(std::string symbol)
{
    std::string kind = "legacy ";
    for (const char *suffix : {"_ptsz", "_ptds"}) {
        if (symbol.size() > 5 && symbol.compare(symbol.size() - 5, 5, suffix) == 0) {
            symbol.resize(symbol.size() - 5);
            kind = "per_thread ";
        }
    }
    size_t version = symbol.find("_v");
    return kind + symbol.substr(2) + (version == std::string::npos ? "_v1" : "");
}

int main()
{
    std::set<const void *> addresses;
    std::set<std::string> slots;
    size_t count = 0;
    cush_table_set_current(&legacy_table, &per_thread_table);
#define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)                                              \
    check_call(#symbol, meaning_of(#symbol), symbol);                                                                  \
    addresses.insert(reinterpret_cast<const void *>(symbol));                                                          \
    slots.insert(#function "_" #abi);                                                                                  \
    count++;
#include "lists/exports.inc"
    addresses.erase(nullptr);
    if (addresses.size() != count)
        fail("the names", "do not have an address each");
    size_t elsewhere = 0; /* slots without a name here, because only drivers for Windows have them */
#if !defined(_WIN32)
#    define CUSHIM_SYMBOL(function, abi, since, symbol, per_thread_symbol, platform)                                   \
        elsewhere += std::strcmp(#platform, "windows") == 0;
#    include "lists/symbols.inc"
#endif
    if (slots.size() + elsewhere != CUSHIM_SLOT_COUNT)
        fail("the names", "do not reach every slot");
    std::printf("%zu names, %d slots, %d failures\n", count, static_cast<int>(CUSHIM_SLOT_COUNT), failures);
    return failures == 0 ? 0 : 1;
}
