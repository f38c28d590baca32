/* SPDX-License-Identifier: MIT */
/* Files of any content, checked before the dynamic loader opens them: no read goes beyond the end of the file. The
 * input is the end of the file's name, a newline, the size of the file, and a list of changes to the head of a real
 * library: an offset, a value. A size and an offset have two bytes, the lower one first. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "fuzz.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#include "linux/file_check.h"

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

static unsigned read_number(struct fuzz_bytes *bytes)
{
    unsigned low = fuzz_byte(bytes);
    return low | fuzz_byte(bytes) << 8;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    static uint8_t changed[sizeof head];
    char suffix[64], path[128];
    if (head_size == 0)
        read_head();
    memcpy(changed, head, sizeof head);
    (void)fuzz_text(&bytes, suffix, sizeof suffix);
    for (char *slash; (slash = strchr(suffix, '/')) != NULL;)
        *slash = '_';
    size_t file_size = read_number(&bytes) % (sizeof head + 1);
    while (bytes.next != bytes.end) {
        unsigned at = read_number(&bytes);
        changed[at % 1024] = (uint8_t)fuzz_byte(&bytes); /* the headers end before this */
    }
    snprintf(path, sizeof path, "/tmp/cushim-fuzz-XXXXXX%s", suffix);
    int file = mkstemps(path, (int)strlen(suffix));
    HOLDS(file >= 0);
    HOLDS(write(file, changed, file_size) == (ssize_t)file_size);
    enum os_library_result result = OS_LIBRARY_OPEN;
    const char *fault = cush_file_check(path, &result);
    HOLDS(fault == NULL || fault[0] != '\0');
    HOLDS((result == OS_LIBRARY_OPEN) == (fault == NULL));
    HOLDS(fault != NULL || strstr(suffix, "${LIB}") == NULL);
    close(file);
    unlink(path);
    return 0;
}
