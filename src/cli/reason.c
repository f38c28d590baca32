/* SPDX-License-Identifier: MIT */
#include "reason.h"

static const struct {
    const char *word;
    const char *message;
    const char *advice;
} reasons[CUSHIM_REASON_COUNT] = {
#define CUSHIM_REASON(name, word, code, message, advice) {word, message, advice},
#include "cushim/reasons.h"
};

const char *reason_word(enum cushim_reason reason)
{
    return reasons[reason].word;
}

const char *reason_message(enum cushim_reason reason)
{
    return reasons[reason].message;
}

const char *reason_advice(enum cushim_reason reason)
{
    return reasons[reason].advice;
}
