/* SPDX-License-Identifier: MIT */
/*
 * A trace as JSON: in the trace-event format, for Perfetto and chrome://tracing, where each line is an event; or its
 * calls alone, a line each.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/slot.h"
#include "../finders/findings.h"
#include "json.h"
#include "../model/places.h"
#include "report.h"
#include "tracks.h"

/* The number of a track of a stream is this and its index: greater than that of any thread. */
enum { STREAM_TRACKS = 10000000, RANGE_TRACKS = 20000000 };

struct writer {
    const struct trace_reader *reader;
    struct trace_tracks tracks;
    struct trace_findings findings;
    size_t named; /* the tracks that have a name */
    uint64_t calls, arrows, end;
};

/* What was not written yet. stdio would take a third of the time of a report. */
static struct {
    char text[65536];
    size_t length;
} output;

static void flush(void)
{
    fwrite(output.text, 1, output.length, stdout);
    output.length = 0;
}

/* Writes what is valid JSON as it is: at most a line of trace_line. */
static void put(const char *text)
{
    size_t length = strlen(text);
    if (length > sizeof output.text - output.length)
        flush();
    memcpy(output.text + output.length, text, length);
    output.length += length;
}

/* Writes a text of the program or of the file, with quotation marks. */
static void put_string(const char *string)
{
    size_t length = 0;
    for (unsigned char c; (c = (unsigned char)string[length]) >= ' ' && c < 0x7f && c != '"' && c != '\\' && c != '<';)
        length++;
    if (string[length] != '\0' || length + 2 > sizeof output.text) {
        flush();
        json_put_string(string);
        return;
    }
    put("\"");
    put(string);
    put("\"");
}

static void put_json_number(uint64_t number)
{
    char digits[24], *at = digits + sizeof digits - 1;
    *at = '\0';
    do {
        *--at = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    put(at);
}

/* Nanoseconds as microseconds, the unit of the format. */
static void put_time(const char *key, uint64_t nanoseconds)
{
    const char digits[] = {'.', (char)('0' + nanoseconds / 100 % 10), (char)('0' + nanoseconds / 10 % 10),
                           (char)('0' + nanoseconds % 10), '\0'};
    put(key);
    put_json_number(nanoseconds / 1000);
    put(digits);
}

/* Begins a line. */
static void put_event(const char *phase, const char *category, const char *name)
{
    put(",\n{\"ph\":\"");
    put(phase);
    put("\",\"cat\":\"");
    put(category);
    put("\",\"name\":");
    put_string(name);
}

static void put_thread(const struct writer *writer, size_t process, uint64_t thread)
{
    put(",\"pid\":");
    put_json_number((uint64_t)writer->reader->processes[process].pid);
    put(",\"tid\":");
    put_json_number(thread);
}

static uint64_t stream_thread(const struct writer *writer, const struct trace_track *stream)
{
    return STREAM_TRACKS + (uint64_t)(stream - writer->tracks.all);
}

static void put_name(const struct writer *writer, const struct trace_track *track)
{
    const struct trace_process *process = &writer->reader->processes[track->process];
    bool is_process = track->kind == TRACE_PROCESSES;
    put_event("M", "__metadata", is_process ? "process_name" : "thread_name");
    put_thread(writer, track->process,
               is_process                     ? (uint64_t)process->pid
               : track->kind == TRACE_THREADS ? track->id
                                              : stream_thread(writer, track));
    put(",\"args\":{\"name\":");
    put_string(is_process ? process->command : track->name.text);
    put("}}");
}

/* A number is written as one, and a string without the quotation marks that it has in text. */
static void put_argument(const struct trace_argument *argument)
{
    const struct trace_line *value = &argument->value;
    char text[TRACE_TEXT_MAX + 1], name[256];
    snprintf(name, sizeof name, "%s%s", argument->is_behind ? "*" : "", argument->name);
    put(argument->index > 1 ? "," : "");
    put_string(name);
    put(":");
    if (argument->text != NULL) {
        memcpy(text, argument->text, argument->text_length);
        text[argument->text_length] = '\0';
        put_string(text);
    } else if (value->length > 0 && value->length <= 15 && strspn(value->text, "0123456789") == value->length) {
        put(value->text);
    } else {
        put_string(value->text);
    }
}

/* Returns how many there are. */
static size_t put_call_arguments(const struct trace_model *model, const struct trace_call *call)
{
    struct trace_argument argument;
    argument.index = argument.word = 0;
    while (trace_next_argument(model, call, &argument))
        put_argument(&argument);
    return argument.index;
}

static void put_slot(const struct trace_slot *slot, const struct trace_call *call)
{
    unsigned char state = slot->states[call->kind];
    if (state != CUSHIM_STATE_NATIVE && state < SLOT_STATES) {
        put(",\"slot\":");
        put_string(slot_states[state].word);
    }
}

static void put_caller(const struct trace_reader *reader, const struct trace_call *call)
{
    if (call->caller != 0) {
        put(",\"caller\":");
        put_string(trace_place_lines(reader, call->process, trace_site_of(reader, call), trace_python_lines(call)));
    }
}

/* A call on the track of its thread. One that did not return is an event that begins and does not end. */
static void put_json_call(const struct writer *writer, const struct trace_call *call)
{
    const struct trace_slot *slot = &writer->reader->slots[call->slot];
    put_event(call->returned ? "X" : "B", trace_has_failed(writer->reader, call) ? "error" : "call", slot->function);
    put_time(",\"ts\":", call->begin);
    if (call->returned)
        put_time(",\"dur\":", call->end - call->begin);
    put_thread(writer, call->process, (uint64_t)call->thread);
    put(trace_has_failed(writer->reader, call) ? ",\"cname\":\"terrible\",\"args\":{" : ",\"args\":{");
    put(put_call_arguments(&writer->findings.model, call) > 0 ? ",\"returns\":" : "\"returns\":");
    put_string(call->returned ? trace_result(call->result).text : "did not return");
    put_slot(slot, call);
    put_caller(writer->reader, call);
    put("}}");
}

/* Slices of a track must not overlap, and calls of several threads for one stream can, so these are instants. Their
 * names lack "cu", so that a search for a function finds each call once. */
static void put_instant(const struct writer *writer, const struct trace_call *call, const struct trace_track *stream)
{
    const char *function = writer->reader->slots[call->slot].function;
    put_event("i", "stream", strncmp(function, "cu", 2) == 0 ? function + 2 : function);
    put_time(",\"ts\":", call->begin);
    put_thread(writer, call->process, stream_thread(writer, stream));
    put(",\"s\":\"t\"}");
}

static void put_capture(const struct writer *writer, const struct trace_track *stream, struct trace_capture capture)
{
    put_event("X", "capture", capture.is_invalidated ? "invalidated capture" : "capture");
    put_time(",\"ts\":", capture.begin);
    put_time(",\"dur\":", capture.end - capture.begin);
    put_thread(writer, stream->process, stream_thread(writer, stream));
    put(capture.is_invalidated ? ",\"cname\":\"terrible\"}" : "}");
}

static void put_arrow(struct writer *writer, const char *category, const struct trace_awaited *from,
                      const struct trace_awaited *to)
{
    const struct trace_awaited *const ends[] = {from, to};
    writer->arrows++;
    for (size_t i = 0; i < 2; i++) {
        put_event(i == 0 ? "s" : "f", category, category);
        put_time(",\"ts\":", ends[i]->begin);
        put_thread(writer, ends[i]->process, (uint64_t)ends[i]->thread);
        put(",\"id\":");
        put_json_number(writer->arrows);
        put(i == 0 ? "}" : ",\"bp\":\"e\"}");
    }
}

/* An arrow from a call to the one that waits for it. */
static void put_wait(struct writer *writer, const struct trace_awaited *from, const struct trace_call *call)
{
    const struct trace_awaited to = {.begin = call->begin, .process = call->process, .thread = call->thread};
    put_arrow(writer, "wait", from, &to);
}

/* An arrow between the two calls of a finding. */
static void put_pair(struct writer *writer, const struct trace_finding *finding)
{
    const struct trace_moment *other = &finding->other;
    const struct trace_awaited one = {.begin = finding->begin, .process = finding->process, .thread = finding->thread};
    const struct trace_awaited two = {.begin = other->begin, .process = other->process, .thread = other->thread};
    bool is_first = other->begin < finding->begin;
    if (other->call != 0)
        put_arrow(writer, "race", is_first ? &two : &one, is_first ? &one : &two);
}

/* On the track of the thread whose call it is. */
static void put_finding(const struct writer *writer, const struct trace_finding *finding)
{
    put(",\n{\"ph\":\"i\",\"cat\":\"finding\",\"name\":");
    put_string(finding->text);
    put_time(",\"ts\":", finding->begin);
    put_thread(writer, finding->process, (uint64_t)finding->thread);
    put(",\"s\":\"t\"");
    const char *caller = trace_place_lines(writer->reader, finding->process, finding->site, finding->python);
    char other[128] = "";
    if (finding->other.call != 0)
        snprintf(other, sizeof other, "%s at %.9f s", writer->reader->slots[finding->other.slot].function,
                 (double)finding->other.begin / 1e9);
    const char *const details[][2] = {{"\"caller\":", caller[0] != '\0' ? caller : NULL},
                                      {"\"other\":", other[0] != '\0' ? other : NULL},
                                      {"\"range\":", finding->range},
                                      {"\"driver\":", finding->log}};
    const char *before = ",\"args\":{";
    for (size_t i = 0; i < sizeof details / sizeof details[0]; i++) {
        if (details[i][1] == NULL)
            continue;
        put(before);
        put(details[i][0]);
        put_string(details[i][1]);
        before = ",";
    }
    if (finding->count > 1) {
        put(before);
        put("\"times\":");
        put_json_number(finding->count);
        before = ",";
    }
    put(before[1] == '\0' ? "}}" : "}");
}

/* The tracks of ranges are those of threads with a lane. */
struct range_track {
    struct trace_key key;
    uint64_t number;
};

/* On a track of the ranges of its thread. Returns false if there is not enough memory. */
static bool put_range(const struct writer *writer, const struct trace_range *range, struct trace_table *tracks)
{
    size_t known = tracks->count;
    struct range_track *track =
        trace_table_add(tracks, (struct trace_key){(uint64_t)range->thread, (uint32_t)range->process, range->lane + 1});
    if (track == NULL)
        return false;
    if (tracks->count > known) {
        char name[64];
        track->number = RANGE_TRACKS + known;
        snprintf(name, sizeof name, range->lane == 0 ? "ranges of thread %ld" : "ranges of thread %ld, level %u",
                 range->thread, range->lane + 1);
        put_event("M", "__metadata", "thread_name");
        put_thread(writer, range->process, track->number);
        put(",\"args\":{\"name\":");
        put_string(name);
        put("}}");
    }
    put(",\n{\"ph\":\"");
    put(range->is_mark ? "i" : range->end == UINT64_MAX ? "B" : "X");
    put("\",\"cat\":\"range\",\"name\":");
    put_string(range->name);
    put_time(",\"ts\":", range->begin);
    if (range->end != UINT64_MAX && !range->is_mark)
        put_time(",\"dur\":", range->end - range->begin);
    put_thread(writer, range->process, track->number);
    put(range->is_mark ? ",\"s\":\"t\"}" : "}");
    return true;
}

static bool put_ranges(const struct writer *writer, const struct trace_options *options)
{
    struct trace_table tracks = {.size = sizeof(struct range_track)};
    const struct trace_ranges *ranges = &writer->findings.model.ranges;
    bool has_memory = true;
    for (size_t i = 0; has_memory && i < ranges->count; i++) {
        if (trace_selects_range(options, writer->reader, &ranges->all[i]))
            has_memory = put_range(writer, &ranges->all[i], &tracks);
    }
    free(tracks.entries);
    return has_memory;
}

static bool put_events(struct writer *writer, const struct trace_call *call, bool is_selected)
{
    struct trace_effect effect;
    const struct trace_track *stream;
    if (!trace_follow(&writer->tracks, &writer->findings.model, call, is_selected ? writer->calls + 1 : 0, &effect))
        return false;
    writer->end = call->end > writer->end ? call->end : writer->end;
    if (!is_selected)
        return true;
    writer->calls++;
    for (; writer->named < writer->tracks.count; writer->named++)
        put_name(writer, &writer->tracks.all[writer->named]);
    put_json_call(writer, call);
    stream = &writer->tracks.all[effect.stream];
    if (effect.is_work && effect.stream != 0)
        put_instant(writer, call, stream);
    if (effect.captured.end != 0)
        put_capture(writer, stream, effect.captured);
    if (effect.from.number != 0)
        put_wait(writer, &effect.from, call);
    return true;
}

static bool put_calls(struct writer *writer, struct trace_reader *reader, const struct trace_options *options)
{
    struct trace_call call;
    while (trace_next(reader, &call)) {
        if (!trace_findings_read(&writer->findings, &call)
            || !put_events(writer, &call, trace_selects(options, &writer->findings.model, &call)))
            return false;
    }
    return trace_findings_end(&writer->findings);
}

enum status trace_write_json(struct trace_reader *reader, const struct trace_options *options)
{
    struct writer writer = {.reader = reader};
    put("{\"displayTimeUnit\":\"ns\",\"otherData\":{\"command\":");
    put_string(reader->header->command);
    put("},\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"trace\",\"pid\":0,\"args\":{}}");
    bool has_memory = trace_findings_start(&writer.findings, reader);
    writer.findings.model.ranges.keeps_all = true;
    has_memory = has_memory && put_calls(&writer, reader, options) && put_ranges(&writer, options);
    for (size_t i = 0; i < writer.tracks.count; i++) {
        struct trace_track *stream = &writer.tracks.all[i];
        stream->capture.end = writer.end;
        if (stream->capture.is_active)
            put_capture(&writer, stream, stream->capture);
    }
    for (size_t i = 0; i < writer.findings.list.count; i++) {
        const struct trace_finding *finding = &writer.findings.list.all[i];
        if (trace_finding_rows[finding->kind].severity == BAD)
            put_finding(&writer, finding);
        if (trace_finding_rows[finding->kind].severity == BAD)
            put_pair(&writer, finding);
    }
    put("\n]}\n");
    flush();
    trace_tracks_free(&writer.tracks);
    trace_findings_free(&writer.findings);
    if (!has_memory)
        text_complain("trace: there is not enough memory");
    else
        trace_check_count(writer.calls);
    return has_memory ? STATUS_USABLE : STATUS_UNUSABLE;
}

/* ---- the calls alone ---- */

static void put_record(const struct trace_model *model, const struct trace_call *call, bool is_first)
{
    const struct trace_slot *slot = &model->reader->slots[call->slot];
    put(is_first ? "\n{\"begin_ns\":" : ",\n{\"begin_ns\":");
    put_json_number(call->begin);
    put(",\"end_ns\":");
    if (call->returned)
        put_json_number(call->end);
    else
        put("null");
    put(",\"process\":");
    put_json_number((uint64_t)model->reader->processes[call->process].pid);
    put(",\"thread\":");
    put_json_number((uint64_t)call->thread);
    put(",\"function\":");
    put_string(slot->function);
    put(",\"arguments\":{");
    (void)put_call_arguments(model, call);
    put("},\"result\":");
    if (call->returned)
        put_string(trace_result(call->result).text);
    else
        put("null");
    put_slot(slot, call);
    put_caller(model->reader, call);
    put("}");
}

enum status trace_write_json_calls(struct trace_reader *reader, const struct trace_options *options)
{
    struct trace_model model;
    struct trace_call call;
    bool has_memory = trace_model_start(&model, reader), is_first = true;
    put("{\"schema\":\"1.0\",\"command\":");
    put_string(reader->header->command);
    put(",\"calls\":[");
    while (has_memory && trace_next(reader, &call)) {
        has_memory = trace_model_read(&model, &call);
        if (!has_memory || !trace_selects(options, &model, &call))
            continue;
        put_record(&model, &call, is_first);
        is_first = false;
    }
    put("\n]}\n");
    flush();
    trace_model_free(&model);
    if (!has_memory)
        text_complain("trace: there is not enough memory");
    return has_memory ? STATUS_USABLE : STATUS_UNUSABLE;
}
