/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <stdio.h>
#include <string.h>

const struct trace_object_row trace_object_rows[] = {
#define TRACE_OBJECT(row, type, word, flags, creators, destroyers) {type, word, flags, creators, destroyers},
#include "objects.inc"
};

/* Whether a field has the type of a row, itself or behind a pointer. */
static bool has_type(const struct trace_slot_field *field, const char *type)
{
    size_t length = strlen(type);
    const char *rest = field->type + length;
    if (strncmp(field->type, type, length) != 0 || type[length - 1] == '*')
        return false;
    return strcmp(rest, field->kind == TRACE_VALUE ? "" : " *") == 0
           || strcmp(rest, field->kind == TRACE_VALUE ? "_v1" : "_v1 *") == 0;
}

static bool field_find(const struct trace_slot *slot, const struct trace_slot_field *parameter,
                       struct trace_object_field *field)
{
    for (enum trace_row row = 0; row < TRACE_OBJECT_ROWS; row++) {
        char how = trace_find_parameter(trace_object_rows[row].creators, slot->function, parameter->name);
        bool destroys =
            trace_find_parameter(trace_object_rows[row].destroyers, slot->function, parameter->name) != '\0';
        field->row = row;
        field->what = how == '+' ? CREATE_COUNTED : how == '=' ? CREATE_ONCE : how != '\0' ? CREATE : DESTROY;
        if (how != '\0' || destroys)
            return true;
    }
    for (enum trace_row row = 0; row < TRACE_OBJECT_ROWS && parameter->kind != TRACE_POINTER; row++) {
        field->row = row;
        field->what = parameter->kind == TRACE_VALUE ? USE : SEEN;
        if (has_type(parameter, trace_object_rows[row].type))
            return true;
        field->what = USE;
        if (parameter->kind == TRACE_IN && parameter->value.stream != 0 && row == TRACE_ROW_STREAM)
            return true;
    }
    return false;
}

static void effect_find_context(const char *function, struct trace_object_effect *effect)
{
    static const struct {
        const char *name;
        enum trace_context_effect context;
    } functions[] = {
        {"cuCtxSetCurrent", SET_CONTEXT},
        {"cuCtxGetCurrent", SEE_CONTEXT},
        {"cuCtxPushCurrent", PUSH_CONTEXT},
        {"cuCtxCreate", PUSH_CONTEXT},
        {"cuGLCtxCreate", PUSH_CONTEXT},
        {"cuD3D11CtxCreate", PUSH_CONTEXT},
        {"cuD3D11CtxCreateOnDevice", PUSH_CONTEXT},
        {"cuVDPAUCtxCreate", PUSH_CONTEXT},
        {"cuCtxPopCurrent", POP_CONTEXT},
        {"cuCtxDestroy", DESTROY_CONTEXT},
        {"cuDevicePrimaryCtxRetain", RETAIN_PRIMARY},
        {"cuDevicePrimaryCtxRelease", RELEASE_PRIMARY},
        {"cuDevicePrimaryCtxReset", RESET_PRIMARY},
    };
    size_t length = trace_plain_length(function);
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        if (strncmp(functions[i].name, function, length) == 0 && functions[i].name[length] == '\0')
            effect->context = functions[i].context;
    }
}

/* The only parameter with the type size_t, and the element before it, of which that is the number (cuMemsetD16). */
static void effect_find_size(const struct trace_slot *slot, struct trace_object_effect *effect)
{
    static const char *const elements[] = {"unsigned char", "unsigned short", "", "unsigned int"};
    int index = 0, sizes = 0;
    effect->size = -1;
    effect->unit = 1;
    for (size_t i = 0; i < slot->field_count && slot->fields[i].kind != TRACE_TEXT; i++) {
        const struct trace_slot_field *parameter = &slot->fields[i];
        if (parameter->kind == TRACE_VALUE && strcmp(parameter->type, "size_t") == 0) {
            effect->size = sizes++ == 0 ? index : -1;
            for (unsigned unit = 1; i > 0 && unit <= 4; unit *= 2) {
                if (strcmp(slot->fields[i - 1].type, elements[unit - 1]) == 0)
                    effect->unit = unit;
            }
        }
        index += (int)trace_field_words(parameter, NULL, SIZE_MAX);
    }
}

void trace_effect_find(const struct trace_slot *slot, struct trace_object_effect *effect)
{
    int index = 0;
    effect->is_known = true;
    effect_find_size(slot, effect);
    effect_find_context(slot->function, effect);
    for (size_t i = 0; i < slot->field_count && slot->fields[i].kind != TRACE_TEXT; i++) {
        const struct trace_slot_field *parameter = &slot->fields[i];
        struct trace_object_field *field = &effect->fields[effect->count];
        field->is_behind = parameter->kind == TRACE_OUT;
        field->index = index
                       + (field->is_behind                     ? 1
                          : trace_field_stream(parameter) >= 0 ? trace_field_stream(parameter)
                                                               : 0);
        if ((parameter->size <= sizeof(uint64_t) || trace_field_stream(parameter) >= 0)
            && field_find(slot, parameter, field))
            effect->count++;
        index += (int)trace_field_words(parameter, NULL, SIZE_MAX);
    }
}
