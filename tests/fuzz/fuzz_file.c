/* SPDX-License-Identifier: MIT */
/* Files of any content, checked before the dynamic loader opens them: no read goes beyond the end of the file. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "posix/file_check.h"

/* The input is a list of changes to the head of a real library: an offset and a value each. */
const char *const fuzz_seeds[] = {"0123456789abcdef", "(8@Hcccc", "    ", NULL};

static uint8_t head[4096];
static long head_size;

static void read_head(void)
{
    FILE *file = fopen(FAKES "/fake_12040.so", "rb");
    HOLDS(file != NULL);
    head_size = (long)fread(head, 1, sizeof head, file);
    HOLDS(head_size == (long)sizeof head);
    fclose(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    static uint8_t changed[sizeof head];
    char path[] = "/tmp/cushim-fuzz-XXXXXX";
    if (head_size == 0)
        read_head();
    memcpy(changed, head, sizeof head);
    while (bytes.next != bytes.end) {
        unsigned at = fuzz_byte(&bytes);
        changed[at] = (uint8_t)fuzz_byte(&bytes);
    }
    int file = mkstemp(path);
    HOLDS(file >= 0);
    HOLDS(write(file, changed, sizeof changed) == (ssize_t)sizeof changed);
    bool is_damaged;
    const char *fault = cush_file_check(path, &is_damaged);
    HOLDS(fault == NULL || fault[0] != '\0');
    close(file);
    unlink(path);
    return 0;
}
