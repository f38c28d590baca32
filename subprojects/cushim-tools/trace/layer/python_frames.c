/* SPDX-License-Identifier: MIT */
/*
 * The Python frames of the calling thread, read in place: no lock, no allocation, and no call that needs the
 * interpreter's lock. The frames of a thread change only while it runs Python, so they stay while it makes a call of C,
 * with the lock or without it. Each pointer is followed only to an object of the type that is expected there.
 */
#include "python_frames.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/uio.h>

#include "../file/format.h"
#include "python_offsets.h"

enum {
    MAX_DEPTH = 64,                  /* frames that are looked at */
    BATCH = TRACE_PYTHON_FRAMES + 1, /* of them at a time: so the first one shows whether there are too many */
    MAX_NAME = 200,                  /* characters */
    MAX_TABLE = 1 << 20,
    PART = 4096 /* the smallest page */
};

struct frame {
    uintptr_t code, instruction;
    int thread_code;
};

static struct python python;
static atomic_bool is_found;
static atomic_uint problem; /* enum trace_no_python, and above 8 bits its number */

static void problem_set(enum trace_no_python why, int number)
{
    atomic_store(&problem, (unsigned)why | (unsigned)number << 8);
}

unsigned python_problem(uint64_t *out_number)
{
    unsigned value = atomic_load(&problem);
    *out_number = value >> 8;
    return value & 0xff;
}

/* Copies memory that can be gone, or never have been any: in a signal handler, the newest frame can be half made; while
 * the interpreter ends, the frames of its other threads go. Returns how much was copied. */
static size_t copy(pid_t self, void *to, size_t size, const struct iovec *parts, size_t count)
{
    struct iovec ours = {to, size};
    ssize_t copied = process_vm_readv(self, &ours, 1, parts, count, 0);
    if (copied < 0 && (errno == EPERM || errno == EACCES || errno == ENOSYS))
        problem_set(TRACE_PYTHON_REFUSED, errno);
    return copied > 0 ? (size_t)copied : 0;
}

void python_prepare(void)
{
    int unknown, error = errno;
    if (python_find(&python, &unknown))
        atomic_store(&is_found, true);
    else if (unknown >= 0)
        problem_set(TRACE_PYTHON_UNKNOWN, unknown);
    errno = error;
}

static uintptr_t word(const char *object, int at)
{
    uintptr_t value;
    memcpy(&value, object + at, sizeof value);
    return value;
}

static int number(const char *object, int at)
{
    int value;
    memcpy(&value, object + at, sizeof value);
    return value;
}

static bool is_of_type(const char *object, const void *type)
{
    return object != NULL && word(object, python.at.type) == (uintptr_t)type;
}

/* ---- frames ---- */

/* From a frame to the one that called it, with a copy of the memory that has both. */
struct walk {
    pid_t self;
    uintptr_t at, start, end; /* the next frame, or 0; what is copied */
    char copied[PART + PYTHON_FRAME_MAX];
};

/* Starts with the newest frame of this thread, if it has one. */
static void walk_start(struct walk *walk, pid_t self)
{
    const char *thread = python.attached != NULL ? python.attached() : NULL;
    walk->self = self;
    walk->at = walk->start = walk->end = 0;
    if (thread == NULL && (thread = python.of_thread()) == NULL)
        return;
    uintptr_t frame = word(thread, python.at.thread_frame);
    const struct iovec part = {(void *)(frame + (uintptr_t)python.at.cframe), sizeof frame};
    if (python.at.cframe < 0 || copy(walk->self, &frame, sizeof frame, &part, 1) == sizeof frame)
        walk->at = frame;
}

/* Copies the next frame. From 3.11 on, the frames of a thread lie one behind the other: so what is before a frame is
 * copied with it. Returns the copy, or NULL. */
static const char *walk_next(struct walk *walk)
{
    uintptr_t at = walk->at;
    if (at != 0 && (at < walk->start || at + python.frame_size > walk->end)) {
        walk->start = python.at.owner < 0 ? at : at & ~(uintptr_t)(PART - 1);
        walk->end = at + python.frame_size;
        const struct iovec part = {(void *)walk->start, walk->end - walk->start};
        if (copy(walk->self, walk->copied, sizeof walk->copied, &part, 1) != walk->end - walk->start)
            at = 0;
    }
    const char *frame = at != 0 ? walk->copied + (at - walk->start) : NULL;
    walk->at = frame != NULL ? word(frame, python.at.back) : 0;
    return frame;
}

/* Reads the next frames that have code, at most so many. Returns their number. */
static size_t frames_read(struct walk *walk, struct frame *frames, size_t most)
{
    enum { FIRST_WITHOUT_CODE = 3 /* from this owner on, a frame is between C and Python */ };
    const char *frame = NULL;
    size_t count = 0;
    for (size_t steps = 0; count < most && steps < 2 * MAX_DEPTH && (frame = walk_next(walk)) != NULL; steps++) {
        if (python.at.owner >= 0 && frame[python.at.owner] >= FIRST_WITHOUT_CODE)
            continue;
        frames[count].code = word(frame, python.at.code) & ~(uintptr_t)7; /* it can have a tag */
        frames[count].instruction =
            python.at.owner < 0 ? (uintptr_t)number(frame, python.at.instruction) : word(frame, python.at.instruction);
        frames[count++].thread_code = python.at.thread_code != 0 ? number(frame, python.at.thread_code) : 0;
    }
    return count;
}

/* How many frames have a code object, up to the first one that does not. */
static size_t frames_check(pid_t self, const struct frame *frames, size_t count)
{
    struct iovec parts[BATCH];
    uintptr_t types[BATCH];
    size_t good = 0;
    for (size_t i = 0; i < count; i++)
        parts[i] = (struct iovec){(void *)(frames[i].code + (uintptr_t)python.at.type), sizeof types[i]};
    size_t copied = count > 0 ? copy(self, types, count * sizeof types[0], parts, count) / sizeof types[0] : 0;
    while (good < copied && types[good] == (uintptr_t)python.code_type)
        good++;
    return good;
}

/* ---- lines ---- */

/* The line of an instruction, by the table of 3.11 and later (Objects/locations.md); 0: none. */
static int line_of(const char *code, long address)
{
    const char *table = (const char *)word(code, python.at.lines);
    size_t size = is_of_type(table, python.bytes_type) ? (size_t)word(table, python.at.bytes_size) : 0, i = 0;
    const unsigned char *at = (const unsigned char *)table + python.at.bytes;
    long line = number(code, python.at.first), end = 0;
    while (i < size && size < MAX_TABLE) {
        unsigned kind = at[i] >> 3 & 15;
        unsigned long value = 0;
        end += 2 * ((at[i++] & 7) + 1);
        if (kind == 13 || kind == 14) { /* a signed number */
            for (unsigned shift = 0; i < size; shift += 6) {
                value |= (unsigned long)(at[i] & 63) << (shift & 63);
                if ((at[i++] & 64) == 0)
                    break;
            }
            line += (value & 1) != 0 ? -(long)(value >> 1) : (long)(value >> 1);
        } else if (kind >= 10 && kind <= 12) {
            line += (long)kind - 10;
        }
        if (address < end)
            return kind == 15 ? 0 : (int)line;
        while (i < size && (at[i] & 128) == 0)
            i++;
    }
    return 0;
}

static int frame_line(const struct frame *frame)
{
    const struct python_offsets *at = &python.at;
    const char *code = (const char *)frame->code, *bytecode = code + at->bytecode;
    if (at->owner < 0)
        return python.line((void *)frame->code, (at->minor == 10 ? 2 : 1) * (int)frame->instruction);
    if (at->thread_codes != 0) {
        const char *codes = (const char *)word(code, at->thread_codes);
        if (codes != NULL && frame->thread_code >= 0 && (uintptr_t)frame->thread_code < word(codes, 0))
            bytecode = (const char *)word(codes, 8 + 8 * frame->thread_code);
    }
    long address = (long)(frame->instruction - (uintptr_t)bytecode);
    int line = address >= 0 ? line_of(code, address) : 0;
    return line != 0 ? line : number(code, at->first);
}

/* ---- names ---- */

/* Appends a character as UTF-8; a byte that Python could not decode in a path as that byte. Returns its size. */
static size_t character_write(char *text, size_t room, uint32_t c)
{
    bool is_byte = c >= 0xdc80 && c <= 0xdcff;
    c = c == 0 ? '?' : c; /* a zero is the end */
    int size = c < 0x80 || is_byte ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    if ((size_t)size > room)
        return 0;
    for (int i = size - 1; i > 0; i--, c >>= 6)
        text[i] = (char)(0x80 | (c & 0x3f));
    text[0] = (char)(size == 1 ? c & 0xff : (0xf00U >> size & 0xff) | c);
    return (size_t)size;
}

/* Writes a string and a zero: a long one without its beginning, which of a path matters least. Returns the size. */
static size_t string_write(char *text, size_t room, uintptr_t address)
{
    const char *string = (const char *)address;
    unsigned bits =
        is_of_type(string, python.string_type) ? (unsigned)number(string, python.at.state) >> python.at.kind_bit : 0;
    size_t used = 0, size = 1, kind = bits & 7;
    bool is_compact = (bits & 8) != 0, is_ascii = (bits & 16) != 0;
    size_t length = is_compact && (kind == 1 || kind == 2 || kind == 4) ? (size_t)word(string, python.at.length) : 0;
    size_t first = length > MAX_NAME ? length - MAX_NAME : 0;
    const void *data = string + (is_ascii ? python.at.ascii : python.at.compact);
    if (is_ascii && memchr((const char *)data + first, '\0', length - first) == NULL) {
        used = length - first < room - 1 ? length - first : room - 1;
        memcpy(text, (const char *)data + first, used);
        first = length;
    }
    for (size_t i = first; i < length && size > 0; i++, used += size) {
        uint32_t c = kind == 1   ? ((const uint8_t *)data)[i]
                     : kind == 2 ? ((const uint16_t *)data)[i]
                                 : ((const uint32_t *)data)[i];
        size = character_write(text + used, room - 1 - used, c);
    }
    text[used] = '\0';
    return used + 1;
}

/* Returns the number of words, or 0 if there is no room. */
static size_t frame_write(const struct frame *frame, uint64_t *words, size_t room)
{
    enum { LEAST = 16 /* words, of which a name can need all */ };
    const char *code = (const char *)frame->code; /* analyzer: only frames that were read are written */
    char *text = (char *)&words[1];
    size_t bytes = 8 * (room - 1);
    if (room < LEAST)
        return 0;
    size_t used = string_write(text, bytes - 1, word(code, python.at.file));
    used += string_write(text + used, bytes - used, word(code, python.at.name));
    words[0] = (uint32_t)frame_line(frame) | (uint64_t)used << 32;
    memset(text + used, 0, 8 * TRACE_WORDS_OF(used) - used);
    return 1 + TRACE_WORDS_OF(used);
}

/* The name of a file, as Python has it, and whether it is one of the standard library, or of an installed package. */
struct source {
    uintptr_t name;
    bool is_of_package;
};

/* Frames that follow each other are often of one file. */
static bool is_of_package(struct source *before, const struct frame *frame, const char *path)
{
    static const char *const parts[] = {"/site-packages/", "/dist-packages/", "/lib/python3.", "<frozen "};
    uintptr_t name = word((const char *)frame->code, python.at.file);
    if (name != before->name) {
        *before = (struct source){name, false};
        for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
            before->is_of_package |= strstr(path, parts[i]) != NULL;
    }
    return before->is_of_package;
}

size_t python_frames(pid_t self, uint64_t *words, size_t room)
{
    struct walk walk;
    struct frame frames[BATCH];
    uint64_t why;
    struct source source = {0, false};
    size_t used = 0, written = 0, good = BATCH, size = 1;
    bool has_more = false;
    if (!atomic_load(&is_found) || python_problem(&why) != 0 || !python.is_initialized())
        return 0;
    walk_start(&walk, self);
    for (size_t depth = 0; good == BATCH && depth < MAX_DEPTH; depth += BATCH) {
        size_t most = MAX_DEPTH - depth < BATCH ? MAX_DEPTH - depth : BATCH;
        good = frames_check(self, frames, frames_read(&walk, frames, most));
        has_more |= good > TRACE_PYTHON_FRAMES;
        for (size_t i = 0; i < good; i++) {
            if (written == TRACE_PYTHON_FRAMES || (size = frame_write(&frames[i], words + used, room - used)) == 0)
                return used;
            if (has_more && written >= TRACE_PYTHON_FRAMES / 2
                && is_of_package(&source, &frames[i], (const char *)&words[used + 1]))
                continue;
            used += size;
            written++;
        }
    }
    return used;
}
