/* SPDX-License-Identifier: MIT */
#include "diagnosis.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "os.h"

/* As in error_names.h, the texts stand in one block, and rows have offsets into it. */
static const struct reason_texts {
#define CUSHIM_REASON(id, name, code, message, advice)                                                                 \
    char name_##id[sizeof name], message_##id[sizeof message], advice_##id[sizeof advice];
#include "cushim/reasons.h"
} reason_texts = {
#define CUSHIM_REASON(id, name, code, message, advice) name, message, advice,
#include "cushim/reasons.h"
};

static const struct reason_row {
    uint16_t code, name, message, advice;
} reason_rows[CUSHIM_REASON_COUNT] = {
#define CUSHIM_REASON(id, name, code, message, advice)                                                                 \
    {code, offsetof(struct reason_texts, name_##id), offsetof(struct reason_texts, message_##id),                      \
     offsetof(struct reason_texts, advice_##id)},
#include "cushim/reasons.h"
};

_Static_assert(sizeof reason_texts <= UINT16_MAX, "an offset has 16 bits");

static const char *reason_text(size_t offset)
{
    return (const char *)&reason_texts + offset;
}

static const struct reason_row *reason_find(enum cushim_reason reason)
{
    return &reason_rows[(unsigned)reason < CUSHIM_REASON_COUNT ? reason : CUSHIM_REASON_UNKNOWN];
}

const char *cushim_reason_name(enum cushim_reason reason)
{
    return reason_text(reason_find(reason)->name);
}

const char *cushim_reason_message(enum cushim_reason reason)
{
    return reason_text(reason_find(reason)->message);
}

const char *cushim_reason_advice(enum cushim_reason reason)
{
    return reason_text(reason_find(reason)->advice);
}

CUresult cush_reason_code(enum cushim_reason reason)
{
    return (CUresult)reason_find(reason)->code;
}

/* Every diagnosis so far, the newest first. A diagnosis is never freed, because a program may use it. */
struct stored_diagnosis {
    struct stored_diagnosis *older;
    struct cushim_diagnosis diagnosis;
    struct cushim_attempt attempts[DIAGNOSIS_ATTEMPTS];
    struct cushim_variable variables[DIAGNOSIS_VARIABLES];
    unsigned text_used;
    bool is_spare;
    char *text;
};

/* Static fallbacks, so that a program prints the true reason even without memory: one for a load, one for cuInit. The
 * diagnosis of a search in all known paths fits. A builder without memory writes where its diagnosis will be. */
enum { MAX_SPARES = 2, SPARE_TEXT = 8192 };
static struct stored_diagnosis spares[MAX_SPARES];
static char spare_text[SPARE_TEXT + 1];
static size_t used_spares, used_spare_text;

/* Limits, so that an early text does not use up the room of a later one. A value is long after a mistake, attempts are
 * long below a deep root and take two thirds, and the path and the message come last. */
enum { MAX_VALUE_TEXT = 1024 };
_Static_assert(DIAGNOSIS_TEXT / 3 >= OS_PATH_SIZE + DIAGNOSIS_MESSAGE, "a path and a message fit into a third");

static struct stored_diagnosis *newest_diagnosis;
static const struct cushim_diagnosis not_tried = {.reason = CUSHIM_REASON_NOT_TRIED,
                                                  .reason_name = reason_texts.name_NOT_TRIED,
                                                  .message = reason_texts.message_NOT_TRIED,
                                                  .advice = reason_texts.advice_NOT_TRIED};
static const struct cushim_diagnosis *current_diagnosis = &not_tried;

const struct cushim_diagnosis *cushim_diagnosis_get(void)
{
    return CUSHIM_LOAD_ACQUIRE(&current_diagnosis);
}

/* Appends a string to the text, cut to `max_length` bytes, and returns its offset. The empty string is at offset 0. */
static unsigned builder_add_text(struct diagnosis_builder *builder, const char *string, size_t max_length)
{
    size_t room = builder->text_size - builder->text_used;
    if (string == NULL || string[0] == '\0' || room < 2)
        return 0;
    size_t length = strlen(string);
    if (length > max_length)
        length = max_length;
    if (length > room - 1)
        length = room - 1;
    unsigned start = builder->text_used;
    memcpy(builder->text + start, string, length);
    builder->text[start + length] = '\0';
    builder->text_used += (unsigned)length + 1;
    return start;
}

/* Appends a formatted text, of which an argument can be a string of the builder. */
static CUSHIM_COLD unsigned builder_add_format(struct diagnosis_builder *builder, const char *format, va_list arguments)
{
    size_t room = builder->text_size - builder->text_used;
    if (room < 2)
        return 0;
    unsigned start = builder->text_used;
    int length =
        vsnprintf(builder->text + start, room < DIAGNOSIS_MESSAGE ? room : DIAGNOSIS_MESSAGE, format, arguments);
    if (length <= 0)
        return 0;
    builder->text_used += (unsigned)strlen(builder->text + start) + 1;
    return start;
}

void cush_diagnosis_begin(struct diagnosis_builder *builder, char *text, unsigned size)
{
    *builder =
        (struct diagnosis_builder){.reason = CUSHIM_REASON_NOT_FOUND, .text = text, .text_size = size, .text_used = 1};
    text[0] = '\0';
}

static void builder_free_text(struct diagnosis_builder *builder)
{
    char *text = builder->text;
    if (builder->text_size != DIAGNOSIS_TEXT) /* it is that of a spare */
        return;
    builder->text = NULL; /* first, so that a child of fork() does not free it again */
    free(text);
}

struct diagnosis_builder *cush_diagnosis_start(void)
{
    static struct diagnosis_builder only_builder;
    builder_free_text(&only_builder); /* in a child of fork() whose parent was in a load */
    char *text = malloc(DIAGNOSIS_TEXT);
    if (text != NULL)
        cush_diagnosis_begin(&only_builder, text, DIAGNOSIS_TEXT);
    else
        cush_diagnosis_begin(&only_builder, spare_text + used_spare_text, (unsigned)(SPARE_TEXT + 1 - used_spare_text));
    return &only_builder;
}

struct diagnosis_builder *cush_diagnosis_start_from(const struct cushim_diagnosis *diagnosis)
{
    struct diagnosis_builder *builder = cush_diagnosis_start();
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        cush_diagnosis_add_attempt(builder, diagnosis->attempts[i].path, diagnosis->attempts[i].reason,
                                   diagnosis->attempts[i].file, "%s", diagnosis->attempts[i].result);
    cush_diagnosis_set_path(builder, diagnosis->path);
    builder->cuda_version = diagnosis->cuda_version;
    return builder;
}

void cush_diagnosis_add_attempt(struct diagnosis_builder *builder, const char *path, enum cushim_reason reason,
                                const char *file, const char *result, ...)
{
    va_list arguments;
    if (builder->reason == CUSHIM_REASON_NOT_FOUND)
        builder->reason = reason;
    size_t length = strlen(path) + (file != NULL ? strlen(file) : 0);
    if (builder->attempt_count == DIAGNOSIS_ATTEMPTS || builder->text_used + length > builder->text_size / 3 * 2)
        return;
    struct builder_attempt *attempt = &builder->attempts[builder->attempt_count++];
    attempt->path = builder_add_text(builder, path, SIZE_MAX);
    va_start(arguments, result);
    attempt->result = builder_add_format(builder, result, arguments);
    va_end(arguments);
    attempt->file = builder_add_text(builder, file, SIZE_MAX);
    attempt->reason = reason;
}

void cush_diagnosis_add_variable(struct diagnosis_builder *builder, const char *name, const char *value, bool is_used)
{
    if (builder->variable_count == DIAGNOSIS_VARIABLES)
        return;
    struct builder_variable *variable = &builder->variables[builder->variable_count++];
    variable->name = builder_add_text(builder, name, SIZE_MAX);
    variable->value = builder_add_text(builder, value, MAX_VALUE_TEXT);
    variable->is_used = is_used;
}

void cush_diagnosis_set_path(struct diagnosis_builder *builder, const char *path)
{
    builder->path = builder_add_text(builder, path, SIZE_MAX);
}

CUSHIM_COLD void cush_diagnosis_set_outcome(struct diagnosis_builder *builder, enum cushim_reason reason, CUresult code,
                                            const char *format, ...)
{
    builder->reason = reason;
    builder->code = code;
    builder->message = 0;
    builder->advice = NULL;
    if (format == NULL)
        return;
    va_list arguments;
    va_start(arguments, format);
    builder->message = builder_add_format(builder, format, arguments);
    va_end(arguments);
}

/* Whether the file can be the wrong one. Then a person who named it should name another one. */
static bool reason_is_of_file(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_LOADABLE || reason == CUSHIM_REASON_NOT_A_DRIVER || reason == CUSHIM_REASON_STUB
           || reason == CUSHIM_REASON_NEEDS_LIBRARY || reason == CUSHIM_REASON_DAMAGED;
}

void cush_diagnosis_set_failure(struct diagnosis_builder *builder, bool is_named)
{
    enum cushim_reason reason = builder->reason;
    if (reason == CUSHIM_REASON_NOT_FOUND && is_named)
        reason = CUSHIM_REASON_NO_SUCH_FILE;
    const char *message = cushim_reason_message(reason);
    const struct builder_attempt *attempt = builder->attempts;
    const struct builder_attempt *end = attempt + builder->attempt_count;
    while (attempt != end && attempt->reason != builder->reason)
        attempt++;
    if (attempt == end || reason == CUSHIM_REASON_NOT_FOUND)
        cush_diagnosis_set_outcome(builder, reason, cush_reason_code(reason), NULL);
    else
        cush_diagnosis_set_outcome(builder, reason, cush_reason_code(reason), "%.*s (%s: %s).",
                                   (int)strlen(message) - 1, message, builder->text + attempt->path,
                                   builder->text + attempt->result);
    if (is_named && reason_is_of_file(reason))
        builder->advice = cushim_reason_advice(CUSHIM_REASON_NO_SUCH_FILE);
}

const char *cush_diagnosis_message(const struct diagnosis_builder *builder)
{
    return builder->message != 0 ? builder->text + builder->message : cushim_reason_message(builder->reason);
}

/* Copies the builder into a diagnosis whose strings are in `to` itself. */
static void stored_diagnosis_fill(struct stored_diagnosis *to, const struct diagnosis_builder *builder)
{
    memmove(to->text, builder->text, builder->text_used);
    to->text_used = builder->text_used;
    for (size_t i = 0; i < builder->attempt_count; i++) {
        const struct builder_attempt *attempt = &builder->attempts[i];
        to->attempts[i] = (struct cushim_attempt){
            .path = to->text + attempt->path,
            .result = to->text + attempt->result,
            .reason = attempt->reason,
            .file = attempt->file != 0 ? to->text + attempt->file : NULL,
        };
    }
    for (size_t i = 0; i < builder->variable_count; i++)
        to->variables[i] = (struct cushim_variable){.name = to->text + builder->variables[i].name,
                                                    .value = to->text + builder->variables[i].value,
                                                    .is_used = builder->variables[i].is_used};
    to->diagnosis = (struct cushim_diagnosis){
        .reason = builder->reason,
        .code = builder->code,
        .reason_name = cushim_reason_name(builder->reason),
        .message = builder->message != 0 ? to->text + builder->message : cushim_reason_message(builder->reason),
        .advice = builder->advice != NULL ? builder->advice : cushim_reason_advice(builder->reason),
        .path = builder->path != 0 ? to->text + builder->path : NULL,
        .cuda_version = builder->cuda_version,
        .attempts = to->attempts,
        .attempt_count = builder->attempt_count,
        .variables = to->variables,
        .variable_count = builder->variable_count,
    };
}

static bool stored_diagnosis_has_uses(const struct stored_diagnosis *stored, const struct diagnosis_builder *builder)
{
    for (size_t i = 0; i < builder->variable_count; i++) {
        if (stored->variables[i].is_used != builder->variables[i].is_used)
            return false;
    }
    return true;
}

static bool stored_diagnosis_equals(const struct stored_diagnosis *stored, const struct diagnosis_builder *builder)
{
    return stored->diagnosis.reason == builder->reason && stored->diagnosis.code == builder->code
           && stored->diagnosis.cuda_version == builder->cuda_version
           && (builder->advice == NULL || stored->diagnosis.advice == builder->advice)
           && stored->diagnosis.attempt_count == builder->attempt_count
           && stored->diagnosis.variable_count == builder->variable_count && stored->text_used == builder->text_used
           && memcmp(stored->text, builder->text, builder->text_used) == 0
           && stored_diagnosis_has_uses(stored, builder);
}

static struct stored_diagnosis *stored_diagnosis_allocate(size_t text_size)
{
    struct stored_diagnosis *stored = malloc(sizeof *stored + text_size);
    if (stored != NULL) {
        stored->text = (char *)(stored + 1);
        stored->is_spare = false;
    } else if (used_spares < MAX_SPARES && text_size < SPARE_TEXT - used_spare_text) { /* else it may be cut */
        stored = &spares[used_spares++];
        stored->text = spare_text + used_spare_text;
        stored->is_spare = true;
        used_spare_text += text_size;
    }
    return stored;
}

/* A diagnosis that contains only the reason and its texts. */
static const struct cushim_diagnosis *diagnosis_without_memory(enum cushim_reason reason)
{
    static struct cushim_diagnosis diagnoses[CUSHIM_REASON_COUNT]; /* each is written once */
    struct cushim_diagnosis *diagnosis = &diagnoses[reason];
    if (diagnosis->reason_name == NULL)
        *diagnosis = (struct cushim_diagnosis){.reason = reason,
                                               .code = cush_reason_code(reason),
                                               .reason_name = cushim_reason_name(reason),
                                               .message = cushim_reason_message(reason),
                                               .advice = cushim_reason_advice(reason)};
    return diagnosis;
}

static const struct cushim_diagnosis *diagnosis_store(const struct diagnosis_builder *builder)
{
    struct stored_diagnosis *stored = newest_diagnosis;
    while (stored != NULL && !stored_diagnosis_equals(stored, builder))
        stored = stored->older;
    if (stored == NULL) {
        stored = stored_diagnosis_allocate(builder->text_used);
        if (stored == NULL)
            return diagnosis_without_memory(builder->reason);
        stored_diagnosis_fill(stored, builder);
        stored->older = newest_diagnosis;
        newest_diagnosis = stored;
    }
    return &stored->diagnosis;
}

const struct cushim_diagnosis *cush_diagnosis_publish(struct diagnosis_builder *builder)
{
    const struct cushim_diagnosis *diagnosis = diagnosis_store(builder);
    builder_free_text(builder);
    CUSHIM_STORE_RELEASE(&current_diagnosis, diagnosis);
    return diagnosis;
}

void cush_diagnosis_reset(void)
{
    CUSHIM_STORE_RELEASE(&current_diagnosis, &not_tried);
    while (newest_diagnosis != NULL) {
        struct stored_diagnosis *stored = newest_diagnosis;
        newest_diagnosis = stored->older;
        if (!stored->is_spare)
            free(stored);
    }
    used_spares = used_spare_text = 0;
}
