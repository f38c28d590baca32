/* SPDX-License-Identifier: MIT */
/*
 * The file of a trace. README.md describes it. All numbers are little-endian; the file is mapped by every process that
 * is recorded, and read by `cushim trace report`, also while a program still writes it.
 *
 *   struct trace_header       4 KiB
 *   the states of the slots   a byte for each slot of the legacy table, then of the per-thread table
 *   the schema                text: a line for each slot
 *   chunks                    CHUNK_SIZE each, to the end of the file
 */
#ifndef CUSHIM_TRACE_FORMAT_H
#define CUSHIM_TRACE_FORMAT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The path of the file, in the environment; and, if the command made the file, a name that leads to it even if the
 * program moves it (open_file.h). */
#define TRACE_VARIABLE "CUSHIM_TRACE"
#define TRACE_FILE_VARIABLE "CUSHIM_TRACE_FILE"

/* Set if a process whose calls cannot be recorded says nothing, as for doctor. */
#define TRACE_QUIET_VARIABLE "CUSHIM_TRACE_QUIET"

#define TRACE_MAGIC UINT64_C(0x656361727475636d) /* "mcutrace" */

enum {
    TRACE_VERSION = 2,
    TRACE_HEADER_SIZE = 4096,
    TRACE_CHUNKS_AT = 256 << 10, /* the states and the schema are before */
    TRACE_CHUNK_SIZE = 64 << 10,
    TRACE_COMMAND_SIZE = 1024
};

/* The atomic members change while the file is written. */
struct trace_header {
    uint64_t magic;
    uint32_t version;
    _Atomic uint32_t slot_count; /* 0 until a process has written the states and the schema */
    uint32_t schema_at, schema_size;
    _Atomic uint64_t chunk_count; /* for which the file has room; less when the disk is full */
    uint32_t keeps_newest; /* if there is no room, whether the oldest chunks are overwritten or new calls dropped */
    uint32_t wants_stacks; /* whether every call has a backtrace, and not only those that fail */
    uint64_t clock, real_clock; /* nanoseconds of CLOCK_MONOTONIC and CLOCK_REALTIME when the file was made */
    char command[TRACE_COMMAND_SIZE];
    _Atomic uint64_t taken;                /* the number of chunks that were taken so far */
    _Atomic uint64_t dropped, overwritten; /* the numbers of calls */
    _Atomic uint32_t process_count;        /* the processes that have recorded calls */
    _Atomic uint64_t interrupting; /* the calls of signal handlers that interrupted the recording of another call */
    _Atomic uint64_t lost_ranges;  /* the ranges and marks of NVTX that were not recorded */
    _Atomic uint32_t limit;        /* enum trace_limit */
    _Atomic uint32_t is_refused;   /* whether the system refused a process room that the disk may have */
    _Atomic uint64_t late;         /* the calls after the end of the recording, which `dropped` does not count */
    uint32_t wants_arguments;      /* whether launches have the arguments of their kernels */
    uint64_t slept;                /* nanoseconds that the machine has slept from its start until the file was made */
    uint64_t slept_meanwhile;      /* while the program ran */
};

/* What limits the size of the file. */
enum trace_limit { TRACE_LIMIT_OPTION, TRACE_LIMIT_RESOURCE /* RLIMIT_FSIZE */, TRACE_LIMIT_DISK };

/* Added to `taken` when the command cuts the file: no more chunks are taken. */
#define TRACE_CLOSED (UINT64_C(1) << 62)

/* Set in `taken` while `chunk_count` becomes that number, because the disk has no room for more. */
#define TRACE_FULL (UINT64_C(1) << 61)

/* A part of the file that one thread of one process fills at a time. */
struct trace_chunk {
    _Atomic uint64_t sequence; /* from 1, in the order in which chunks were taken; 0: never taken */
    _Atomic uint64_t owner;    /* the process that fills it: `pid`, and `process` above 32 bits; 0: nobody */
    uint32_t process;          /* a number from 1, in the order in which processes began */
    uint32_t pid;              /* its number in the system */
    uint32_t open;             /* the calls in this chunk that have not returned */
    uint32_t calls;
    _Atomic uint64_t used; /* in bytes, with this struct; stored after a record is complete up to its result */
    uint64_t records[];
};

/*
 * A word is 64 bits. A record is a head of four words and the fields of its slot in the order of the schema.
 *
 *   word 0  the slot, the kind of the table, the number of words of the record, the result, and whether it returned
 *   word 1  when the call began, by the clock
 *   word 2  when it returned
 *   word 3  the address to which it returns; 0 if it is not known
 *
 * A field is as many words as its kind needs (enum trace_field). A text is a pointer, its length, and its characters.
 */
enum {
    TRACE_HEAD = 4,
    TRACE_KIND_SHIFT = 12,
    TRACE_WORDS_SHIFT = 13,
    TRACE_RESULT_SHIFT = 29,
    TRACE_RETURNED_SHIFT = 45,
    TRACE_TEXT_MAX = 1023,
    TRACE_TEXT_WORDS = 2 + (TRACE_TEXT_MAX + 7) / 8,
    TRACE_LOG_WORDS = TRACE_HEAD + TRACE_TEXT_WORDS,
    TRACE_STACK_MAX = 32, /* frames */
    TRACE_STACK_WORDS = TRACE_HEAD + 1 + TRACE_STACK_MAX,
    TRACE_MODULE_WORDS = 5, /* before its path */
    TRACE_PYTHON_FRAMES = 8,
    TRACE_PYTHON_WORDS = TRACE_HEAD + 1 + 192,
    TRACE_ARGUMENTS_WORDS = TRACE_PYTHON_WORDS,
    TRACE_META_WORDS = TRACE_PYTHON_WORDS /* no metadata record has more */
};

/* The kinds of a field, by their letters in the schema. */
enum trace_field {
    TRACE_VALUE = 'v',
    TRACE_OUT = 'o',
    TRACE_IN = 'i',
    TRACE_IN_OUT = 'b', /* the value before the call, then the one after it */
    TRACE_TEXT = 't',
    TRACE_POINTER = 'p'
};

/* The kinds of metadata records, which are not calls: in place of a slot, with words of their own after the head. */
enum {
    TRACE_FIRST_META = 0xf00,
    TRACE_THREAD = TRACE_FIRST_META, /* the next records of the chunk are of this thread: its number */
    TRACE_PROCESS,                   /* a process began to record: its number, its parent's, its command as a text */
    TRACE_EXIT,                      /* the process called exit() */
    TRACE_LOG, /* what the driver says about a call that failed, behind it: when the call began, the length, the text */
    TRACE_STACK,  /* a backtrace, behind the call: when that began, and the addresses from its caller on */
    TRACE_MODULE, /* a part of the process that can be executed: where it starts and ends, where its file would start,
                  * the size and the time of the last change of the file, and its path as a text. Each chunk has those
                  * to which its addresses belong */
    TRACE_RANGE,  /* the thread began or ended a range of NVTX: enum trace_range_event, the domain, the number of the
                   * range, and the name as a text; the last two only if the event has them */
    TRACE_KERNEL, /* a call has returned this kernel in an array: the slot of the call, the module or library that the
                   * kernel is a part of, its handle, and its name as a text without a pointer */

    /* The Python frames of a call, behind it, the newest one first: when the call began; and for each frame a word with
     * its line in the lower half and a number of bytes in the upper half, and these bytes: the file and the qualified
     * name of the function, each with a zero at its end. */
    TRACE_PYTHON,

    /* The process runs Python, but its frames cannot be read: enum trace_no_python, and a number. */
    TRACE_NO_PYTHON,

    /* What the kernel of a launch gets, behind the call: when the call began, and for each parameter its size and its
     * bytes, in words; or TRACE_ARGUMENTS_CUT, if the others have no room. Of cuMemcpyBatchAsync: where its copies
     * write, where they read, their bytes, and CUmemcpySrcAccessOrder, an array of words each. */
    TRACE_ARGUMENTS
};
#define TRACE_ARGUMENTS_CUT (UINT64_C(1) << 63) /* in place of a size: there are more */

/* With the error of process_vm_readv(), and with the minor version of Python 3. */
enum trace_no_python { TRACE_PYTHON_REFUSED = 1, TRACE_PYTHON_UNKNOWN };

/* What happens to a range. A pushed one ends with the next pop of its thread and domain; a started one has a number, by
 * which any thread of the process ends it. */
enum trace_range_event { TRACE_RANGE_PUSH = 1, TRACE_RANGE_POP, TRACE_RANGE_START, TRACE_RANGE_END, TRACE_RANGE_MARK };
enum { TRACE_RANGE_WORDS = 4 };  /* before the characters of its name: the last one is their number */
enum { TRACE_KERNEL_WORDS = 4 }; /* the same */

#define TRACE_WORDS_OF(bytes) (((bytes) + 7) / 8)

/* Writes a header for a file of that size into the file. Returns false, with errno, if it cannot be written. */
bool trace_file_make(int file, uint64_t size, bool keeps_newest, bool wants_stacks, bool wants_arguments,
                     const char *command);

/* Notes whether the machine has slept since then. */
void trace_file_note_sleep(int file);

enum { TRACE_DEFAULT_MEBIBYTES = 1024 };

#endif
