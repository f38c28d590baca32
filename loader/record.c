/* SPDX-License-Identifier: MIT */
#include "record.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os_file.h"

struct reason {
    const char *word;
    CUresult code;
    const char *message;
    const char *advice;
};

static const struct reason reasons[CUSHIM_REASON_COUNT] = {
#define CUSHIM_REASON(name, word, code, message, advice) {word, code, message, advice},
#include "cushim/reasons.h"
};

/* A reason alone, for want of memory for more. */
static const struct cushim_diagnosis bare[CUSHIM_REASON_COUNT] = {
#define CUSHIM_REASON(name, word, code, message, advice)                                                               \
    {CUSHIM_REASON_##name, code, word, message, advice, NULL, 0, NULL, 0, NULL, 0},
#include "cushim/reasons.h"
};

/* Every diagnosis so far, newest first; none is ever freed, since a program may hold it. */
struct kept {
    struct kept *older;
    struct cushim_diagnosis diagnosis;
    struct cushim_attempt attempts[RECORD_ATTEMPTS];
    struct cushim_variable variables[RECORD_VARIABLES];
    unsigned text_used;
    char text[];
};

/* No text may take the room of those after it: values are long where somebody errs, attempts where a root is deep, and
 * the path and the message come last. */
enum { MOST_VALUE_TEXT = 1024, MOST_ATTEMPTS_TEXT = RECORD_TEXT - RECORD_MESSAGE - OS_PATH_SIZE };

static struct kept *newest;
static const struct cushim_diagnosis *current = &bare[CUSHIM_REASON_NOT_TRIED];

CUresult cushim_priv_reason_code(enum cushim_reason reason)
{
    return reasons[reason].code;
}

const struct cushim_diagnosis *cushim_diagnosis(void)
{
    return CUSHIM_LOAD_ACQUIRE(&current);
}

/* Appends a string to the record's text, cut to `most` bytes, and returns its offset; the empty string stands at 0. */
static unsigned add_text(struct record *record, const char *string, size_t most)
{
    size_t room = RECORD_TEXT - record->text_used;
    if (string == NULL || string[0] == '\0' || room < 2)
        return 0;
    size_t length = strlen(string);
    if (length > most)
        length = most;
    if (length > room - 1)
        length = room - 1;
    unsigned start = record->text_used;
    memcpy(record->text + start, string, length);
    record->text[start + length] = '\0';
    record->text_used += (unsigned)length + 1;
    return start;
}

void cushim_priv_record_start(struct record *record)
{
    /* All but the text, of which only what is used counts. */
    memset(record, 0, offsetof(struct record, text));
    record->reason = CUSHIM_REASON_NOT_FOUND;
    record->text[0] = '\0';
    record->text_used = 1;
}

void cushim_priv_record_start_from(struct record *record, const struct cushim_diagnosis *diagnosis)
{
    cushim_priv_record_start(record);
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        cushim_priv_record_attempt(record, diagnosis->attempts[i].place, diagnosis->attempts[i].reason,
                                   diagnosis->attempts[i].result);
    cushim_priv_record_path(record, diagnosis->path);
    record->cuda_version = diagnosis->cuda_version;
}

void cushim_priv_record_attempt(struct record *record, const char *place, enum cushim_reason reason, const char *result)
{
    if (record->reason == CUSHIM_REASON_NOT_FOUND)
        record->reason = reason;
    if (record->attempt_count == RECORD_ATTEMPTS || record->text_used + strlen(place) > MOST_ATTEMPTS_TEXT)
        return;
    struct record_pair *attempt = &record->attempts[record->attempt_count++];
    attempt->name = add_text(record, place, SIZE_MAX);
    attempt->value = add_text(record, result, SIZE_MAX);
    attempt->reason = reason;
}

void cushim_priv_record_variable(struct record *record, const char *name, const char *value, bool used)
{
    for (size_t i = 0; i < record->variable_count; i++) {
        if (strcmp(record->text + record->variables[i].name, name) == 0)
            return;
    }
    if (record->variable_count == RECORD_VARIABLES)
        return;
    struct record_pair *variable = &record->variables[record->variable_count++];
    variable->name = add_text(record, name, SIZE_MAX);
    variable->value = add_text(record, value, MOST_VALUE_TEXT);
    variable->used = used;
}

void cushim_priv_record_path(struct record *record, const char *path)
{
    record->path = add_text(record, path, SIZE_MAX);
}

void cushim_priv_record_outcome(struct record *record, enum cushim_reason reason, CUresult code, const char *format,
                                ...)
{
    record->reason = reason;
    record->code = code;
    record->message = 0;
    if (format == NULL)
        return;
    char message[RECORD_MESSAGE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
    record->message = add_text(record, message, SIZE_MAX);
}

void cushim_priv_record_failure(struct record *record, enum cushim_reason nothing)
{
    enum cushim_reason reason = record->reason == CUSHIM_REASON_NOT_FOUND ? nothing : record->reason;
    const char *message = reasons[reason].message;
    const struct record_pair *attempt = record->attempts;
    const struct record_pair *end = attempt + record->attempt_count;
    while (attempt != end && attempt->reason != record->reason)
        attempt++;
    if (attempt == end || reason == CUSHIM_REASON_NOT_FOUND)
        cushim_priv_record_outcome(record, reason, reasons[reason].code, NULL);
    else
        cushim_priv_record_outcome(record, reason, reasons[reason].code, "%.*s (%s: %s).", (int)strlen(message) - 1,
                                   message, record->text + attempt->name, record->text + attempt->value);
}

/* Lays the record out as a diagnosis whose strings stand in `to` itself. */
static void lay_out(struct kept *to, const struct record *record)
{
    memcpy(to->text, record->text, record->text_used);
    to->text_used = record->text_used;
    for (size_t i = 0; i < record->attempt_count; i++)
        to->attempts[i] = (struct cushim_attempt){to->text + record->attempts[i].name,
                                                  to->text + record->attempts[i].value, record->attempts[i].reason};
    for (size_t i = 0; i < record->variable_count; i++)
        to->variables[i] = (struct cushim_variable){to->text + record->variables[i].name,
                                                    to->text + record->variables[i].value, record->variables[i].used};
    const struct reason *reason = &reasons[record->reason];
    to->diagnosis = (struct cushim_diagnosis){
        .reason = record->reason,
        .code = record->code,
        .reason_name = reason->word,
        .message = record->message != 0 ? to->text + record->message : reason->message,
        .advice = reason->advice,
        .path = record->path != 0 ? to->text + record->path : NULL,
        .cuda_version = record->cuda_version,
        .attempts = to->attempts,
        .attempt_count = record->attempt_count,
        .variables = to->variables,
        .variable_count = record->variable_count,
    };
}

static bool uses_the_same(const struct kept *kept, const struct record *record)
{
    for (size_t i = 0; i < record->variable_count; i++) {
        if (kept->variables[i].used != record->variables[i].used)
            return false;
    }
    return true;
}

static bool says_the_same(const struct kept *kept, const struct record *record)
{
    return kept->diagnosis.reason == record->reason && kept->diagnosis.code == record->code
           && kept->diagnosis.cuda_version == record->cuda_version
           && kept->diagnosis.attempt_count == record->attempt_count
           && kept->diagnosis.variable_count == record->variable_count && kept->text_used == record->text_used
           && memcmp(kept->text, record->text, record->text_used) == 0 && uses_the_same(kept, record);
}

const struct cushim_diagnosis *cushim_priv_record_keep(const struct record *record)
{
    struct kept *kept = newest;
    while (kept != NULL && !says_the_same(kept, record))
        kept = kept->older;
    if (kept == NULL) {
        kept = malloc(sizeof *kept + record->text_used);
        if (kept == NULL)
            return &bare[record->reason];
        lay_out(kept, record);
        kept->older = newest;
        newest = kept;
    }
    return &kept->diagnosis;
}

const struct cushim_diagnosis *cushim_priv_record_publish(const struct record *record)
{
    const struct cushim_diagnosis *diagnosis = cushim_priv_record_keep(record);
    CUSHIM_STORE_RELEASE(&current, diagnosis);
    return diagnosis;
}

void cushim_priv_record_reset(void)
{
    CUSHIM_STORE_RELEASE(&current, &bare[CUSHIM_REASON_NOT_TRIED]);
    while (newest != NULL) {
        struct kept *kept = newest;
        newest = kept->older;
        free(kept);
    }
}
