/* SPDX-License-Identifier: MIT */
/* A driver whose cuGetProcAddress answers anything: each entry point that the driver does not export is one of its
 * answers with success, or is missing. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <string.h>

#include "driver.h"
#include "os.h"

static const uint8_t *answers;
static size_t answer_count;

static void answer_0(void)
{
}
static void answer_1(void)
{
}
static void answer_2(void)
{
}
static const cushim_fn functions[] = {NULL, answer_0, answer_1, answer_2};

/* The answer depends on the request alone, as that of a driver. */
static uint8_t find_answer(const char *symbol, int version, cuuint64_t flags)
{
    unsigned hash = (unsigned)version + (unsigned)flags * 7u;
    HOLDS(symbol != NULL);
    for (; *symbol != '\0'; symbol++)
        hash = hash * 31u + (unsigned char)*symbol;
    return answer_count != 0 ? answers[hash % answer_count] : 0;
}

static CUresult CUDAAPI answer_v1(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    uint8_t answer = find_answer(symbol, version, flags);
    if ((answer & 4) == 0)
        memcpy(pfn, &functions[answer & 3], sizeof *pfn);
    return (answer & 8) != 0 ? (CUresult)(answer >> 4) : CUDA_SUCCESS;
}

static CUresult CUDAAPI answer_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status)
{
    if ((find_answer(symbol, version, flags) & 32) != 0)
        *status = (CUdriverProcAddressQueryResult)(find_answer(symbol, version, flags) >> 6);
    return answer_v1(symbol, pfn, version, flags);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int versions[] = {11030, 11040, 12000, 12040, 13000, CUSHIM_LIST_VERSION, 14000, 6050};
    static void *library;
    char error[256];
    struct fuzz_bytes bytes = {data, data + size};
    if (library == NULL)
        HOLDS(cush_os_library_open(FAKES "/fake_asked_12040.so", &library, error, sizeof error) == OS_LIBRARY_OPEN);
    unsigned mode = fuzz_byte(&bytes);
    struct driver driver = {.library = library, .own_version = versions[fuzz_byte(&bytes) % 8]};
    driver.version = driver.own_version;
    if ((mode & 1) != 0)
        driver.proc_address.v2 = answer_v2;
    if ((mode & 2) != 0)
        driver.proc_address.v1 = answer_v1;
    answers = bytes.next;
    answer_count = (size_t)(bytes.end - bytes.next);
    bool trusted = cush_resolve_has_proc_address(&driver);
    HOLDS(!trusted || (mode & 3) != 0);
    for (size_t index = 0; index < ENTRY_COUNT; index++) {
        struct cushim_entry_point entry = cush_symbols_entry(index);
        for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
            cushim_fn found = cush_resolve_entry(&driver, index, (enum cushim_default_stream)kind);
            bool exported = cush_os_library_symbol(library, entry.symbol) != NULL;
            HOLDS(found == NULL || entry.since <= driver.own_version);
            HOLDS(found == NULL || exported || trusted);
            HOLDS(found == NULL || exported || found == answer_0 || found == answer_1 || found == answer_2);
        }
    }
    return 0;
}
