/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* A position in a chunk, at a record. */
struct trace_cursor {
    uint64_t begin; /* of the record */
    uint64_t head;  /* its word 0: its length is read once */
    size_t at, end; /* in the file */
    size_t process;
    long thread;
};

static const char no_memory[] = "there is not enough memory";
static const char is_damaged[] = "the file is damaged";

/* Copies a part of the file. Nothing else reads it. Returns false if the part is not in the file. */
static bool copy(const struct trace_reader *reader, size_t at, void *to, size_t size)
{
    if (at > reader->size || size > reader->size - at)
        return false;
    memcpy(to, reader->mapped + at, size);
    return true;
}

/* Reads a word that a thread writes after what the word is about, which is read later. Returns false if the word is not
 * in the file. */
static bool word_load(const struct trace_reader *reader, size_t at, uint64_t *out_word)
{
    if (at % 8 != 0 || at > reader->size || reader->size - at < 8)
        return false;
    *out_word =
        atomic_load_explicit((const _Atomic uint64_t *)(const void *)(reader->mapped + at), memory_order_acquire);
    return true;
}

/* ---- the schema ---- */

/* Whether a text can stand in JSON and HTML as it is. */
static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text != '\n' && (*text < ' ' || *text > '~' || strchr("\"\\<", *text) != NULL))
            return false;
    }
    return true;
}

static const char *schema_read(struct trace_reader *reader)
{
    const struct trace_header *header = reader->header;
    unsigned char states[2 * TRACE_FIRST_META];
    size_t count = header->slot_count;
    if (count == 0) /* no process has recorded a call */
        return NULL;
    if (count >= TRACE_FIRST_META || header->schema_at < TRACE_HEADER_SIZE + 2 * count
        || header->schema_at > TRACE_CHUNKS_AT || header->schema_size > TRACE_CHUNKS_AT - header->schema_at)
        return is_damaged;
    reader->slots = calloc(count + 1, sizeof *reader->slots);
    reader->schema = calloc(1, header->schema_size + 1);
    if (reader->slots == NULL || reader->schema == NULL)
        return no_memory;
    if (!copy(reader, TRACE_HEADER_SIZE, states, 2 * count)
        || !copy(reader, header->schema_at, reader->schema, header->schema_size))
        return is_damaged;
    char *rest = reader->schema;
    if (!is_plain(rest))
        return is_damaged;
    for (size_t i = 0; i < count; i++, reader->slot_count++) {
        char *line = strsep(&rest, "\n");
        if (line == NULL || !trace_slot_parse(line, &reader->slots[i]))
            return is_damaged;
        reader->slots[i].states[0] = states[i];
        reader->slots[i].states[1] = states[count + i];
    }
    return NULL;
}

/* ---- processes ---- */

static size_t process_find(struct trace_reader *reader, unsigned number)
{
    for (size_t i = reader->process_count; i-- > 0;) {
        if (reader->processes[i].number == number)
            return i;
    }
    struct trace_process *grown = realloc(reader->processes, (reader->process_count + 1) * sizeof *grown);
    if (grown == NULL)
        return SIZE_MAX;
    reader->processes = grown;
    memset(&grown[reader->process_count], 0, sizeof *grown);
    grown[reader->process_count].number = number;
    return reader->process_count++;
}

static void processes_free(struct trace_reader *reader)
{
    for (size_t i = 0; i < reader->process_count; i++) {
        for (size_t k = 0; k < reader->processes[i].module_count; k++)
            free(reader->processes[i].modules[k].path);
        free(reader->processes[i].modules);
    }
    free(reader->processes);
    reader->processes = NULL;
    reader->process_count = 0;
}

/* Each chunk has the parts of the process that it needs. A new one can have the addresses of one that was unloaded.
 * Without memory, addresses have no names, and `has_failed` is set. */
static void module_add(struct trace_reader *reader, struct trace_process *process, const uint64_t *words, size_t count)
{
    const uint64_t *text = words + TRACE_MODULE_WORDS;
    if (count < TRACE_MODULE_WORDS + 1 || text[0] > TRACE_TEXT_MAX
        || TRACE_WORDS_OF(text[0]) > count - TRACE_MODULE_WORDS - 1)
        return;
    struct trace_module module = {words[0], words[1], words[2],
                                  words[3], words[4], strndup((const char *)&text[1], text[0])};
    bool is_known = module.path == NULL;
    reader->has_failed |= module.path == NULL;
    for (size_t i = process->module_count; !is_known && i-- > 0;) {
        const struct trace_module *other = &process->modules[i];
        is_known = other->start == module.start && other->end == module.end && strcmp(other->path, module.path) == 0;
    }
    struct trace_module *grown =
        is_known ? NULL : realloc(process->modules, (process->module_count + 1) * sizeof *grown);
    reader->has_failed |= grown == NULL && !is_known;
    if (grown == NULL) {
        free(module.path);
        return;
    }
    process->modules = grown;
    grown[process->module_count++] = module; /* analyzer: trace_reader_close() frees the paths */
}

const struct trace_module *trace_module_find(const struct trace_reader *reader, size_t process, uint64_t address)
{
    for (size_t i = reader->processes[process].module_count; i-- > 0;) {
        const struct trace_module *module = &reader->processes[process].modules[i];
        if (address >= module->start && address < module->end)
            return module;
    }
    return NULL;
}

/* ---- the heap of cursors, the earliest record first ---- */

static void heap_sift(struct trace_reader *reader, size_t at)
{
    struct trace_cursor *heap = reader->cursors, moved = heap[at];
    for (size_t child; (child = 2 * at + 1) < reader->cursor_count; at = child) {
        if (child + 1 < reader->cursor_count && heap[child + 1].begin < heap[child].begin)
            child++;
        if (heap[child].begin >= moved.begin)
            break;
        heap[at] = heap[child];
    }
    heap[at] = moved;
}

/* In bytes. */
static size_t record_size(const struct trace_cursor *cursor)
{
    return 8 * (size_t)(cursor->head >> TRACE_WORDS_SHIFT & 0xffff);
}

/* Reads the head of the record at an offset. Returns false if no whole record is there. */
static bool cursor_load(const struct trace_reader *reader, struct trace_cursor *cursor, size_t at)
{
    cursor->at = at;
    size_t head = 8 * TRACE_HEAD;
    return cursor->end - at >= head && word_load(reader, at, &cursor->head) && copy(reader, at + 8, &cursor->begin, 8)
           && record_size(cursor) >= head && record_size(cursor) <= cursor->end - at;
}

/* Moves the first cursor to its next record. */
static void cursor_advance(struct trace_reader *reader)
{
    struct trace_cursor *cursor = &reader->cursors[0];
    size_t next = cursor->at + record_size(cursor);
    if (next == cursor->end || !cursor_load(reader, cursor, next)) {
        reader->damaged += next != cursor->end;
        *cursor = reader->cursors[--reader->cursor_count];
    }
    if (reader->cursor_count > 0)
        heap_sift(reader, 0);
}

static const char *cursor_add(struct trace_reader *reader, size_t at)
{
    struct trace_chunk chunk;
    uint64_t used;
    if (!word_load(reader, at + offsetof(struct trace_chunk, used), &used) || !copy(reader, at, &chunk, sizeof chunk)
        || chunk.sequence == 0 || used == sizeof chunk)
        return NULL;
    struct trace_cursor cursor = {.end = at + used, .process = process_find(reader, chunk.process)};
    if (cursor.process == SIZE_MAX)
        return no_memory;
    reader->processes[cursor.process].pid = chunk.pid;
    reader->calls += chunk.calls;
    if (used < sizeof chunk || used > TRACE_CHUNK_SIZE || used % 8 != 0
        || !cursor_load(reader, &cursor, at + sizeof chunk)) {
        reader->damaged++;
        return NULL;
    }
    reader->cursors[reader->cursor_count++] = cursor;
    return NULL;
}

static const char *cursors_make(struct trace_reader *reader)
{
    size_t present = (reader->size - TRACE_CHUNKS_AT) / TRACE_CHUNK_SIZE;
    /* Not beyond what was taken: to read a hole can need room on the disk, too. */
    uint64_t taken = reader->header->taken & (TRACE_FULL - 1), most = reader->header->chunk_count;
    uint64_t expected = taken < most ? taken : most;
    size_t count = present < expected ? present : (size_t)expected;
    free(reader->cursors);
    processes_free(reader);
    reader->cursor_count = reader->calls = reader->calls_read = 0;
    reader->damaged = expected - count;
    reader->cursors = malloc((count + 1) * sizeof *reader->cursors);
    if (reader->cursors == NULL)
        return no_memory;
    for (size_t i = 0; i < count; i++) {
        const char *why = cursor_add(reader, TRACE_CHUNKS_AT + i * TRACE_CHUNK_SIZE);
        if (why != NULL)
            return why;
    }
    for (size_t i = reader->cursor_count / 2; i-- > 0;)
        heap_sift(reader, i);
    return NULL;
}

bool trace_rewind(struct trace_reader *reader)
{
    return cursors_make(reader) == NULL;
}

/* ---- the file ---- */

static const char *map_file(int file, struct trace_reader *reader)
{
    struct stat status;
    if (fstat(file, &status) != 0)
        return strerror(errno);
    if (!S_ISREG(status.st_mode) || status.st_size < TRACE_CHUNKS_AT)
        return "this file is not a trace";
    reader->size = (size_t)status.st_size;
    void *mapped = mmap(NULL, reader->size, PROT_READ, MAP_SHARED, file, 0);
    if (mapped == MAP_FAILED)
        return strerror(errno);
    reader->mapped = mapped;
    reader->header = calloc(1, sizeof *reader->header);
    if (reader->header == NULL)
        return no_memory;
    (void)copy(reader, 0, reader->header, sizeof *reader->header);
    reader->header->command[TRACE_COMMAND_SIZE - 1] = '\0';
    if (reader->header->magic != TRACE_MAGIC)
        return "this file is not a trace";
    if (reader->header->version > TRACE_VERSION)
        return "a newer version of cushim wrote this trace";
    if (reader->header->version < TRACE_VERSION)
        return "a version of cushim that was never released wrote this trace: record it again";
    return NULL;
}

const char *trace_open_file(int file, struct trace_reader *reader)
{
    memset(reader, 0, sizeof *reader);
    const char *why = map_file(file, reader);
    if (why == NULL)
        why = schema_read(reader);
    return why != NULL ? why : cursors_make(reader);
}

const char *trace_open(const char *path, struct trace_reader *reader)
{
    memset(reader, 0, sizeof *reader);
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0)
        return strerror(errno);
    const char *why = trace_open_file(file, reader);
    close(file);
    return why;
}

void trace_close(struct trace_reader *reader)
{
    if (reader->mapped != NULL)
        munmap((void *)(uintptr_t)reader->mapped, reader->size);
    free(reader->header);
    free(reader->slots);
    free(reader->schema);
    free(reader->cursors);
    processes_free(reader);
}

bool trace_is_whole(const struct trace_reader *reader)
{
    const struct trace_header *header = reader->header;
    return header->overwritten == 0 && header->dropped == 0 && header->interrupting == 0 && reader->damaged == 0;
}

/* ---- records ---- */

static uint64_t time_of(const struct trace_reader *reader, uint64_t clock)
{
    return clock > reader->header->clock ? clock - reader->header->clock : 0;
}

/* Reads a text of which a word is the length. Returns false if it is damaged. */
static bool name_read(const uint64_t *words, size_t count, size_t at, char name[TRACE_TEXT_MAX + 1])
{
    if (count <= at || words[at] > TRACE_TEXT_MAX || TRACE_WORDS_OF(words[at]) > count - at - 1)
        return false;
    memcpy(name, &words[at + 1], words[at]);
    name[words[at]] = '\0';
    return true;
}

static void kernel_read(struct trace_reader *reader, const struct trace_cursor *cursor, const uint64_t *words,
                        size_t count)
{
    char name[TRACE_TEXT_MAX + 1];
    if (reader->kernel_read == NULL || !name_read(words, count, TRACE_KERNEL_WORDS - 1, name)
        || words[0] >= reader->slot_count)
        return;
    const struct trace_kernel_note note = {
        (unsigned)words[0], cursor->process, cursor->thread, time_of(reader, cursor->begin), words[1], words[2], name};
    reader->kernel_read(reader->kernel_user, &note);
}

static void range_read(struct trace_reader *reader, const struct trace_cursor *cursor, const uint64_t *words,
                       size_t count)
{
    char name[TRACE_TEXT_MAX + 1];
    if (reader->range_read == NULL || !name_read(words, count, TRACE_RANGE_WORDS - 1, name)
        || words[0] < TRACE_RANGE_PUSH || words[0] > TRACE_RANGE_MARK)
        return;
    const struct trace_range_note note = {
        .what = (enum trace_range_event)words[0],
        .process = cursor->process,
        .thread = cursor->thread,
        .time = time_of(reader, cursor->begin),
        .domain = words[1],
        .number = words[2],
        .name = name,
    };
    reader->range_read(reader->range_user, &note);
}

/* Takes note of a record that is not a call. */
static void meta_read(struct trace_reader *reader, struct trace_cursor *cursor, const uint64_t *words, size_t count)
{
    struct trace_process *process = &reader->processes[cursor->process];
    switch (cursor->head & 0xfff) {
    case TRACE_THREAD:
        cursor->thread = count >= 1 ? (long)words[0] : 0;
        break;
    case TRACE_PROCESS:
        if (count < 4 || words[3] > TRACE_TEXT_MAX || 4 + TRACE_WORDS_OF(words[3]) > count)
            break;
        process->parent = (long)words[1];
        memcpy(process->command, words + 4, words[3]);
        process->command[words[3]] = '\0';
        break;
    case TRACE_MODULE:
        module_add(reader, process, words, count);
        break;
    case TRACE_EXIT:
        process->has_exited = true;
        process->exited = time_of(reader, cursor->begin);
        break;
    case TRACE_RANGE:
        range_read(reader, cursor, words, count);
        break;
    case TRACE_NO_PYTHON:
        process->no_python = count >= 2 ? (unsigned)words[0] : 0;
        process->no_python_number = count >= 2 ? (unsigned)words[1] : 0;
        break;
    case TRACE_KERNEL:
        kernel_read(reader, cursor, words, count);
        break;
    default: /* of a newer cushim */
        break;
    }
}

/* Each frame is a word, and two texts with zeros at their ends. What is behind a damaged one is left out. */
static void python_use(struct trace_reader *reader, struct trace_call *call, const uint64_t *words, size_t count)
{
    uint64_t *copied = reader->python_words;
    reader->processes[call->process].has_python = true;
    memcpy(copied, words, count * sizeof *words);
    for (size_t at = 0, next; at < count && call->python_count < TRACE_PYTHON_FRAMES; at = next) {
        const char *file = (const char *)&copied[at + 1], *function;
        size_t size = (size_t)(copied[at] >> 32);
        next = at + 1 + TRACE_WORDS_OF(size);
        if (size == 0 || next > count || file[size - 1] != '\0' || (function = memchr(file, '\0', size - 1)) == NULL)
            return;
        reader->python[call->python_count++] =
            (struct trace_python_frame){file, function + 1, (unsigned)(copied[at] & UINT32_MAX)};
        call->python = reader->python;
    }
}

/* What the driver says about a call, a backtrace of it, or its Python frames. */
static void meta_use(struct trace_reader *reader, struct trace_call *call, unsigned meta, const uint64_t *words,
                     size_t count)
{
    if (meta == TRACE_LOG && count >= 2 && words[1] <= TRACE_TEXT_MAX && 2 + TRACE_WORDS_OF(words[1]) <= count) {
        memcpy(reader->log, words + 2, words[1]);
        call->log = reader->log;
        call->log_length = words[1];
    } else if (meta == TRACE_STACK && count > 1 && count - 1 <= TRACE_STACK_MAX) {
        memcpy(reader->stack, words + 1, (count - 1) * sizeof *words);
        call->stack = reader->stack;
        call->stack_count = count - 1;
    } else if (meta == TRACE_ARGUMENTS && count > 1) {
        memcpy(reader->arguments, words + 1, (count - 1) * sizeof *words);
        call->arguments = reader->arguments;
        call->argument_words = count - 1;
    } else if (meta == TRACE_PYTHON) {
        python_use(reader, call, words + 1, count - 1);
    }
}

/* Finds what is known of a call: behind its record and, if it has failed, behind those of calls within this call. */
static void meta_find(struct trace_reader *reader, const struct trace_cursor *start, struct trace_call *call)
{
    struct trace_cursor cursor = *start;
    uint64_t begin = reader->record[1], end = reader->record[2];
    bool has_failed = call->returned && call->result != 0;
    while (cursor.at + record_size(&cursor) < cursor.end
           && cursor_load(reader, &cursor, cursor.at + record_size(&cursor))) {
        uint64_t words[TRACE_META_WORDS];
        unsigned slot = cursor.head & 0xfff;
        if (slot < reader->slot_count && (!has_failed || cursor.begin >= end))
            break;
        size_t count = record_size(&cursor) / 8 - TRACE_HEAD;
        if (slot < reader->slot_count || count == 0 || record_size(&cursor) > sizeof words
            || !copy(reader, cursor.at, words, record_size(&cursor)))
            continue;
        if (slot == TRACE_MODULE) /* which the backtrace needs */
            module_add(reader, &reader->processes[cursor.process], words + TRACE_HEAD, count);
        else if (words[TRACE_HEAD] == begin)
            meta_use(reader, call, slot, words + TRACE_HEAD, count);
    }
}

bool trace_read(struct trace_reader *reader, struct trace_call *call)
{
    for (; reader->cursor_count > 0; cursor_advance(reader)) {
        struct trace_cursor *cursor = &reader->cursors[0];
        const uint64_t *record = reader->record;
        size_t words = record_size(cursor) / 8 - TRACE_HEAD;
        unsigned slot = cursor->head & 0xfff;
        if (!copy(reader, cursor->at, reader->record, record_size(cursor)))
            continue;
        if (slot >= reader->slot_count) {
            meta_read(reader, cursor, record + TRACE_HEAD, words);
            continue;
        }
        *call = (struct trace_call){
            .slot = slot,
            .kind = cursor->head >> TRACE_KIND_SHIFT & 1,
            .process = cursor->process,
            .thread = cursor->thread,
            .returned = cursor->head >> TRACE_RETURNED_SHIFT & 1,
            .result = cursor->head >> TRACE_RESULT_SHIFT & 0xffff,
            .begin = time_of(reader, cursor->begin),
            .fields = record + TRACE_HEAD,
            .words = words,
            .caller = record[3],
        };
        uint64_t end = time_of(reader, record[2]);
        call->end = call->returned && end > call->begin ? end : call->begin;
        meta_find(reader, cursor, call);
        reader->processes[cursor->process].calls++;
        reader->calls_read++;
        cursor_advance(reader);
        return true;
    }
    return false;
}
