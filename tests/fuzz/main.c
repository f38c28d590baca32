/* SPDX-License-Identifier: MIT */
/*
 * Runs a fuzzer that was built by an ordinary compiler:
 *
 *   fuzz_NAME ROUNDS CORPUS
 *
 * It first takes the inputs in the directory CORPUS as they are, then ROUNDS changed ones, the same in every run.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* scandir */
#endif
#include <dirent.h>
#include <string.h>

#include "fuzz.h"

enum { MAX_BYTES = 4096, MAX_INPUTS = 256 };

struct input {
    uint8_t data[MAX_BYTES];
    size_t size;
};

static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned random_below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

/* Changes, removes or duplicates a few bytes. */
static void input_change(struct input *input)
{
    for (unsigned changes = random_below(8); changes != 0 && input->size != 0; changes--) {
        size_t at = random_below((unsigned)input->size);
        size_t length = 1 + random_below(16);
        if (length > input->size - at)
            length = input->size - at;
        switch (random_below(4)) {
        case 0:
            input->data[at] = (uint8_t)random_below(256);
            break;
        case 1:
            input->data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 2:
            memmove(input->data + at, input->data + at + length, input->size - at - length);
            input->size -= length;
            break;
        default:
            if (input->size + length > MAX_BYTES)
                break;
            memmove(input->data + at + length, input->data + at, input->size - at);
            input->size += length;
            break;
        }
    }
}

static int is_input(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static size_t corpus_read(const char *directory, struct input *inputs)
{
    struct dirent **entries;
    int count = scandir(directory, &entries, is_input, alphasort);
    HOLDS(count > 0 && count <= MAX_INPUTS);
    for (int i = 0; i < count; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, entries[i]->d_name);
        FILE *file = fopen(path, "rb");
        HOLDS(file != NULL);
        inputs[i].size = fread(inputs[i].data, 1, MAX_BYTES, file);
        fclose(file);
        free(entries[i]);
    }
    free(entries);
    return (size_t)count;
}

int main(int argc, char **argv)
{
    static struct input inputs[MAX_INPUTS], changed;
    HOLDS(argc == 3);
    size_t count = corpus_read(argv[2], inputs);
    for (size_t i = 0; i < count; i++)
        (void)LLVMFuzzerTestOneInput(inputs[i].data, inputs[i].size);
    for (long rounds = strtol(argv[1], NULL, 10); rounds > 0; rounds--) {
        changed = inputs[random_below((unsigned)count)];
        input_change(&changed);
        (void)LLVMFuzzerTestOneInput(changed.data, changed.size);
    }
    return 0;
}
