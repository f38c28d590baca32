/* SPDX-License-Identifier: MIT */
/*
 * Every name of the drop-in library calls the slot that its spelling says, in the table of its kind, with its
 * arguments. The current tables are replaced by two whose slots record each call. C++ makes the arguments from the list
 * alone.
 */
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>

#define CUSHIM_OWN_TYPES 1
extern "C" {
#include "tables.h"

#define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments) CUresult CUDAAPI symbol parameters;
#include "lists/exports.inc"
}
#include "cushim/abi/egl.h" /* a frame is passed by value */

/* An argument of a call. Little here is a template: a compiler needs time for each of the hundreds of signatures. */
struct argument {
    const void *bytes;
    size_t size;
    template <typename Value> argument(const Value &value) : bytes(&value), size(std::min(sizeof value, sizeof(void *)))
    {
    }
};

static std::string called; /* the kind and the slot, and the bytes of the arguments */

static std::string describe(const std::string &slot, std::initializer_list<argument> arguments)
{
    std::string text = slot + " ";
    for (const argument &each : arguments)
        text.append(static_cast<const char *>(each.bytes), each.size);
    return text;
}

static CUresult record(const char *slot, std::initializer_list<argument> arguments)
{
    called = describe(slot, arguments);
    return CUDA_ERROR_ASSERT;
}

#define UNPACKED(...) __VA_ARGS__
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    static CUresult CUDAAPI record_legacy_##function##_##abi params                                                    \
    {                                                                                                                  \
        return record("legacy " #function "_" #abi, {UNPACKED args});                                                  \
    }                                                                                                                  \
    static CUresult CUDAAPI record_per_thread_##function##_##abi params                                                \
    {                                                                                                                  \
        return record("per_thread " #function "_" #abi, {UNPACKED args});                                              \
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

static std::set<const void *> addresses;
static std::set<std::string> slots;
static size_t count = 0;
static int failures = 0;

static void fail(const char *symbol, const std::string &why)
{
    std::printf("%s %s\n", symbol, why.c_str());
    failures++;
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

static void check_called(const char *symbol, CUresult code, std::initializer_list<argument> arguments)
{
    const std::string expected = meaning_of(symbol);
    if (code != CUDA_ERROR_ASSERT)
        fail(symbol, "does not return what the slot returns");
    if (called != describe(expected, arguments))
        fail(symbol, "calls " + called + ", not " + expected + ", or with other arguments");
    called.clear();
}

template <typename... Parameters>
static void call(const char *symbol, CUresult(CUDAAPI *name)(Parameters...), const Parameters &...values)
{
    check_called(symbol, name(values...), {values...});
}

template <typename... Parameters>
static void check_name(const char *symbol, const char *slot, CUresult(CUDAAPI *name)(Parameters...))
{
    call(symbol, name, distinct<Parameters>()...);
    addresses.insert(reinterpret_cast<const void *>(name));
    slots.insert(slot);
    count++;
}

int main()
{
    cush_table_set_current(&legacy_table, &per_thread_table);
#define CUSHIM_EXPORT(symbol, kind, function, abi, parameters, arguments)                                              \
    check_name(#symbol, #function "_" #abi, symbol);
#include "lists/exports.inc"
    addresses.erase(nullptr);
    if (addresses.size() != count)
        fail("the names", "do not have an address each");
    size_t elsewhere = 0; /* slots without a name here, because only drivers for Windows have them */
#if !defined(_WIN32)
#    define CUSHIM_SYMBOL(function, abi, since, symbol, variant, platform)                                   \
        elsewhere += std::strcmp(#platform, "windows") == 0;
#    include "lists/symbols.inc"
#endif
    if (slots.size() + elsewhere != CUSHIM_SLOT_COUNT)
        fail("the names", "do not reach every slot");
    std::printf("%zu names, %d slots, %d failures\n", count, static_cast<int>(CUSHIM_SLOT_COUNT), failures);
    return failures == 0 ? 0 : 1;
}
