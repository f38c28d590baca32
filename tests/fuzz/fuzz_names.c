/* SPDX-License-Identifier: MIT */
/* Lookups of any name in a loaded driver: a known name leads to its own function, and any other name is not found. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <string.h>

#include "cushim/cushim.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char name[1024];
    struct cushim_load_options options = {.path = FAKES "/fake_12040.so"};
    HOLDS(cushim_load(&options) == CUDA_SUCCESS);
    (void)fuzz_text(&bytes, name, sizeof name);
    int version = (int)fuzz_byte(&bytes) * 128;

    enum cushim_slot slot = CUSHIM_SLOT_COUNT;
    CUresult found = cushim_slot_find(name, &slot);
    HOLDS(found == CUDA_SUCCESS || found == CUDA_ERROR_NOT_FOUND);
    HOLDS((found == CUDA_SUCCESS) == (slot != CUSHIM_SLOT_COUNT));

    const char *const names[] = {name};
    const char *unmet = NULL;
    CUresult required = cushim_require(names, 1, CUSHIM_DEFAULT_STREAM_LEGACY, &unmet);
    HOLDS((required == CUDA_SUCCESS) == (unmet == NULL));
    HOLDS(required != CUDA_ERROR_NOT_FOUND || found == CUDA_ERROR_NOT_FOUND);

    cushim_fn fn = NULL;
    CUresult result = cushim_lookup(name, version, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
    HOLDS((result == CUDA_SUCCESS) == (fn != NULL));
    HOLDS(result != CUDA_ERROR_INVALID_VALUE || version < 2000 || version > 12040);
    if (fn != NULL) {
        const char *symbol = cushim_symbol_name(fn);
        HOLDS(symbol != NULL && strncmp(symbol, name, strlen(name)) == 0);
    }
    HOLDS(strlen(cushim_error_last()->message) < 512);
    return 0;
}
