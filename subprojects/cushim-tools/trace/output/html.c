/* SPDX-License-Identifier: MIT */
/*
 * A trace as one HTML page: page.html and, within it, the calls as numbers and a document of JSON that has
 * what these numbers mean. The page has the same names.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/slot.h"
#include "../finders/findings.h"
#include "json.h"
#include "page.inc"
#include "../model/places.h"
#include "report.h"
#include "tracks.h"

/* Different strings, each with the number of its first use. */
struct strings {
    char *bytes;
    size_t used, capacity;
    size_t *starts, count, bucket_capacity; /* half of the capacity of the hash table */
    uint32_t *buckets;                      /* numbers, from 1 */
};

struct page {
    const struct trace_reader *reader;
    const struct trace_options *options;
    struct trace_tracks tracks;
    struct trace_findings findings;
    struct strings strings;
    uint64_t calls, last, end;
    uint32_t *functions; /* the number, from 1, of each slot and kind that was called */
    size_t *slots, function_count;
    struct page_capture {
        size_t track;
        struct trace_capture capture;
    } * captures;
    size_t capture_count;
    bool has_result[UINT16_MAX + 1];
    unsigned char bytes[3]; /* those of base64 that were not written yet */
    size_t byte_count;
};

/* ---- strings ---- */

static uint32_t *string_bucket(const struct strings *strings, const char *text)
{
    uint64_t hash = 0;
    for (const char *byte = text; *byte != '\0'; byte++)
        hash = (hash ^ (unsigned char)*byte) * UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = (size_t)(hash >> 32);; i++) {
        uint32_t *bucket = &strings->buckets[i & (2 * strings->bucket_capacity - 1)];
        if (*bucket == 0 || strcmp(strings->bytes + strings->starts[*bucket - 1], text) == 0)
            return bucket;
    }
}

static bool strings_grow(struct strings *strings, size_t length)
{
    if (strings->count == strings->bucket_capacity) {
        size_t capacity = strings->bucket_capacity == 0 ? 1024 : 2 * strings->bucket_capacity;
        size_t *starts = realloc(strings->starts, capacity * sizeof *starts);
        if (starts != NULL)
            strings->starts = starts;
        uint32_t *buckets = starts != NULL ? calloc(2 * capacity, sizeof *buckets) : NULL;
        if (buckets == NULL)
            return false;
        free(strings->buckets);
        strings->buckets = buckets;
        strings->bucket_capacity = capacity;
        for (size_t i = 0; i < strings->count; i++)
            *string_bucket(strings, strings->bytes + starts[i]) = (uint32_t)i + 1;
    }
    if (strings->capacity - strings->used <= length) {
        size_t capacity = 2 * strings->capacity + length + 4096;
        char *bytes = realloc(strings->bytes, capacity);
        if (bytes == NULL)
            return false;
        strings->bytes = bytes;
        strings->capacity = capacity;
    }
    return true;
}

/* Returns the number of a string, from 0, or UINT32_MAX if there is not enough memory. */
static uint32_t string_number(struct strings *strings, const char *text)
{
    size_t size = strlen(text) + 1;
    if (!strings_grow(strings, size))
        return UINT32_MAX;
    uint32_t *bucket = string_bucket(strings, text);
    if (*bucket == 0) {
        memcpy(strings->bytes + strings->used, text, size);
        strings->starts[strings->count] = strings->used;
        strings->used += size;
        *bucket = (uint32_t)++strings->count;
    }
    return *bucket - 1;
}

/* ---- numbers: seven bits in each byte, the lowest first, in base64 ---- */

static void put_bytes(struct page *page)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = page->bytes;
    putchar_unlocked(digits[bytes[0] >> 2]);
    putchar_unlocked(digits[(bytes[0] & 3) << 4 | bytes[1] >> 4]);
    putchar_unlocked(page->byte_count > 1 ? digits[(bytes[1] & 15) << 2 | bytes[2] >> 6] : '=');
    putchar_unlocked(page->byte_count > 2 ? digits[bytes[2] & 63] : '=');
    memset(page->bytes, 0, sizeof page->bytes);
    page->byte_count = 0;
}

static void put_number(struct page *page, uint64_t number)
{
    do {
        page->bytes[page->byte_count++] = (unsigned char)((number & 127) | (number > 127 ? 128 : 0));
        if (page->byte_count == sizeof page->bytes)
            put_bytes(page);
        number >>= 7;
    } while (number > 0);
}

/* ---- calls ---- */

static size_t function_number(struct page *page, const struct trace_call *call)
{
    uint32_t *number = &page->functions[2 * call->slot + call->kind];
    if (*number == 0) {
        page->slots[page->function_count] = 2 * (size_t)call->slot + call->kind;
        *number = (uint32_t)++page->function_count;
    }
    return *number - 1;
}

static bool put_arguments(struct page *page, const struct trace_call *call)
{
    size_t count = page->reader->slots[call->slot].field_count;
    char text[sizeof(struct trace_line) + 1];
    struct trace_argument argument;
    argument.index = argument.word = 0;
    for (size_t i = 0; i < count; i++) {
        bool has_argument = trace_next_argument(&page->findings.model, call, &argument);
        if (has_argument)
            snprintf(text, sizeof text, "%s%s", argument.is_behind ? "*" : "", argument.value.text);
        uint32_t number = string_number(&page->strings, has_argument ? text : "");
        if (number == UINT32_MAX)
            return false;
        put_number(page, number);
    }
    return true;
}

static bool capture_add(struct page *page, size_t track, struct trace_capture capture)
{
    struct page_capture *grown = realloc(page->captures, (page->capture_count + 1) * sizeof *grown);
    if (grown == NULL)
        return false;
    page->captures = grown;
    grown[page->capture_count++] = (struct page_capture){track, capture};
    return true;
}

static bool put_call(struct page *page, const struct trace_call *call, bool is_selected)
{
    struct trace_effect effect;
    uint64_t number = is_selected ? page->calls + 1 : 0;
    if (!trace_follow(&page->tracks, &page->findings.model, call, number, &effect)
        || (effect.captured.end != 0 && !capture_add(page, effect.stream, effect.captured)))
        return false;
    page->end = call->end > page->end ? call->end : page->end;
    if (!is_selected)
        return true;
    page->calls = number;
    put_number(page, call->begin - page->last);
    page->last = call->begin;
    put_number(page, call->returned ? call->end - call->begin + 1 : 0);
    put_number(page, effect.thread);
    put_number(page, function_number(page, call));
    put_number(page, 2 * (uint64_t)call->result + trace_has_failed(page->reader, call));
    put_number(page, effect.is_work ? effect.stream : 0);
    put_number(page, effect.from.number != 0 ? number - effect.from.number : 0);
    const char *place =
        trace_place_lines(page->reader, call->process, trace_site_of(page->reader, call), trace_python_lines(call));
    uint32_t site = string_number(&page->strings, place);
    if (site == UINT32_MAX)
        return false;
    put_number(page, site);
    page->has_result[call->result] = true;
    if (number % 256 == 0)
        putchar_unlocked('\n');
    return put_arguments(page, call);
}

/* ---- what the numbers mean ---- */

static void write_functions(const struct page *page, struct json *json)
{
    json_open_array(json, "functions");
    for (size_t i = 0; i < page->function_count; i++) {
        const struct trace_slot *slot = &page->reader->slots[page->slots[i] / 2];
        unsigned char state = slot->states[page->slots[i] % 2];
        json_open_object(json, NULL);
        json_string(json, "name", slot->function);
        json_string(json, "state",
                    state != CUSHIM_STATE_NATIVE && state < SLOT_STATES ? slot_states[state].word : NULL);
        json_open_array(json, "parameters");
        for (size_t k = 0; k < slot->field_count; k++)
            json_string(json, NULL, slot->fields[k].name);
        json_close_array(json);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_object(json, "results");
    for (unsigned code = 0; code <= UINT16_MAX; code++) {
        struct trace_text number;
        if (!page->has_result[code])
            continue;
        snprintf(number.text, sizeof number.text, "%u", code);
        json_string(json, number.text, trace_result(code).text);
    }
    json_close_object(json);
}

static void write_tracks(const struct page *page, struct json *json)
{
    json_open_array(json, "processes");
    for (size_t i = 0; i < page->reader->process_count; i++) {
        json_open_object(json, NULL);
        json_integer(json, "pid", page->reader->processes[i].pid);
        json_string(json, "command", page->reader->processes[i].command);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "tracks");
    for (size_t i = 0; i < page->tracks.count; i++) {
        const struct trace_track *track = &page->tracks.all[i];
        if (track->kind == TRACE_PROCESSES)
            continue;
        json_open_object(json, NULL);
        json_integer(json, "index", (long long)i);
        json_integer(json, "process", (long long)track->process);
        json_boolean(json, "isStream", track->kind == TRACE_STREAMS);
        json_string(json, "name", track->name.text);
        json_close_object(json);
    }
    json_close_array(json);
    json_open_array(json, "captures");
    for (size_t i = 0; i < page->capture_count; i++) {
        json_open_object(json, NULL);
        json_integer(json, "track", (long long)page->captures[i].track);
        json_integer(json, "begin", (long long)page->captures[i].capture.begin);
        json_integer(json, "end", (long long)page->captures[i].capture.end);
        json_boolean(json, "isInvalidated", page->captures[i].capture.is_invalidated);
        json_close_object(json);
    }
    json_close_array(json);
}

/* The index of the track of a thread, or that of no track. */
static size_t thread_track(const struct trace_tracks *tracks, size_t process, long thread)
{
    size_t i = 0;
    while (i < tracks->count
           && (tracks->all[i].kind != TRACE_THREADS || tracks->all[i].process != process
               || tracks->all[i].id != (uint64_t)thread))
        i++;
    return i;
}

/* When each call began, and its track: numbers in turn. */
static void write_finding_calls(const struct page *page, const struct trace_finding *finding, struct json *json)
{
    json_open_array(json, "calls");
    for (uint64_t i = 0; finding->call != 0 && i < finding->count && i <= TRACE_MAX_FINDINGS; i++) {
        const struct trace_repeat call =
            i == 0 ? (struct trace_repeat){finding->begin, finding->thread} : finding->repeats[i - 1];
        json_integer(json, NULL, (long long)call.begin);
        json_integer(json, NULL, (long long)thread_track(&page->tracks, finding->process, call.thread));
    }
    json_close_array(json);
}

static void write_findings(const struct page *page, struct json *json)
{
    json_open_array(json, "findings");
    for (size_t i = 0; i < page->findings.list.count; i++) {
        const struct trace_finding *finding = &page->findings.list.all[i];
        json_open_object(json, NULL);
        json_string(json, "title", trace_finding_rows[finding->kind].title);
        json_string(json, "text", finding->text);
        const char *place = trace_place_lines(page->reader, finding->process, finding->site, finding->python);
        if (place[0] != '\0')
            json_string(json, "place", place);
        if (finding->range != NULL)
            json_string(json, "range", finding->range);
        if (finding->log != NULL)
            json_string(json, "driver", finding->log);
        json_boolean(json, "isBad", trace_finding_rows[finding->kind].severity == BAD);
        json_integer(json, "count", (long long)finding->count);
        write_finding_calls(page, finding, json);
        if (finding->other.call != 0) {
            json_open_array(json, "other");
            json_integer(json, NULL, (long long)finding->other.begin);
            json_integer(json, NULL,
                         (long long)thread_track(&page->tracks, finding->other.process, finding->other.thread));
            json_close_array(json);
        }
        json_close_object(json);
    }
    json_close_array(json);
}

/* [process, thread, lane, begin, end, name]; the end is -1 if there is none. */
static void write_ranges(const struct page *page, struct json *json)
{
    const struct trace_ranges *ranges = &page->findings.model.ranges;
    json_open_array(json, "ranges");
    for (size_t i = 0; i < ranges->count; i++) {
        const struct trace_range *range = &ranges->all[i];
        if (!trace_selects_range(page->options, page->reader, range))
            continue;
        json_open_array(json, NULL);
        json_integer(json, NULL, (long long)range->process);
        json_integer(json, NULL, range->thread);
        json_integer(json, NULL, range->lane);
        json_integer(json, NULL, (long long)range->begin);
        json_integer(json, NULL, range->end != UINT64_MAX ? (long long)range->end : -1);
        json_string(json, NULL, range->name);
        json_close_array(json);
    }
    json_close_array(json);
}

static void write_remark(struct json *json, const char *remark, uint64_t calls)
{
    char text[80];
    snprintf(text, sizeof text, "%" PRIu64 " %s", calls, remark);
    if (calls > 0)
        json_string(json, NULL, text);
}

static void write_meaning(const struct page *page)
{
    struct json json = {.depth = 0};
    const struct trace_header *header = page->reader->header;
    json_open_object(&json, NULL);
    json_string(&json, "command", header->command);
    json_integer(&json, "calls", (long long)page->calls);
    json_integer(&json, "end", (long long)page->end);
    json_open_array(&json, "remarks");
    write_remark(&json, "older calls are not in the file", header->overwritten);
    write_remark(&json, "calls were not recorded", header->dropped);
    write_remark(&json, "calls came after the program had ended", header->late);
    write_remark(&json, "parts of the file are damaged", page->reader->damaged);
    write_remark(&json, "ranges are not shown", page->findings.model.ranges.left_out);
    json_close_array(&json);
    write_functions(page, &json);
    write_tracks(page, &json);
    write_findings(page, &json);
    write_ranges(page, &json);
    json_open_array(&json, "strings");
    for (size_t i = 0; i < page->strings.count; i++)
        json_string(&json, NULL, page->strings.bytes + page->strings.starts[i]);
    json_close_array(&json);
    json_close_object(&json);
}

static bool write_page(struct page *page, struct trace_reader *reader)
{
    struct trace_call call;
    bool has_memory = trace_findings_start(&page->findings, reader) && page->functions != NULL && page->slots != NULL;
    page->findings.model.ranges.keeps_all = true;
    fwrite(page_head, 1, sizeof page_head, stdout);
    puts("<script id=\"calls\" type=\"text/plain\">");
    while (has_memory && trace_next(reader, &call)) {
        has_memory = trace_findings_read(&page->findings, &call)
                     && put_call(page, &call, trace_selects(page->options, &page->findings.model, &call));
    }
    has_memory = has_memory && trace_findings_end(&page->findings);
    for (size_t i = 0; i < page->findings.model.ranges.count; i++) {
        const struct trace_range *range = &page->findings.model.ranges.all[i];
        uint64_t end = range->end != UINT64_MAX ? range->end : range->begin;
        page->end = end > page->end ? end : page->end;
    }
    if (page->byte_count > 0)
        put_bytes(page);
    for (size_t i = 0; has_memory && i < page->tracks.count; i++) {
        struct trace_capture capture = page->tracks.all[i].capture;
        capture.end = page->end;
        if (capture.is_active)
            has_memory = capture_add(page, i, capture);
    }
    puts("</script>\n<script id=\"trace\" type=\"application/json\">");
    if (has_memory)
        write_meaning(page);
    puts("</script>");
    fwrite(page_tail, 1, sizeof page_tail, stdout);
    return has_memory;
}

enum status trace_write_html(struct trace_reader *reader, const struct trace_options *options)
{
    struct page page = {
        .reader = reader,
        .options = options,
        .functions = calloc(2 * reader->slot_count + 1, sizeof *page.functions),
        .slots = calloc(2 * reader->slot_count + 1, sizeof *page.slots),
    };
    bool has_memory = write_page(&page, reader);
    if (!has_memory)
        text_complain("trace: there is not enough memory");
    else
        trace_check_count(page.calls);
    trace_tracks_free(&page.tracks);
    trace_findings_free(&page.findings);
    free(page.strings.bytes);
    free(page.strings.starts);
    free(page.strings.buckets);
    free(page.functions);
    free(page.slots);
    free(page.captures);
    return has_memory ? STATUS_USABLE : STATUS_UNUSABLE;
}
