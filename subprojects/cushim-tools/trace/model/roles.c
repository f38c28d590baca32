/* SPDX-License-Identifier: MIT */
#include "roles.h"

#include <string.h>

#include "cushim/abi/cuda_abi.h"

enum { ALONE = 1, ALWAYS = 2 };

static const struct {
    enum trace_function function;
    enum trace_role_kind kind;
    unsigned flags;
} roles[] = {
#define TRACE_ROLE(function, role, flags) {TRACE_FUNCTION_##function, TRACE_##role, flags},
#include "roles.inc"
};

/* The indices of the arguments. Those behind a text have none. */
static void role_find_arguments(const struct trace_slot *slot, struct trace_role *role)
{
    int index = 0;
    role->stream = role->event = role->value = -1;
    for (size_t i = 0; i < slot->field_count; i++) {
        const struct trace_slot_field *field = &slot->fields[i];
        bool is_value = field->kind == TRACE_VALUE;
        enum trace_type_number type = field->value.number;
        if (trace_field_stream(field) >= 0 && role->stream < 0)
            role->stream = index + trace_field_stream(field);
        else if (is_value && type == TRACE_TYPE_CUevent && role->event < 0)
            role->event = index;
        else if (type == TRACE_TYPE_CUstreamCaptureMode)
            role->value = index + (is_value ? 0 : 1);
        else if (field->kind == TRACE_OUT && type == TRACE_TYPE_CUstreamCaptureStatus)
            role->value = index + 1;
        else if (is_value && (strcmp(field->name, "Flags") == 0 || strcmp(field->name, "flags") == 0))
            role->value = index;
        if (field->kind == TRACE_TEXT)
            break;
        index += (int)trace_field_words(field, NULL, SIZE_MAX);
    }
}

struct trace_role trace_role_find(const struct trace_slot *slot)
{
    struct trace_role role = {.kind = TRACE_OTHER};
    role_find_arguments(slot, &role);
    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++) {
        if (roles[i].function == slot->number) {
            role.kind = roles[i].kind;
            role.is_of_stream_alone = (roles[i].flags & ALONE) != 0;
            role.no_mode_permits = (roles[i].flags & ALWAYS) != 0;
        }
    }
    return role;
}

uint64_t trace_capture_status(const struct trace_role *role, const struct trace_call *call)
{
    bool has_status = call->returned && call->result == CUDA_SUCCESS && role->kind == TRACE_CAPTURE_STATUS
                      && role->value > 0 && trace_word(call, role->value - 1) != 0;
    return has_status ? trace_word(call, role->value) : CU_STREAM_CAPTURE_STATUS_NONE;
}
