/* SPDX-License-Identifier: MIT */
/* The Python interpreter of this process: its functions, and where the members of its objects are. */
#ifndef CUSHIM_TRACE_PYTHON_OFFSETS_H
#define CUSHIM_TRACE_PYTHON_OFFSETS_H

#include <stdbool.h>
#include <stddef.h>

/* In bytes. */
struct python_offsets {
    short minor; /* the version of Python 3; 0 from 3.13 on */

    short thread_frame;                       /* of a thread state: its newest frame */
    short cframe;                             /* of an object between a thread state and that frame; -1: none */
    short code, back, instruction, owner;     /* of a frame; owner -1: none, and the instruction is an int */
    short file, name, lines, first, bytecode; /* of a code object; the last one from 3.11 on */
    short type, bytes_size, bytes;            /* of any object; of a bytes object */
    short length, state, ascii, compact;      /* of a string: the last two are the sizes of its head */
    short kind_bit;                           /* of the state of a string */
    short thread_code, thread_codes;          /* of a frame, of a code object: from 3.14 on, without the lock; or 0 */
};

struct python {
    void *(*attached)(void);  /* the state of this thread if it holds the interpreter's lock; or NULL */
    void *(*of_thread)(void); /* that of this thread in any case, but of one interpreter only */
    int (*is_initialized)(void);
    int (*line)(void *code, int address); /* only reads */
    const void *code_type, *string_type, *bytes_type;
    struct python_offsets at;
    size_t frame_size; /* up to the last member that is used: behind it, there can be no memory */
};

enum { PYTHON_FRAME_MAX = 128 /* no frame_size is larger */ };

/* Looks for the interpreter, with a lock of the dynamic loader. Returns whether there is one that is known. Otherwise,
 * the number is that of the minor version of an unknown Python 3, or -1. */
bool python_find(struct python *out_python, int *out_unknown);

#endif
