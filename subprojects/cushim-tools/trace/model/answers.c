/* SPDX-License-Identifier: MIT */
#include "answers.h"

#include "cushim/abi/cuda_abi.h"
#include "places.h"

static const struct answer {
    enum trace_function function;
    unsigned result;
    enum { ANYBODY, CUDA_LIBRARY, NEW_VERSION, NO_FUNCTION } asker;
    const char *meaning;
} answers[] = {
#define TRACE_ANSWER(function, result, asker, meaning) {TRACE_FUNCTION_##function, result, asker, meaning},
#include "../file/answers.inc"
};

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
    enum trace_function function = reader->slots[call->slot].number;
    for (size_t i = 0; call->returned && i < sizeof answers / sizeof answers[0]; i++) {
        if (answers[i].result == call->result
            && (answers[i].function == TRACE_FUNCTION_ANY || answers[i].function == function)
            && is_asked_by(reader, call, &answers[i]))
            return answers[i].meaning;
    }
    return NULL;
}

bool trace_has_failed(const struct trace_reader *reader, const struct trace_call *call)
{
    return call->returned && call->result != CUDA_SUCCESS && trace_answer_of(reader, call) == NULL;
}
