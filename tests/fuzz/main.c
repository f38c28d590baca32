/* SPDX-License-Identifier: MIT */
/* Runs a fuzzer that was built by an ordinary compiler: as many changed seeds as the argument says, the same in every
 * run. */
#include <string.h>

#include "fuzz.h"

enum { MOST_BYTES = 4096 };

static uint64_t state = 0x9e3779b97f4a7c15u;

static unsigned random_below(unsigned limit)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (unsigned)(state >> 33) % limit;
}

/* Changes, removes or duplicates a few bytes. */
static size_t change(uint8_t *data, size_t size)
{
    for (unsigned changes = random_below(8); changes != 0 && size != 0; changes--) {
        size_t at = random_below((unsigned)size);
        size_t length = 1 + random_below(16);
        if (length > size - at)
            length = size - at;
        switch (random_below(4)) {
        case 0:
            data[at] = (uint8_t)random_below(256);
            break;
        case 1:
            data[at] ^= (uint8_t)(1u << random_below(8));
            break;
        case 2:
            memmove(data + at, data + at + length, size - at - length);
            size -= length;
            break;
        default:
            if (size + length > MOST_BYTES)
                break;
            memmove(data + at + length, data + at, size - at);
            size += length;
            break;
        }
    }
    return size;
}

int main(int argc, char **argv)
{
    static uint8_t data[MOST_BYTES];
    long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 1000;
    unsigned seed_count = 0;
    while (fuzz_seeds[seed_count] != NULL)
        seed_count++;
    for (long i = 0; i < rounds; i++) {
        const char *seed = fuzz_seeds[random_below(seed_count)];
        size_t size = strlen(seed);
        memcpy(data, seed, size);
        size = change(data, size);
        (void)LLVMFuzzerTestOneInput(data, size);
    }
    return 0;
}
