/* SPDX-License-Identifier: MIT */
/*
 * Reports of calls in any order, with any arguments, names and results: each format is written to its end, is valid,
 * and uses only memory that it has. The input is a byte for the options, and then the calls and metadata records: a
 * function, a result, a thread, and a byte for each argument. When an allocation fails, a report that says that it is
 * complete is, and none leaves memory in use.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* memfd_create */
#endif
#include "fuzz.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../subprojects/cushim-testing/allocation.h"
#include "cushim/slot.h"
#include "formats.h"
#include "../../subprojects/cushim-tools/trace/file/reader.h"
#include "../../subprojects/cushim-tools/trace/layer/schema.h"
#include "../../subprojects/cushim-tools/trace/model/demangle.h"
#include "../../subprojects/cushim-tools/trace/model/places.h"
#include "../../subprojects/cushim-tools/trace/output/report.h"

enum { CHUNKS = 3, STATES = 2 * CUSHIM_SLOT_COUNT };

static int file = -1, output = -1; /* output: what was written to stdout */
static struct trace_reader reader; /* of the file, whose calls change */

/* What findings are about. Other functions are used less often. */
static const char *const functions[] = {
    "cuInit",
    "cuCtxCreate_v2",
    "cuCtxDestroy_v2",
    "cuCtxSetCurrent",
    "cuCtxPopCurrent_v2",
    "cuCtxSynchronize",
    "cuDevicePrimaryCtxRetain",
    "cuDevicePrimaryCtxRelease_v2",
    "cuStreamCreate",
    "cuStreamDestroy_v2",
    "cuStreamBeginCapture_v2",
    "cuStreamEndCapture",
    "cuStreamIsCapturing",
    "cuStreamWaitEvent",
    "cuStreamSynchronize",
    "cuThreadExchangeStreamCaptureMode",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventElapsedTime",
    "cuMemAlloc_v2",
    "cuMemFree_v2",
    "cuMemcpyHtoD_v2",
    "cuMemcpy2D_v2",
    "cuMemsetD8Async",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuModuleGetFunction",
    "cuLibraryLoadData",
    "cuLibraryUnload",
    "cuLibraryGetKernel",
    "cuLaunchKernel",
    "cuLaunchKernelEx",
    "cuGraphAddKernelNode_v2",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphDestroy",
    "cuFuncSetAttribute",
    "cuDeviceGetAttribute",
    "cuGetProcAddress_v2",
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
static unsigned slots[FUNCTIONS];

struct output {
    uint64_t words[TRACE_CHUNK_SIZE / 8];
    size_t count;
};

static void header_write(void)
{
    static char schema[TRACE_CHUNKS_AT];
    struct trace_header header = {.magic = TRACE_MAGIC, .version = TRACE_VERSION, .slot_count = CUSHIM_SLOT_COUNT};
    header.schema_at = TRACE_HEADER_SIZE + STATES;
    header.schema_size = (uint32_t)schema_write(schema, sizeof schema);
    header.chunk_count = header.taken = CHUNKS;
    strcpy(header.command, "fuzz");
    HOLDS(ftruncate(file, TRACE_CHUNKS_AT + CHUNKS * TRACE_CHUNK_SIZE) == 0);
    HOLDS(pwrite(file, &header, sizeof header, 0) == sizeof header);
    HOLDS(pwrite(file, schema, header.schema_size, header.schema_at) == (ssize_t)header.schema_size);
}

static void start(void)
{
    file = memfd_create("report", MFD_CLOEXEC);
    output = memfd_create("output", MFD_CLOEXEC);
    HOLDS(file >= 0 && output >= 0 && dup2(output, STDOUT_FILENO) == STDOUT_FILENO);
    header_write();
    HOLDS(trace_open_file(file, &reader) == NULL);
    for (size_t i = 0; i < FUNCTIONS; i++) {
        while (strcmp(reader.slots[slots[i]].function, functions[i]) != 0)
            slots[i]++;
    }
    free(trace_demangle("_Z1av")); /* opens the C++ library, which stays open */
}

/* Small numbers, handles and sizes; two bytes can be any number. */
static uint64_t word_of(struct fuzz_bytes *bytes)
{
    unsigned byte = fuzz_byte(bytes);
    return byte < 64    ? byte
           : byte < 128 ? 0x1000ULL * (byte - 63)
           : byte < 192 ? 1ULL << (byte - 128)
           : byte < 250 ? 0x1000ULL * (byte - 191) + 0x10
                        : (uint64_t)fuzz_byte(bytes) << 8 | fuzz_byte(bytes);
}

static void name_write(struct fuzz_bytes *bytes, struct output *chunk)
{
    char text[32] = "";
    (void)fuzz_text(bytes, text, sizeof text);
    chunk->words[chunk->count++] = strlen(text);
    memcpy(&chunk->words[chunk->count], text, sizeof text);
    chunk->count += TRACE_WORDS_OF(strlen(text));
}

static void field_write(struct fuzz_bytes *bytes, const struct trace_slot_field *field, struct output *chunk)
{
    size_t values = field->kind == TRACE_VALUE                            ? 0
                    : field->kind == TRACE_IN_OUT                         ? 2 * TRACE_WORDS_OF(field->size)
                    : field->kind == TRACE_OUT || field->kind == TRACE_IN ? TRACE_WORDS_OF(field->size)
                                                                          : 0;
    size_t count = field->kind == TRACE_VALUE ? TRACE_WORDS_OF(field->size) : 1 + values;
    for (size_t i = 0; i < count; i++)
        chunk->words[chunk->count++] = word_of(bytes);
    if (field->kind == TRACE_TEXT)
        name_write(bytes, chunk);
}

static void call_write(struct fuzz_bytes *bytes, unsigned function, struct output *chunk, uint64_t *time)
{
    static const uint16_t results[] = {1, 2, 201, 400, 500, 600, 700, 709, 719, 900, 901, 902, 903, 904, 905, 906, 907};
    unsigned slot =
        function < 200 ? slots[function % FUNCTIONS] : ((function - 200) << 8 | fuzz_byte(bytes)) % CUSHIM_SLOT_COUNT;
    uint64_t *record = &chunk->words[chunk->count], result = fuzz_byte(bytes), took = fuzz_byte(bytes);
    bool has_returned = result != 255;
    uint64_t code = result < 150 || !has_returned ? 0 : results[result % (sizeof results / sizeof results[0])];
    chunk->count += TRACE_HEAD;
    for (size_t i = 0; i < reader.slots[slot].field_count; i++)
        field_write(bytes, &reader.slots[slot].fields[i], chunk);
    record[0] = slot | (uint64_t)(&chunk->words[chunk->count] - record) << TRACE_WORDS_SHIFT
                | code << TRACE_RESULT_SHIFT | (uint64_t)has_returned << TRACE_RETURNED_SHIFT;
    record[1] = *time;
    record[2] = *time + (took < 200 ? took : took << 20);
    record[3] = 0x400000 + slot;
    *time += took < 250 ? took / 4 : took << 20;
}

/* A frame: a line and a size, a file and the name of a function. */
static void frame_write(struct fuzz_bytes *bytes, struct output *chunk)
{
    char text[64] = "";
    (void)fuzz_text(bytes, text, 32);
    size_t file_size = strlen(text) + 1;
    (void)fuzz_text(bytes, text + file_size, 32);
    size_t size = file_size + strlen(text + file_size) + 1;
    chunk->words[chunk->count++] = (uint32_t)word_of(bytes) | (uint64_t)size << 32;
    memcpy(&chunk->words[chunk->count], text, sizeof text);
    chunk->count += TRACE_WORDS_OF(size);
}

static void meta_write(struct fuzz_bytes *bytes, struct output *chunk, uint64_t *time)
{
    uint64_t *record = &chunk->words[chunk->count], before = *time;
    unsigned what = fuzz_byte(bytes), meta = what >= 240 ? TRACE_PYTHON : TRACE_FIRST_META + what % 8;
    chunk->count += TRACE_HEAD;
    for (unsigned i = meta == TRACE_RANGE ? 3 : meta == TRACE_MODULE ? TRACE_MODULE_WORDS : 1; i > 0; i--)
        chunk->words[chunk->count++] =
            meta == TRACE_LOG || meta == TRACE_STACK || meta == TRACE_PYTHON ? before : word_of(bytes);
    if (meta == TRACE_PROCESS) {
        chunk->words[chunk->count++] = 1;
        chunk->words[chunk->count++] = 0;
    }
    if (meta == TRACE_PYTHON)
        frame_write(bytes, chunk);
    else if (meta != TRACE_THREAD && meta != TRACE_EXIT)
        name_write(bytes, chunk);
    record[0] = meta | (uint64_t)(&chunk->words[chunk->count] - record) << TRACE_WORDS_SHIFT;
    record[1] = record[2] = (*time)++;
    record[3] = 0;
}

/* The first two chunks are of threads of one process, the third one is of its child. */
static void chunks_write(struct fuzz_bytes *bytes)
{
    static struct output chunks[CHUNKS];
    uint64_t time = 1000;
    for (uint32_t i = 0; i < CHUNKS; i++)
        chunks[i].count = 0;
    while (bytes->next != bytes->end) {
        unsigned what = fuzz_byte(bytes);
        struct output *chunk = &chunks[fuzz_byte(bytes) % CHUNKS];
        if (chunk->count + 1000 > sizeof chunk->words / 8 - sizeof(struct trace_chunk) / 8)
            break;
        if (what >= 230)
            meta_write(bytes, chunk, &time);
        else
            call_write(bytes, what, chunk, &time);
    }
    for (uint32_t i = 0; i < CHUNKS; i++) {
        struct trace_chunk chunk = {.sequence = i + 1, .process = i / 2 + 1, .pid = 1000 + i / 2};
        off_t offset = (off_t)(TRACE_CHUNKS_AT + i * TRACE_CHUNK_SIZE);
        ssize_t size = (ssize_t)(8 * chunks[i].count);
        chunk.used = sizeof chunk + (uint64_t)size;
        HOLDS(pwrite(file, &chunk, sizeof chunk, offset) == sizeof chunk);
        HOLDS(pwrite(file, chunks[i].words, (size_t)size, offset + (off_t)sizeof chunk) == size);
    }
}

/* Returns what was written since the last time, which the caller frees. */
static char *output_take(void)
{
    HOLDS(fflush(stdout) == 0);
    off_t size = lseek(output, 0, SEEK_END);
    char *text = malloc((size_t)size + 1);
    HOLDS(text != NULL && pread(output, text, (size_t)size, 0) == size);
    text[size] = '\0';
    HOLDS(strlen(text) == (size_t)size);
    HOLDS(ftruncate(output, 0) == 0 && lseek(output, 0, SEEK_SET) == 0);
    return text;
}

static bool is_csv(const char *text)
{
    return format_is_plain(text) && format_is_csv(text, 8);
}

/* The page has a document of JSON. */
static bool is_page(const char *text)
{
    static const char start[] = "<script id=\"trace\" type=\"application/json\">";
    const char *json = strstr(text, start), *end = json != NULL ? strstr(json, "</script>") : NULL;
    char *copy = end != NULL ? strndup(json + strlen(start), (size_t)(end - json) - strlen(start)) : NULL;
    bool is_valid = copy != NULL && format_is_json(copy);
    free(copy);
    return is_valid;
}

/* Each call by one of these functions. */
static void calls_print(const struct trace_options *options,
                        void (*print)(const struct trace_model *, const struct trace_call *))
{
    struct trace_model model;
    struct trace_call call;
    HOLDS(trace_rewind(&reader) && trace_model_start(&model, &reader));
    while (trace_next(&reader, &call)) {
        HOLDS(trace_model_read(&model, &call));
        if (trace_selects(options, &model, &call))
            print(&model, &call);
    }
    trace_model_free(&model);
}

#if !defined(ALLOCATION_OF_PROCESS)

static long blocks_in_use(void)
{
    return 0;
}

#else

static long blocks_in_use(void)
{
    return allocation_count();
}

/* Makes each allocation of a report fail in turn. */
static void report_check_memory(enum status (*write)(struct trace_reader *, const struct trace_options *),
                                const struct trace_options *options, const char *expected)
{
    bool has_failed = true;
    for (int number = 0; has_failed; number++) {
        long before = allocation_count();
        HOLDS(trace_rewind(&reader));
        allocation_fail(number);
        bool is_complete = write(&reader, options) == STATUS_USABLE && !trace_places_have_failed();
        has_failed = allocation_failed();
        char *text = output_take();
        HOLDS(is_complete ? strcmp(text, expected) == 0 : has_failed);
        free(text);
        trace_places_free();
        HOLDS(allocation_count() <= before);
    }
}

#endif

static void output_check(bool (*is_valid)(const char *))
{
    char *text = output_take();
    HOLDS(is_valid(text));
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct {
        enum status (*write)(struct trace_reader *, const struct trace_options *);
        bool (*is_valid)(const char *);
    } reports[] = {{trace_summary, format_is_plain}, {trace_write_json, format_is_json}, {trace_write_html, is_page}};
    static bool is_started; /* the first report leaves what the next ones use */
    struct fuzz_bytes bytes = {data, data + size};
    if (file < 0)
        start();
    unsigned choice = fuzz_byte(&bytes);
    const struct trace_options options = {
        .findings = (choice & 64) != 0,
        .errors = (choice & 1) != 0,
        .function = (choice & 2) != 0 ? "Stream" : NULL,
        .stream = (choice & 4) != 0 ? "1" : NULL,
        .caller = (choice & 8) != 0 ? "lib" : NULL,
        .from = (choice & 16) != 0 ? 100 : 0,
        .thread = (choice & 32) != 0 ? 1 : 0,
    };
    chunks_write(&bytes);
    const long blocks = blocks_in_use();
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        HOLDS(trace_rewind(&reader) && reports[i].write(&reader, &options) == STATUS_USABLE);
        output_check(reports[i].is_valid);
    }
    calls_print(&options, trace_print_call);
    output_check(format_is_plain);
    calls_print(&options, trace_print_csv);
    output_check(is_csv);
    trace_places_free();
    HOLDS(!is_started || blocks_in_use() <= blocks);
    is_started = true;
#if defined(ALLOCATION_OF_PROCESS)
    static unsigned inputs;
    if (inputs++ % 16 != 0)
        return 0;
    int messages = dup(STDERR_FILENO), nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    for (size_t i = 0; i < sizeof reports / sizeof reports[0]; i++) {
        HOLDS(trace_rewind(&reader) && reports[i].write(&reader, &options) == STATUS_USABLE);
        char *expected = output_take();
        trace_places_free();
        dup2(nowhere, STDERR_FILENO);
        report_check_memory(reports[i].write, &options, expected);
        dup2(messages, STDERR_FILENO);
        free(expected);
    }
    close(messages);
    close(nowhere);
#endif
    return 0;
}
