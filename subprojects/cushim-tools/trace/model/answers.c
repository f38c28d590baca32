/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include <string.h>

#include "cushim/abi/cuda_abi.h"
#include "places.h"

static const struct answer {
    const char *function;
    unsigned result;
    enum { ANYBODY, CUDA_LIBRARY, NEW_VERSION, NO_FUNCTION } asker;
    const char *meaning;
} answers[] = {
#define TRACE_ANSWER(function, result, asker, meaning) {function, result, asker, meaning},
#include "../file/answers.inc"
};

/* Whether the call is one of any version of the function. */
static bool is_call_of(const char *name, const char *function)
{
    size_t length = strlen(function);
    return length == 0 || (strncmp(name, function, length) == 0 && trace_plain_length(name) == length);
}

static bool is_asked_by(const struct trace_reader *reader, const struct trace_call *call, const struct answer *answer)
{
    const struct trace_slot *slot = &reader->slots[call->slot];
    const uint64_t *symbol = trace_find_field(slot, call, "symbol"), *pointer = trace_find_field(slot, call, "pfn");
    bool has_pointer = pointer != NULL && pointer + 1 < call->fields + call->words && pointer[0] != 0;
    switch (answer->asker) {
    case CUDA_LIBRARY:
        return trace_is_from_cuda_library(reader, call);
    case NEW_VERSION:
        return has_pointer && symbol != NULL && symbol[0] != 0 && symbol[1] != 0;
    case NO_FUNCTION:
        return has_pointer && pointer[1] == 0;
    default:
        return true;
    }
}

const char *trace_answer_of(const struct trace_reader *reader, const struct trace_call *call)
{
    for (size_t i = 0; call->returned && i < sizeof answers / sizeof answers[0]; i++) {
        if (answers[i].result == call->result && is_call_of(reader->slots[call->slot].function, answers[i].function)
            && is_asked_by(reader, call, &answers[i]))
            return answers[i].meaning;
    }
    return NULL;
}

bool trace_has_failed(const struct trace_reader *reader, const struct trace_call *call)
{
    return call->returned && call->result != CUDA_SUCCESS && trace_answer_of(reader, call) == NULL;
}
