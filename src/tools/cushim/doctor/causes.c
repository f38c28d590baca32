/* SPDX-License-Identifier: MIT */
/* Finds the row of causes.inc that explains why CUDA cannot be used. */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

#include "calls.h"

static const struct cause {
    const char *word, *check, *codes, *calls, *paths, *errors;
    bool (*holds)(const struct doctor *doctor);
    const char *message, *advice;
} causes[] = {
#define CAUSE(word, check, codes, calls, paths, errors, evidence, seen, title, message, advice)                        \
    {#word, #check, codes, calls, paths, errors, evidence_##evidence, message, advice},
#include "causes.inc"
};

/* How the start ended, as in the list: a number, "crash" or "hang"; "" if it was not tried. */
static void outcome_text(const struct doctor *doctor, char *text, size_t size)
{
    const struct start *start = doctor->start;
    text[0] = '\0';
    if (start->outcome == START_FAILED)
        snprintf(text, size, "%d", (int)start->code);
    else if (start->outcome == START_CRASHED || start->outcome == START_STUCK)
        snprintf(text, size, "%s", start->outcome == START_CRASHED ? "crash" : "hang");
}

static bool cause_matches(const struct cause *cause, const struct doctor *doctor, const char *outcome)
{
    const struct operation *operation = doctor->operation;
    if (cause->codes[0] != '\0' && (outcome[0] == '\0' || !pattern_matches(cause->codes, outcome)))
        return false;
    if (cause->calls[0] != '\0'
        && (operation == NULL || !pattern_matches(cause->calls, operation->call)
            || !pattern_matches(cause->paths, operation->path)
            || !pattern_matches(cause->errors, calls_error_name(operation->error))))
        return false;
    return cause->holds(doctor);
}

/* Replaces the {names} of a text. */
static void cause_format(const struct doctor *doctor, const char *pattern, char *text, size_t size)
{
    size_t used = 0;
    while (*pattern != '\0' && used + 1 < size) {
        size_t length = *pattern == '{' ? strcspn(pattern, "}") : 0;
        char name[32], fact[640];
        if (length == 0 || length > sizeof name) {
            text[used++] = *pattern++;
            continue;
        }
        snprintf(name, sizeof name, "%.*s", (int)length - 1, pattern + 1);
        evidence_text(doctor, name, fact, sizeof fact);
        int written = snprintf(text + used, size - used, "%s", fact);
        used += (size_t)written < size - used ? (size_t)written : size - used - 1;
        pattern += length + 1;
    }
    text[used] = '\0';
}

void doctor_find_cause(struct doctor *doctor)
{
    char outcome[16], message[1024], advice[1024], result[160] = "";
    const struct start *start = doctor->start;
    const struct cause *cause = NULL;
    if (doctor->started)
        return;
    outcome_text(doctor, outcome, sizeof outcome);
    for (size_t i = 0; i < sizeof causes / sizeof causes[0] && cause == NULL; i++)
        cause = cause_matches(&causes[i], doctor, outcome) ? &causes[i] : NULL;
    if (cause == NULL)
        return;
    cause_format(doctor, cause->message, message, sizeof message);
    cause_format(doctor, cause->advice, advice, sizeof advice);
    if (start->outcome == START_FAILED && start->code != CUDA_SUCCESS)
        snprintf(result, sizeof result, " %s returns code %d, %s.", start_call(start->step), (int)start->code,
                 driver_code_name(start->code));
    /* What is only ruled out must not stand before a cause that another check has found. */
    bool is_known = strncmp(cause->word, "unknown", strlen("unknown")) != 0;
    enum verdict known = start->outcome != START_NOT_TRIED ? VERDICT_LEAD : VERDICT_CAUSE;
    doctor_find(doctor, cause->check, is_known ? known : VERDICT_PROBLEM, "%s%s%s", message, result,
                start->explanation.text);
    doctor_advise(doctor, "%s", advice);
    doctor->findings[doctor->count - 1].cause = cause->word;
}
