/* SPDX-License-Identifier: MIT */
/*
 * Traces of any content: the reader reports an error, or returns calls whose arguments are inside their chunk. The
 * input is the schema up to a zero; then changes of the header, each an offset and a byte, up to the offset 255; then
 * the chunks, each a number of used bytes and these bytes.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* memfd_create */
#endif
#include "fuzz.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../subprojects/cushim-tools/trace/file/reader.h"

enum { CHUNKS = 3 };

static int file = -1;
static char path[64];

/* Like a file that was cut behind its last chunk. */
static void file_write(struct fuzz_bytes *bytes)
{
    static char schema[4096];
    size_t length = 0;
    struct trace_header header = {
        .magic = TRACE_MAGIC, .version = TRACE_VERSION, .schema_at = TRACE_HEADER_SIZE + 2 * 64, .keeps_newest = 1};
    for (unsigned byte; (byte = fuzz_byte(bytes)) != 0; header.slot_count += byte == '\n')
        schema[length++] = (char)byte;
    header.schema_size = (uint32_t)length;
    header.chunk_count = header.taken = CHUNKS;
    for (unsigned at; bytes->next != bytes->end && (at = fuzz_byte(bytes)) != 0xff;)
        ((unsigned char *)&header)[at] = (unsigned char)fuzz_byte(bytes);
    HOLDS(ftruncate(file, 0) == 0 && ftruncate(file, TRACE_CHUNKS_AT + CHUNKS * TRACE_CHUNK_SIZE) == 0);
    HOLDS(pwrite(file, &header, sizeof header, 0) == sizeof header);
    HOLDS(pwrite(file, schema, length, TRACE_HEADER_SIZE + 2 * 64) == (ssize_t)length);
    for (uint32_t i = 0; i < CHUNKS && bytes->next != bytes->end; i++) {
        struct trace_chunk chunk = {.sequence = i + 1, .process = i % 2 + 1, .pid = 1000};
        chunk.used = fuzz_byte(bytes);
        chunk.used |= (uint64_t)fuzz_byte(bytes) << 8;
        size_t room = (size_t)(bytes->end - bytes->next);
        size_t size = chunk.used > sizeof chunk ? (size_t)chunk.used - sizeof chunk : 0;
        off_t offset = (off_t)(TRACE_CHUNKS_AT + i * TRACE_CHUNK_SIZE);
        size = size < room ? size : room;
        HOLDS(pwrite(file, &chunk, sizeof chunk, offset) == sizeof chunk);
        HOLDS(pwrite(file, bytes->next, size, offset + (off_t)sizeof chunk) == (ssize_t)size);
        bytes->next += size;
    }
}

/* Reads everything that a report can read of a call. Returns a sum, so that nothing is left out. */
static uint64_t call_read(const struct trace_reader *reader, const struct trace_call *call)
{
    HOLDS(call->fields >= reader->record && call->fields + call->words <= reader->record + TRACE_CHUNK_SIZE / 8);
    HOLDS(call->slot < reader->slot_count && call->process < reader->process_count && call->end >= call->begin);
    const struct trace_slot *slot = &reader->slots[call->slot];
    const uint64_t *at = call->fields, *end = at + call->words;
    uint64_t sum = strlen(slot->function) + slot->states[call->kind];
    for (size_t i = 0, words; i < slot->field_count; i++, at += words) {
        const struct trace_slot_field *field = &slot->fields[i];
        words = trace_field_words(field, at, (size_t)(end - at));
        HOLDS(words <= (size_t)(end - at));
        if (words == 0)
            break;
        const uint64_t *value = trace_field_value(field, at, call->returned && call->result == 0);
        HOLDS(value == NULL || (value >= at && value + TRACE_WORDS_OF(field->size) <= at + words));
        HOLDS(field->kind != TRACE_TEXT || 2 + TRACE_WORDS_OF(at[1]) <= words);
        sum += at[words - 1] + field->value.number + (trace_find_field(slot, call, field->name) != NULL);
    }
    const struct trace_module *module = trace_module_find(reader, call->process, call->caller);
    HOLDS(module == NULL || (call->caller >= module->start && call->caller < module->end));
    sum += module != NULL ? strlen(module->path) : 0;
    HOLDS(call->stack_count <= TRACE_STACK_MAX);
    for (size_t i = 0; i < call->stack_count; i++)
        sum += call->stack[i];
    HOLDS(call->python_count <= TRACE_PYTHON_FRAMES);
    for (size_t i = 0; i < call->python_count; i++)
        sum += strlen(call->python[i].file) + strlen(call->python[i].function) + call->python[i].line;
    for (size_t i = 0; i < call->log_length; i++)
        sum += (unsigned char)call->log[i];
    return sum;
}

static void range_read(void *sum, const struct trace_range_note *note)
{
    HOLDS(note->what >= TRACE_RANGE_PUSH && note->what <= TRACE_RANGE_MARK);
    HOLDS(strlen(note->name) <= TRACE_TEXT_MAX);
    *(uint64_t *)sum += note->process + note->time + note->number;
}

static uint64_t calls_read(struct trace_reader *reader, uint64_t *out_sum)
{
    struct trace_call call;
    uint64_t count = 0, of_processes = 0;
    reader->range_read = range_read;
    reader->range_user = out_sum;
    for (*out_sum = 0; trace_read(reader, &call); count++)
        *out_sum += call_read(reader, &call);
    for (size_t i = 0; i < reader->process_count; i++) {
        of_processes += reader->processes[i].calls;
        HOLDS(memchr(reader->processes[i].command, '\0', sizeof reader->processes[i].command) != NULL);
    }
    HOLDS(of_processes == count);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    struct trace_reader reader;
    if (file < 0) {
        file = memfd_create("trace", MFD_CLOEXEC);
        snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    }
    HOLDS(file >= 0);
    file_write(&bytes);
    const char *why = trace_open(path, &reader);
    if (why == NULL) {
        uint64_t sum, again, count = calls_read(&reader, &sum);
        HOLDS(trace_rewind(&reader) && calls_read(&reader, &again) == count && again == sum);
    }
    HOLDS(why == NULL || why[0] != '\0');
    trace_close(&reader);
    return 0;
}
