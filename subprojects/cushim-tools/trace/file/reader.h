/* SPDX-License-Identifier: MIT */
/* Reading a trace: its calls in the order in which they began, whatever thread made them. */
#ifndef CUSHIM_TRACE_READER_H
#define CUSHIM_TRACE_READER_H

#include "format.h"
#include "numbers.h"

enum { TRACE_MAX_FIELDS = 16 };

/* names.c: a type, and how a value of it is shown. */
struct trace_type {
    enum trace_type_number number;
    enum trace_shown {
        TRACE_HEXADECIMAL,
        TRACE_SIGNED,
        TRACE_UNSIGNED,
        TRACE_FLOAT,
        TRACE_FLAGS_OF_ENUM, /* several enumerators at a time */
        TRACE_STREAM         /* hexadecimal, but for the default streams */
    } shown;
    size_t first, count; /* its enumerators */
    size_t stream;       /* the word of a value that is a stream, from 1; 0: none */
};
struct trace_type trace_type_get(enum trace_type_number number);
struct trace_type trace_type_find(const char *name, size_t length); /* without its "*" */

/* The number of a function, of which the name has no ABI version. */
enum trace_function trace_function_find(const char *name, size_t length);

static inline bool trace_type_is_kernel_node(const struct trace_type *type)
{
    return type->number == TRACE_TYPE_CUDA_KERNEL_NODE_PARAMS_v1
           || type->number == TRACE_TYPE_CUDA_KERNEL_NODE_PARAMS_v2;
}

struct trace_text {
    char text[64];
};

/* A duration: "842 ns", "5.1 us", "12.3 ms", "7.64 s". */
struct trace_text trace_duration(uint64_t nanoseconds);

/* A result code: "CUDA_ERROR_INVALID_VALUE", or its number. */
struct trace_text trace_result(unsigned code);

/* Returns the enumerator with a value, or NULL. */
const char *trace_type_enumerator(const struct trace_type *type, uint64_t value);

/* The same for a value that is flags: the enumerator with most of them. Removes these from the value. */
const char *trace_type_flag(const struct trace_type *type, uint64_t *value);

/* Changes the type of a parameter that is flags but has the type of a number. */
void trace_type_find_flags(const char *function, const char *parameter, struct trace_type *type);

/* Looks for "function.parameter" in a list of words. Returns the character before it, which can be a space, or 0. */
char trace_find_parameter(const char *list, const char *function, const char *parameter);

/* A slot as the schema of the file describes it. */
struct trace_slot {
    const char *function;       /* the exported name: "cuStreamDestroy_v2" */
    enum trace_function number; /* of all versions of the function */
    unsigned char states[2];    /* enum cushim_slot_state, of the legacy and of the per-thread table */
    size_t field_count;
    struct trace_slot_field {
        char kind; /* enum trace_field */
        size_t size;
        const char *name;
        struct trace_type value; /* the type; for a dereferenced pointer, the pointee type */
    } fields[TRACE_MAX_FIELDS];
};

/* Reads a line of the schema, "cuStreamDestroy v2|v8 CUstream hStream", which stays in use. Returns false if it is
 * damaged. */
bool trace_slot_parse(char *line, struct trace_slot *slot);

/* A part of a process that could be executed. */
struct trace_module {
    uint64_t start, end, base; /* base: where its file would start */
    uint64_t size, modified;   /* of the file when it was recorded; the time is in nanoseconds */
    char *path;                /* empty: no file */
};

struct trace_process {
    unsigned number;  /* from 1 */
    long pid, parent; /* the parent is 0 if the start of the process was overwritten */
    char command[TRACE_TEXT_MAX + 1];
    bool has_exited;                      /* it called exit(), or returned from main() */
    uint64_t exited;                      /* when, in nanoseconds since the start of the trace */
    unsigned no_python, no_python_number; /* enum trace_no_python, and its number; 0: nothing prevented it */
    bool has_python;                      /* a call had Python frames */
    uint64_t calls;
    struct trace_module *modules;
    size_t module_count;
};

struct trace_python_frame {
    const char *file, *function; /* any bytes but zeros: `function` is a qualified name from Python 3.11 on */
    unsigned line;
};

/* A call. */
struct trace_call {
    unsigned slot, kind;
    size_t process; /* an index */
    long thread;
    bool returned;
    unsigned result;
    uint64_t begin, end;    /* nanoseconds since the start of the trace */
    const uint64_t *fields; /* those of the slot, in order; valid until the next call is read */
    size_t words;
    uint64_t caller;       /* the address to which it returns; 0: unknown */
    const uint64_t *stack; /* a backtrace from the caller on, or NULL; as valid as the fields */
    size_t stack_count;
    const struct trace_python_frame *python; /* the Python frames of its thread, the newest one first. As valid */
    size_t python_count;
    const char *log; /* what the driver says about the failure, in lines, not null-terminated; or NULL. As valid */
    size_t log_length;
    const uint64_t *arguments; /* the words of a TRACE_ARGUMENTS behind its first one; or NULL. As valid */
    size_t argument_words;
};

/* What happens to a range of NVTX. */
struct trace_range_note {
    enum trace_range_event what;
    size_t process;
    long thread;
    uint64_t time, domain, number;
    const char *name; /* of a range that begins; otherwise, it is empty */
};

/* A kernel that a call has returned in an array. */
struct trace_kernel_note {
    unsigned slot; /* of the call */
    size_t process;
    long thread;
    uint64_t time, whole, handle; /* whole: the module or library that it is a part of */
    const char *name;
};

/*
 * The program can still write the file, and what is in a file can be damaged. So nothing is used in place: the reader
 * copies a record before it looks at it, and compares each length that it has copied with what is left.
 */
struct trace_reader {
    struct trace_header *header; /* a copy */
    const char *mapped;
    size_t size;
    uint64_t record[TRACE_CHUNK_SIZE / 8]; /* copies: that of the newest call, and what the driver says about it */
    char log[TRACE_TEXT_MAX];
    uint64_t stack[TRACE_STACK_MAX], python_words[TRACE_PYTHON_WORDS], arguments[TRACE_ARGUMENTS_WORDS];
    struct trace_python_frame python[TRACE_PYTHON_FRAMES];
    struct trace_slot *slots;
    size_t slot_count;
    struct trace_process *processes;
    size_t process_count;
    uint64_t calls, calls_read;   /* in the file, and those that were read */
    uint64_t damaged;             /* the chunks that were read in part, or that the file lacks */
    struct trace_cursor *cursors; /* a heap */
    size_t cursor_count;
    char *schema;
    bool has_failed; /* there was not enough memory for the parts of a process */

    /* Unless it is NULL, trace_read() calls this with what happened to ranges before the call that it reads, and at the
     * end of the trace with what happened after the last call. The note is valid until the function returns. */
    void (*range_read)(void *user, const struct trace_range_note *note);
    void *range_user;

    /* The same for kernels. */
    void (*kernel_read)(void *user, const struct trace_kernel_note *note);
    void *kernel_user;
};

/* Opens a trace, or reads an open file, which it does not close. Returns NULL, or a sentence about what is wrong with
 * it. trace_close() accepts both. */
const char *trace_open(const char *path, struct trace_reader *reader);
const char *trace_open_file(int file, struct trace_reader *reader);
void trace_close(struct trace_reader *reader);

/* Whether the file has all calls of the program; complete after the last call. */
bool trace_is_whole(const struct trace_reader *reader);

/* Reads the next call. Returns false at the end. After the last call, `processes` is complete. */
bool trace_read(struct trace_reader *reader, struct trace_call *call);

/* Goes through the arguments of a launch, from 0 on: writes the size of the next one and returns its bytes, in words;
 * NULL at the end. The size is SIZE_MAX then if there are more. */
const uint64_t *trace_next_kernel_argument(const struct trace_call *call, size_t *at, size_t *out_size);

/* Starts again with the first call. */
bool trace_rewind(struct trace_reader *reader);

/* Returns the part of a process that has an address, or NULL. */
const struct trace_module *trace_module_find(const struct trace_reader *reader, size_t process, uint64_t address);

/* The value of a field: its first word or, of a pointer, that of the value behind it. Returns NULL if there is none. */
const uint64_t *trace_field_value(const struct trace_slot_field *field, const uint64_t *at, bool has_succeeded);

/* The stream within the words of a field that is one, or that is a struct with one; -1: none. */
int trace_field_stream(const struct trace_slot_field *field);

/* The number of words of the field at `at`, or 0 if `room` words are too few for it. */
size_t trace_field_words(const struct trace_slot_field *field, const uint64_t *at, size_t room);

/* The word with an index among the fields of a call, or 0. */
uint64_t trace_word(const struct trace_call *call, int index);

/* Finds the field with that name. Returns NULL if the slot does not have it. */
const uint64_t *trace_find_field(const struct trace_slot *slot, const struct trace_call *call, const char *name);

#endif
