/* SPDX-License-Identifier: MIT */
/* Options and environment variables of any content: each load ends with a defined result. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* setenv */
#endif
#include "fuzz.h"

#include <string.h>

#include "cushim/cushim.h"
#include "load.h"

/* Opens no file of this machine. */
static const char *make_path(const char *name, char *path, size_t size)
{
    snprintf(path, size, "%s%s", strcmp(name, "none") == 0 || name[0] == '\0' ? "" : "/no/such/directory/", name);
    return path;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char text[2048];
    char variable[4096];
    char path[4096];
    char hide[2048];
    setenv("CUSHIM_DRIVER", make_path(fuzz_text(&bytes, text, sizeof text), variable, sizeof variable), 1);
    setenv("CUSHIM_MAX_VERSION", fuzz_text(&bytes, text, sizeof text), 1);
    setenv("CUSHIM_HIDE", fuzz_text(&bytes, text, sizeof text), 1);
    struct cushim_load_options options = {
        .path = make_path(fuzz_text(&bytes, text, sizeof text), path, sizeof path),
        .hide = fuzz_text(&bytes, hide, sizeof hide),
        .root = "/no/such/root",
    };
    unsigned which = fuzz_byte(&bytes);
    if ((which & 1) != 0)
        options.path = NULL;
    if ((which & 2) != 0)
        options.hide = NULL;
    if ((which & 4) != 0)
        options.max_version = (int)(fuzz_byte(&bytes) << 24 | fuzz_byte(&bytes) << 12 | fuzz_byte(&bytes));
    if ((which & 8) != 0)
        options.min_version = (int)(fuzz_byte(&bytes) * 1000 + fuzz_byte(&bytes));

    CUresult result = cushim_load(&options);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    HOLDS(result == CUDA_ERROR_INVALID_VALUE || result == CUDA_ERROR_FILE_NOT_FOUND);
    HOLDS(diagnosis->code == result);
    HOLDS((diagnosis->reason == CUSHIM_REASON_BAD_OPTION) == (result == CUDA_ERROR_INVALID_VALUE));
    HOLDS(diagnosis->message[0] != '\0' && strlen(diagnosis->message) < 8192);
    HOLDS(strcmp(cushim_error_last()->function, "cushim_load") == 0);
    HOLDS(cushim_table()->Init_v1(0) == CUDA_ERROR_NO_DEVICE);
    cush_load_reset_for_tests();
    return 0;
}
