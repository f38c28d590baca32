/* SPDX-License-Identifier: MIT */
#include "effects.h"

#include <string.h>

const struct trace_object_row trace_object_rows[] = {
#define TRACE_OBJECT(row, type, word, flags, creators, destroyers)                                                     \
    {TRACE_TYPE_##type, word, flags, creators, destroyers},
#include "objects.inc"
};

/* Whether a field has the type of a row, itself or behind a pointer. */
static bool has_type(const struct trace_slot_field *field, enum trace_row row)
{
    enum trace_type_number type = field->value.number;
    if (type == TRACE_TYPE_CUdeviceptr_v1)
        type = TRACE_TYPE_CUdeviceptr;
    return type != TRACE_TYPE_UNKNOWN && type == trace_object_rows[row].type;
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
        if (has_type(parameter, row))
            return true;
        field->what = USE;
        if (parameter->kind == TRACE_IN && parameter->value.stream != 0 && row == TRACE_ROW_STREAM)
            return true;
    }
    return false;
}

static enum trace_context_effect context_effect(enum trace_function function)
{
    switch (function) {
    case TRACE_FUNCTION_cuCtxSetCurrent:
        return SET_CONTEXT;
    case TRACE_FUNCTION_cuCtxGetCurrent:
        return SEE_CONTEXT;
    case TRACE_FUNCTION_cuCtxPushCurrent:
    case TRACE_FUNCTION_cuCtxCreate:
    case TRACE_FUNCTION_cuGLCtxCreate:
    case TRACE_FUNCTION_cuD3D11CtxCreate:
    case TRACE_FUNCTION_cuD3D11CtxCreateOnDevice:
    case TRACE_FUNCTION_cuVDPAUCtxCreate:
        return PUSH_CONTEXT;
    case TRACE_FUNCTION_cuCtxPopCurrent:
        return POP_CONTEXT;
    case TRACE_FUNCTION_cuCtxDestroy:
        return DESTROY_CONTEXT;
    case TRACE_FUNCTION_cuDevicePrimaryCtxRetain:
        return RETAIN_PRIMARY;
    case TRACE_FUNCTION_cuDevicePrimaryCtxRelease:
        return RELEASE_PRIMARY;
    case TRACE_FUNCTION_cuDevicePrimaryCtxReset:
        return RESET_PRIMARY;
    default:
        return NO_CONTEXT;
    }
}

/* The only parameter with the type size_t, and the element before it, of which that is the number (cuMemsetD16); or the
 * pitch and the height of cuMemAllocPitch. */
static void effect_find_size(const struct trace_slot *slot, struct trace_object_effect *effect)
{
    int index = 0, sizes = 0, pitch = -1, height = -1;
    effect->size = effect->rows = -1;
    effect->unit = 1;
    for (size_t i = 0; i < slot->field_count && slot->fields[i].kind != TRACE_TEXT; i++) {
        const struct trace_slot_field *parameter = &slot->fields[i];
        if (parameter->kind == TRACE_VALUE && parameter->value.number == TRACE_TYPE_size_t) {
            effect->size = sizes++ == 0 ? index : -1;
            if (i > 0 && slot->fields[i - 1].value.number == TRACE_TYPE_unsigned_short)
                effect->unit = 2;
            else if (i > 0 && slot->fields[i - 1].value.number == TRACE_TYPE_unsigned_int)
                effect->unit = 4;
        }
        pitch = strcmp(parameter->name, "pPitch") == 0 ? index + 1 : pitch;
        height = strcmp(parameter->name, "Height") == 0 ? index : height;
        index += (int)trace_field_words(parameter, NULL, SIZE_MAX);
    }
    if (pitch >= 0) {
        effect->size = pitch;
        effect->rows = height;
    }
}

uint64_t trace_effect_bytes(const struct trace_object_effect *effect, const struct trace_call *call)
{
    uint64_t rows = effect->rows >= 0 ? trace_word(call, effect->rows) : 1;
    return effect->size >= 0 ? trace_word(call, effect->size) * effect->unit * rows : 0;
}

void trace_effect_find(const struct trace_slot *slot, struct trace_object_effect *effect)
{
    int index = 0;
    effect->is_known = true;
    effect_find_size(slot, effect);
    effect->context = context_effect(slot->number);
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
