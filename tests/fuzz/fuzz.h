/* SPDX-License-Identifier: MIT */
/*
 * What the fuzzers share. Each has one function that takes any bytes and aborts if something does not hold. With main.c
 * it is a test that runs a fixed number of made-up inputs; the script "search" lets clang's fuzzer look for more.
 */
#ifndef FUZZ_H
#define FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* What main.c begins with and changes: inputs of this fuzzer that make sense, each a text, ended by NULL. */
extern const char *const fuzz_seeds[];

#define HOLDS(condition)                                                                                               \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

/* Takes the bytes one after the other; zeros when there are none left. */
struct fuzz_bytes {
    const uint8_t *next, *end;
};

static inline unsigned fuzz_byte(struct fuzz_bytes *bytes)
{
    return bytes->next != bytes->end ? *bytes->next++ : 0;
}

/* A text up to the next zero, newline or end; at most size - 1 bytes. */
static inline const char *fuzz_text(struct fuzz_bytes *bytes, char *text, size_t size)
{
    size_t length = 0;
    for (unsigned byte; length + 1 < size && (byte = fuzz_byte(bytes)) != 0 && byte != '\n';)
        text[length++] = (char)byte;
    text[length] = '\0';
    return text;
}

#endif
