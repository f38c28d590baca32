/* SPDX-License-Identifier: MIT */
#include "reason.h"

const struct cushim_diagnosis cush_reasons[CUSHIM_REASON_COUNT] = {
#define CUSHIM_REASON(name, word, code, message, advice)                                                               \
    {CUSHIM_REASON_##name, code, word, message, advice, NULL, 0, NULL, 0, NULL, 0, {NULL}},
#include "cushim/reasons.h"
};

static const struct cushim_diagnosis *reason_find(enum cushim_reason reason)
{
    return &cush_reasons[(unsigned)reason < CUSHIM_REASON_COUNT ? reason : CUSHIM_REASON_UNKNOWN];
}

const char *cushim_reason_name(enum cushim_reason reason)
{
    return reason_find(reason)->reason_name;
}

const char *cushim_reason_message(enum cushim_reason reason)
{
    return reason_find(reason)->message;
}

const char *cushim_reason_advice(enum cushim_reason reason)
{
    return reason_find(reason)->advice;
}
