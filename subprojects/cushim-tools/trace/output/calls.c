/* SPDX-License-Identifier: MIT */
/* The calls of a report: which are selected, their arguments, and a call as a line of text. */
#include <stdarg.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/default_stream.h"
#include "cushim/slot.h"
#include "../model/copies.h"
#include "../model/places.h"
#include "report.h"

/* Whether the text means the stream of a call or one that the call has created: "3", "0x55d2a0", "legacy". */
static bool call_has_stream(const char *text, const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    const uint64_t *at = call->fields, *end = call->fields + call->words;
    for (size_t i = 0, words; i < slot->field_count; i++, at += words) {
        const struct trace_slot_field *field = &slot->fields[i];
        words = trace_field_words(field, at, (size_t)(end - at));
        if (words == 0)
            return false;
        const uint64_t *value = trace_field_value(field, at, call->returned && call->result == CUDA_SUCCESS);
        if (field->value.stream == 0 || value == NULL || field->kind == TRACE_POINTER
            || field->value.stream > TRACE_WORDS_OF(field->size))
            continue;
        uint64_t handle = value[field->value.stream - 1], stream = trace_stream_number(model, call, handle);
        struct trace_text name = trace_stream_name(model, call->process, stream);
        if (strncmp(text, "0x", 2) == 0 ? strtoull(text, NULL, 16) == handle
            : strcmp(text, "per-thread") == 0
                ? stream >> 63 != 0
                : strncmp(name.text, "stream ", 7) == 0 && strcmp(name.text + 7, text) == 0)
            return true;
        if (strcmp(text, "legacy") == 0 && stream == TRACE_LEGACY_STREAM)
            return true;
    }
    return false;
}

bool trace_selects(const struct trace_options *options, const struct trace_model *model, const struct trace_call *call)
{
    const char *function = options->function;
    return (function == NULL || strstr(model->reader->slots[call->slot].function, function) != NULL)
           && (options->caller == NULL || trace_is_called_from(model->reader, call, options->caller))
           && (options->process == 0 || options->process == (uint64_t)model->reader->processes[call->process].pid)
           && (options->thread == 0 || options->thread == (uint64_t)call->thread)
           && (options->stream == NULL || call_has_stream(options->stream, model, call))
           && (!options->errors || trace_has_failed(model->reader, call) || !call->returned)
           && call->begin >= options->from && (options->to == 0 || call->begin <= options->to);
}

bool trace_selects_range(const struct trace_options *options, const struct trace_reader *reader,
                         const struct trace_range *range)
{
    return (options->process == 0 || options->process == (uint64_t)reader->processes[range->process].pid)
           && (options->thread == 0 || options->thread == (uint64_t)range->thread) && range->end >= options->from
           && (options->to == 0 || range->begin <= options->to);
}

CUSHIM_PRINTF(2, 3)
static void line_add(struct trace_line *line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    size_t room = sizeof line->text - line->length;
    int length = vsnprintf(line->text + line->length, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        line->length += (size_t)length < room ? (size_t)length : room - 1;
}

/* "stream 3". Returns whether the value is an object with a name. */
static bool line_add_object(struct trace_line *line, const struct trace_slot_field *field, uint64_t value,
                            const struct trace_call *call, const struct trace_model *model)
{
    if (field->value.shown == TRACE_UNSIGNED || field->value.shown == TRACE_SIGNED || value == 0)
        return false;
    struct trace_text name = trace_name_of(model, call->process, field->value.number, value);
    line_add(line, "%s", name.text);
    const char *kernel = trace_kernel_of(model, call->process, field->value.number, value);
    if (kernel != NULL && name.text[0] == '\0') /* a kernel in place of a function */
        line_add(line, "%s", trace_name_of(model, call->process, TRACE_TYPE_CUkernel, value).text);
    if (kernel != NULL)
        line_add(line, " (%s)", kernel);
    return name.text[0] != '\0' || kernel != NULL;
}

/* "CU_EVENT_DISABLE_TIMING|CU_EVENT_BLOCKING_SYNC", with a number at the end if there are flags without a name. */
static void line_add_flags(struct trace_line *line, const struct trace_type *type, uint64_t value)
{
    const char *name = trace_type_flag(type, &value), *separator = name != NULL ? "|" : "";
    line_add(line, "%s", name != NULL ? name : "");
    while (value != 0 && (name = trace_type_flag(type, &value)) != NULL)
        line_add(line, "|%s", name);
    if (value != 0)
        line_add(line, "%s0x%" PRIx64, separator, value);
    else if (separator[0] == '\0')
        line_add(line, "0");
}

/* "device 0x7f0000 pitch 512" */
static void line_add_end(struct trace_line *line, enum trace_memory memory, const struct trace_span *span)
{
    line_add(line, "%s", trace_memory_names[memory]);
    if (span->high != 0)
        line_add(line, " 0x%" PRIx64, span->low);
    if (span->pitch != 0)
        line_add(line, " pitch %" PRIu64, span->pitch);
}

static void line_add_value(struct trace_line *line, const struct trace_slot_field *field, const uint64_t *words,
                           const struct trace_call *call, const struct trace_model *model)
{
    uint64_t value = words[0]; /* analyzer: a field of the kind VALUE always has a value */
    const char *name;
    float number;
    struct trace_copy copy;
    if (field->size > sizeof value && trace_field_stream(field) >= 0) {
        static const struct trace_slot_field stream = {
            .kind = TRACE_VALUE, .size = sizeof value, .value = {.number = TRACE_TYPE_CUstream, .shown = TRACE_STREAM}};
        line_add(line, "{hStream=");
        line_add_value(line, &stream, &words[field->value.stream - 1], call, model);
        line_add(line, ", %zu bytes}", field->size);
    } else if (trace_type_is_kernel_node(&field->value)) {
        static const struct trace_slot_field function = {.size = sizeof value, .value.number = TRACE_TYPE_CUfunction};
        uint32_t sizes[6]; /* of the grid and of a block, behind the function */
        line_add(line, "{func=");
        line_add_value(line, &function, words, call, model);
        memcpy(sizes, words + 1, sizeof sizes);
        line_add(line, ", grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 ", block %" PRIu32 "x%" PRIu32 "x%" PRIu32 "}",
                 sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5]);
    } else if (trace_copy_find(field, words, &copy)) {
        line_add(line, "{");
        line_add_end(line, copy.from, &copy.source);
        line_add(line, " to ");
        line_add_end(line, copy.to, &copy.target);
        line_add(line, ", %" PRIu64 "x%" PRIu64 "x%" PRIu64 ", %" PRIu64 " bytes}", copy.width, copy.height, copy.depth,
                 copy.bytes);
    } else if (field->size > sizeof value)
        line_add(line, "{%zu bytes}", field->size);
    else if (field->value.shown == TRACE_FLAGS_OF_ENUM)
        line_add_flags(line, &field->value, value);
    else if ((name = trace_type_enumerator(&field->value, value)) != NULL)
        line_add(line, "%s", name);
    else if (field->value.shown == TRACE_FLOAT)
        line_add(line, "%g", (double)(memcpy(&number, words, sizeof number), number));
    else if (field->value.shown == TRACE_SIGNED)
        line_add(line, "%" PRId32, (int32_t)value);
    else if (field->value.shown == TRACE_UNSIGNED)
        line_add(line, "%" PRIu64, value);
    else if (value == 0 && field->value.shown == TRACE_STREAM && call->kind != CUSHIM_DEFAULT_STREAM_LEGACY)
        line_add(line, "NULL (per-thread)");
    else if (value == 0)
        line_add(line, field->size == sizeof(void *) ? "NULL" : "0");
    else if (value <= 2 && field->value.shown == TRACE_STREAM)
        line_add(line, value == 1 ? "CU_STREAM_LEGACY" : "CU_STREAM_PER_THREAD");
    else if (!line_add_object(line, field, value, call, model))
        line_add(line, "0x%" PRIx64, value);
}

static void line_add_text(struct trace_line *line, const uint64_t *at)
{
    const char *text = (const char *)(at + 2);
    if (at[0] == 0) {
        line_add(line, "NULL");
        return;
    }
    line_add(line, "\"");
    for (uint64_t i = 0; i < at[1]; i++)
        line_add(line, text[i] == '"' || text[i] == '\\' ? "\\%c" : "%c", text[i]);
    line_add(line, at[1] == TRACE_TEXT_MAX ? "\"..." : "\"");
}

/* "[0x7f0000, 1, {32 bytes}]" */
static void line_add_kernel_arguments(struct trace_line *line, const struct trace_call *call)
{
    size_t at = 0, size = 0;
    const char *separator = "";
    line_add(line, "[");
    for (const uint64_t *words; (words = trace_next_kernel_argument(call, &at, &size)) != NULL; separator = ", ") {
        if (size <= sizeof *words)
            line_add(line, "%s0x%" PRIx64, separator, size > 0 ? *words : 0);
        else
            line_add(line, "%s{%zu bytes}", separator, size);
    }
    line_add(line, "%s]", size != SIZE_MAX ? "" : separator[0] == '\0' ? "..." : ", ...");
}

static const char *const batch_arrays[] = {"dsts", "srcs", "sizes"};

/* "[0x7f0000, 0x7f1000]": one of the arrays of a batch of copies. */
static void line_add_array(struct trace_line *line, const struct trace_call *call, size_t number, bool is_size)
{
    size_t at = 0, size = 0, most = 0;
    const uint64_t *words = NULL;
    for (size_t i = 0; i <= number; i++)
        words = trace_next_kernel_argument(call, &at, &size);
    most = words != NULL ? size / sizeof *words : 0;
    line_add(line, "[");
    for (size_t i = 0; i < most; i++)
        line_add(line, is_size ? "%s%" PRIu64 : "%s0x%" PRIx64, i > 0 ? ", " : "", words[i]);
    line_add(line, trace_word(call, 3) > most ? ", ...]" : "]");
}

bool trace_next_argument(const struct trace_model *model, const struct trace_call *call,
                         struct trace_argument *argument)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    const struct trace_slot_field *field = &slot->fields[argument->index];
    const uint64_t *at = call->fields + argument->word;
    size_t words = argument->index < slot->field_count ? trace_field_words(field, at, call->words - argument->word) : 0;
    if (words == 0)
        return false;
    argument->index++;
    argument->word += words;
    argument->name = field->name;
    argument->value.length = 0;
    argument->value.text[0] = '\0';
    argument->text = field->kind == TRACE_TEXT && at[0] != 0 ? (const char *)(at + 2) : NULL;
    argument->text_length = argument->text != NULL ? (size_t)at[1] : 0;
    const uint64_t *value = trace_field_value(field, at, call->returned && call->result == CUDA_SUCCESS);
    argument->is_behind = value != NULL && value != at;
    bool has_arguments = call->arguments != NULL && at[0] != 0
                         && (strcmp(field->name, "kernelParams") == 0 || strcmp(field->name, "extra") == 0);
    bool is_batch =
        call->arguments != NULL && argument->index <= 3 && strcmp(field->name, batch_arrays[argument->index - 1]) == 0;
    if (field->kind == TRACE_TEXT) {
        line_add_text(&argument->value, at);
    } else if (is_batch) {
        line_add_array(&argument->value, call, argument->index - 1, argument->index == 3);
    } else if (has_arguments) {
        line_add_kernel_arguments(&argument->value, call);
    } else if (!argument->is_behind && field->kind != TRACE_VALUE) {
        line_add(&argument->value, at[0] != 0 ? "0x%" PRIx64 : "NULL", at[0]);
    } else {
        if (field->kind == TRACE_IN_OUT) {
            line_add_value(&argument->value, field, at + 1, call, model);
            line_add(&argument->value, " -> ");
        }
        line_add_value(&argument->value, field, value, call, model);
    }
    return true;
}

void trace_print_lines(int column, const char *lines)
{
    for (size_t length; *lines != '\0'; lines += length + (lines[length] != '\0')) {
        length = strcspn(lines, "\n");
        text_print(TONE_FAINT, "%*sat %.*s", column, "", (int)length, lines);
        puts("");
    }
}

void trace_print_no_python(const struct trace_reader *reader)
{
    for (size_t i = 0; i < reader->process_count; i++) {
        const struct trace_process *process = &reader->processes[i];
        if (process->no_python == TRACE_PYTHON_REFUSED)
            printf("The lines of Python are missing in process %ld: the system refuses process_vm_readv: %s\n",
                   process->pid, strerror((int)process->no_python_number));
        else if (process->no_python == TRACE_PYTHON_UNKNOWN)
            printf("The lines of Python are missing in process %ld: this version of cushim does not know Python 3.%u\n",
                   process->pid, process->no_python_number);
    }
}

/* What the driver says about a call that failed. */
static void print_log(const struct trace_call *call)
{
    size_t length;
    for (size_t at = 0; at < call->log_length; at += length + 1) {
        const char *start = call->log + at, *stop = memchr(start, '\n', call->log_length - at);
        length = stop != NULL ? (size_t)(stop - start) : call->log_length - at;
        text_print(TONE_PLAIN, "%45sdriver: %.*s", "", (int)length, start);
        puts("");
    }
}

/* The Python frames, and the backtrace from the program on. */
static void print_stack(const struct trace_reader *reader, const struct trace_call *call)
{
    const char *python = trace_python_lines(call);
    trace_print_lines(45, python != NULL ? python : "");
    for (size_t i = trace_first_frame(reader, call); i < call->stack_count; i++)
        trace_print_lines(45, trace_place_name(reader, call->process, call->stack[i]));
}

void trace_print_place(const struct trace_reader *reader, const struct trace_call *call, uint64_t site,
                       const char *python)
{
    const char *place = trace_place_lines(reader, call->process, site, python);
    if (place != trace_place_name(reader, call->process, call->caller))
        trace_print_lines(45, place);
}

void trace_print_call(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_reader *reader = model->reader;
    const struct trace_slot *slot = &reader->slots[call->slot];
    unsigned char state = slot->states[call->kind];
    struct trace_line line = {.length = 0};
    struct trace_argument argument = {.index = 0};
    line_add(&line, "%5" PRIu64 ".%09" PRIu64 " %7ld %7ld %9s  %s(", call->begin / 1000000000, call->begin % 1000000000,
             reader->processes[call->process].pid, call->thread,
             call->returned ? trace_duration(call->end - call->begin).text : "-", slot->function);
    while (trace_next_argument(model, call, &argument))
        line_add(&line, "%s%s%s=%s", argument.index > 1 ? ", " : "", argument.is_behind ? "*" : "", argument.name,
                 argument.value.text);
    line_add(&line, ")");
    if (call->returned)
        line_add(&line, " = %s", trace_result(call->result).text);
    else
        line_add(&line, " did not return");
    if (state != CUSHIM_STATE_NATIVE && state < SLOT_STATES)
        line_add(&line, " [%s]", slot_states[state].word);
    if (call->caller != 0)
        line_add(&line, "  from %s", trace_place_name(reader, call->process, call->caller));
    text_put(call->returned && call->result != CUDA_SUCCESS ? TONE_BAD : TONE_PLAIN, line.text, 0);
    puts("");
    print_log(call);
    if (call->returned && call->result == CUDA_SUCCESS && !reader->header->wants_stacks)
        trace_print_place(reader, call, trace_site_of(reader, call), trace_python_lines(call));
    else
        print_stack(reader, call);
}

/* A value with a comma or a quotation mark is within quotation marks, which it has twice. */
static void put_csv(const char *value, const char *end)
{
    char text[2 * sizeof(struct trace_line)];
    size_t length = 0;
    bool is_quoted = strpbrk(value, ",\"") != NULL;
    for (; *value != '\0' && length < sizeof text - 2; value++) {
        if (*value == '"')
            text[length++] = '"';
        text[length++] = *value;
    }
    text[length] = '\0';
    fputs(is_quoted ? "\"" : "", stdout);
    text_put_plain(text);
    fputs(is_quoted ? "\"" : "", stdout);
    fputs(end, stdout);
}

void trace_print_csv_head(void)
{
    puts("seconds,process,thread,nanoseconds,function,arguments,result,caller");
}

void trace_print_csv(const struct trace_model *model, const struct trace_call *call)
{
    const struct trace_reader *reader = model->reader;
    struct trace_line line = {.length = 0};
    struct trace_argument argument = {.index = 0};
    printf("%" PRIu64 ".%09" PRIu64 ",%ld,%ld,", call->begin / 1000000000, call->begin % 1000000000,
           reader->processes[call->process].pid, call->thread);
    if (call->returned)
        printf("%" PRIu64, call->end - call->begin);
    putchar(',');
    put_csv(reader->slots[call->slot].function, ",");
    while (trace_next_argument(model, call, &argument))
        line_add(&line, "%s%s%s=%s", argument.index > 1 ? ", " : "", argument.is_behind ? "*" : "", argument.name,
                 argument.value.text);
    put_csv(line.text, ",");
    put_csv(call->returned ? trace_result(call->result).text : "", ",");
    line.length = 0; /* "model.py:7 (forward) < train.py:9 (step)": a call is one line */
    line.text[0] = '\0';
    const char *place = trace_place_lines(reader, call->process, trace_site_of(reader, call), trace_python_lines(call));
    for (size_t length; *place != '\0'; place += length + (place[length] != '\0')) {
        length = strcspn(place, "\n");
        line_add(&line, "%s%.*s", line.length > 0 ? " < " : "", (int)length, place);
    }
    put_csv(line.text, "\n");
}
