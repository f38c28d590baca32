/* SPDX-License-Identifier: MIT */
/*
 * The interface of the fuzzers. Each fuzzer is one function that takes any bytes and aborts if a property does not
 * hold. Linked with main.c, it is a test with a fixed number of generated inputs. With the script "search", clang's
 * fuzzer looks for more. Both start with the inputs in corpus/NAME.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Returns the bytes one after the other, and zeros after the last. */
struct fuzz_bytes {
    const uint8_t *next, *end;
};

static inline unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
    return bytes->next != bytes->end ? *bytes->next++ : 0;
}

/* Returns a text up to the next zero, newline or end, of at most size - 1 bytes. */
static inline const char *fuzz_text(struct fuzz_bytes *bytes, char *text, size_t size)
{
    size_t length = 0;
    for (unsigned byte; length + 1 < size && (byte = fuzz_byte(bytes)) != 0 && byte != '\n';)
        text[length++] = (char)byte;
    text[length] = '\0';
    return text;
}

#endif
