/* SPDX-License-Identifier: MIT */
/* The fields of calls: as the schema of a file describes them, and their values in a record. */
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* Reads "v4 unsigned int Flags". */
static bool field_parse(char *text, struct trace_slot_field *field)
{
    char *type = strchr(text, ' '), *name = strrchr(text, ' ');
    field->kind = text[0];
    field->size = text[0] != '\0' ? (size_t)strtoul(text + 1, NULL, 10) : 0;
    bool has_size = field->kind != TRACE_TEXT && field->kind != TRACE_POINTER;
    if (type == NULL || name == type || strchr("voibtp", field->kind) == NULL || field->size > TRACE_CHUNK_SIZE / 8
        || has_size != (field->size != 0))
        return false;
    *name = '\0';
    field->name = name + 1;
    size_t length = strlen(++type);
    if (field->kind != TRACE_VALUE && length > 0 && type[length - 1] == '*')
        length--;
    while (length > 0 && type[length - 1] == ' ')
        length--;
    field->value = trace_type_find(type, length);
    return true;
}

bool trace_slot_parse(char *line, struct trace_slot *slot)
{
    char *rest = line, *name = strsep(&rest, "|"), *abi = strchr(name, ' ');
    if (abi == NULL)
        return false;
    slot->number = trace_function_find(name, (size_t)(abi - name));
    if (strcmp(abi, " v1") == 0)
        *abi = '\0';
    else
        *abi = '_';
    slot->function = name;
    for (char *field; (field = strsep(&rest, "|")) != NULL; slot->field_count++) {
        if (slot->field_count == TRACE_MAX_FIELDS || !field_parse(field, &slot->fields[slot->field_count]))
            return false;
        trace_type_find_flags(name, slot->fields[slot->field_count].name, &slot->fields[slot->field_count].value);
    }
    return true;
}

size_t trace_field_words(const struct trace_slot_field *field, const uint64_t *at, size_t room)
{
    size_t value = TRACE_WORDS_OF(field->size), words = 1;
    switch (field->kind) {
    case TRACE_VALUE:
        words = value;
        break;
    case TRACE_OUT:
    case TRACE_IN:
        words = 1 + value;
        break;
    case TRACE_IN_OUT:
        words = 1 + 2 * value;
        break;
    case TRACE_TEXT:
        words = room >= 2 && at[1] <= TRACE_TEXT_MAX ? 2 + TRACE_WORDS_OF(at[1]) : room + 1;
        break;
    default:
        break;
    }
    return words <= room ? words : 0;
}

const uint64_t *trace_field_value(const struct trace_slot_field *field, const uint64_t *at, bool has_succeeded)
{
    switch (field->kind) {
    case TRACE_VALUE:
    case TRACE_POINTER:
        return at;
    case TRACE_IN:
        return at[0] != 0 ? at + 1 : NULL;
    case TRACE_OUT:
        return at[0] != 0 && has_succeeded ? at + 1 : NULL;
    case TRACE_IN_OUT:
        return at[0] != 0 && has_succeeded ? at + 1 + TRACE_WORDS_OF(field->size) : NULL;
    default:
        return NULL;
    }
}

int trace_field_stream(const struct trace_slot_field *field)
{
    size_t word = field->value.stream;
    if (word == 0 || word > TRACE_WORDS_OF(field->size) || (field->kind != TRACE_VALUE && field->kind != TRACE_IN))
        return -1;
    return (int)word - (field->kind == TRACE_VALUE ? 1 : 0);
}

const uint64_t *trace_find_field(const struct trace_slot *slot, const struct trace_call *call, const char *name)
{
    const uint64_t *at = call->fields, *end = call->fields + call->words;
    for (size_t i = 0; i < slot->field_count; i++) {
        size_t words = trace_field_words(&slot->fields[i], at, (size_t)(end - at));
        if (words == 0 || strcmp(slot->fields[i].name, name) == 0)
            return words != 0 ? at : NULL;
        at += words;
    }
    return NULL;
}

uint64_t trace_word(const struct trace_call *call, int index)
{
    return index >= 0 && (size_t)index < call->words ? call->fields[index] : 0;
}

const uint64_t *trace_next_kernel_argument(const struct trace_call *call, size_t *at, size_t *out_size)
{
    size_t left = *at < call->argument_words ? call->argument_words - *at : 0;
    uint64_t size = left > 0 ? call->arguments[*at] : 0;
    bool is_cut = size == TRACE_ARGUMENTS_CUT;
    *out_size = is_cut ? SIZE_MAX : (size_t)size;
    if (left == 0 || is_cut || size > 8 * (left - 1))
        return NULL;
    const uint64_t *found = &call->arguments[*at + 1];
    *at += 1 + TRACE_WORDS_OF(size);
    return found;
}
