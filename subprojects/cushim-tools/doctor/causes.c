/* SPDX-License-Identifier: MIT */
/* Finds the row of causes.inc that explains why CUDA cannot be used. */
#include "doctor.h"

#include <stdio.h>
#include <string.h>

#include "system_calls.h"

static const struct cause {
    const char *word, *check, *reason, *codes, *calls, *paths, *errors;
    bool (*holds)(const struct doctor *doctor);
    const char *message, *advice;
} causes[] = {
#define CAUSE(word, check, reason, codes, calls, paths, errors, evidence, seen, title, message, advice)                \
    {#word, #check, reason, codes, calls, paths, errors, evidence_##evidence, message, advice},
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

/* Whether the library knows the reason. Then a row can only say it more exactly. The doctor knows better only whether
 * the driver starts without the variables: it tries that. */
static bool has_reason(const struct doctor *doctor)
{
    enum cushim_reason reason = doctor->reason;
    return reason != CUSHIM_REASON_NONE && reason != CUSHIM_REASON_NO_DEVICE && reason != CUSHIM_REASON_UNKNOWN
           && (reason != CUSHIM_REASON_HIDDEN || !doctor->variables_tried);
}

/* The library has found the reason of the row, with a start or without. */
bool evidence_found(const struct doctor *doctor)
{
    return has_reason(doctor);
}

bool evidence_found_in_container(const struct doctor *doctor)
{
    return has_reason(doctor) && doctor->system.is_container;
}

static bool cause_matches(const struct cause *cause, const struct doctor *doctor, const char *outcome)
{
    const struct operation *operation = doctor->operation;
    if (has_reason(doctor) && !pattern_matches(cause->reason, cushim_reason_name(doctor->reason)))
        return false;
    if (cause->codes[0] != '\0' && (outcome[0] == '\0' || !pattern_matches(cause->codes, outcome)))
        return false;
    if (cause->calls[0] != '\0'
        && (operation == NULL || !pattern_matches(cause->calls, operation->call)
            || !pattern_matches(cause->paths, operation->path)
            || !pattern_matches(cause->errors, calls_error_name(operation->error))))
        return false;
    return cause->holds(doctor);
}

/* The reason whose texts a row without texts of its own has. */
static enum cushim_reason cause_reason(const struct cause *cause, const struct doctor *doctor)
{
    int reason = CUSHIM_REASON_COUNT - 1;
    if (has_reason(doctor))
        return doctor->reason;
    while (reason > 0 && strcmp(cushim_reason_name((enum cushim_reason)reason), cause->reason) != 0)
        reason--;
    return (enum cushim_reason)reason;
}

static void find_text(const void *doctor, const char *name, char *text, size_t size)
{
    evidence_text(doctor, name, text, size);
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
    /* Without a row, the doctor says the sentence of the library. What shows without a start has a check of its own. */
    if (cause == NULL && (!has_reason(doctor) || start->outcome == START_NOT_TRIED))
        return;
    enum cushim_reason reason = cause != NULL ? cause_reason(cause, doctor) : doctor->reason;
    text_fill(cause != NULL ? cause->message : "", find_text, doctor, message, sizeof message);
    text_fill(cause != NULL ? cause->advice : "", find_text, doctor, advice, sizeof advice);
    if (message[0] == '\0')
        snprintf(message, sizeof message, "%s",
                 start->message[0] != '\0' ? start->message : cushim_reason_message(reason));
    if (advice[0] == '\0')
        snprintf(advice, sizeof advice, "%s", cushim_reason_advice(reason));
    if (start->outcome == START_FAILED && start->code != CUDA_SUCCESS)
        snprintf(result, sizeof result, " %s returns code %d, %s.", start_call(start->step), (int)start->code,
                 driver_code_name(start->code));
    /* What is only ruled out must not stand before a cause that another check has found. */
    bool is_known = cause == NULL || strncmp(cause->word, "unknown", strlen("unknown")) != 0;
    enum verdict known = start->outcome != START_NOT_TRIED ? VERDICT_LEAD : VERDICT_CAUSE;
    bool has_more = result[0] != '\0' && strchr(message, '\n') == NULL;
    doctor_find(doctor, cause != NULL ? cause->check : "start", is_known ? known : VERDICT_PROBLEM, "%s%s%s%s", message,
                has_more ? "\n" : "", result + has_more, start->explanation.text);
    doctor_advise(doctor, "%s", advice);
    doctor->findings[doctor->count - 1].cause = cause != NULL ? cause->word : cushim_reason_name(doctor->reason);
}
