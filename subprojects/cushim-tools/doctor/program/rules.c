/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct rule {
    const char *cause;
    enum { IS_SEEN, IS_MISSING } kind;
    bool (*holds)(const struct judgement *judgement);
    const char *message, *advice;
} rules[] = {
#define RULE(cause, kind, evidence, message, advice) {cause, IS_##kind, reason_##evidence, message, advice},
#include "rules.inc"
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* How the program ended, if not well, is a part of each message, unless it did not begin. */
static void add_end(struct judgement *judgement)
{
    const char *ended = reason_value("ended"), *how = reason_value("how");
    size_t length = strlen(judgement->message) - 1; /* without the full stop */
    char *end = judgement->message + length;
    if (how[0] == '\0' || strstr(judgement->message, how) != NULL
        || pattern_matches("did-not-start prevented", judgement->cause))
        return;
    if (pattern_matches("library-not-bound not-seen", judgement->cause)) /* the sentence is about something else */
        snprintf(end, sizeof judgement->message - length, "; %s %s.", reason_value("main"), how);
    else
        snprintf(end, sizeof judgement->message - length, "%s.", ended);
}

static bool has_worked(const struct judgement *judgement)
{
    return judgement->process->calls.launches + judgement->process->calls.copies > 0;
}

/* Whether a rule holds for judgement->process. If so, fills in the answer. */
static bool rule_try(const struct rule *rule, struct judgement *judgement)
{
    reason_begin(judgement);
    if (!rule->holds(judgement))
        return false;
    judgement->cause = rule->cause;
    judgement->uses_gpu =
        strcmp(rule->cause, "uses-gpu") == 0
        || (pattern_matches("ended-by-signal visible-too-late", rule->cause) && has_worked(judgement));
    text_fill(rule->message, reason_find, NULL, judgement->message, sizeof judgement->message);
    add_end(judgement);
    text_fill(rule->advice, reason_find, NULL, judgement->advice, sizeof judgement->advice);
    reason_find(NULL, "object", judgement->able, sizeof judgement->able);
    return true;
}

/* Whether the first process is the program itself, and not one that it has started, and was seen to its end. */
static bool is_program_seen(const struct program *program)
{
    const struct watched_process *first = program->processes.items;
    return program->processes.count > 0 && (program->is_watched || first->parent == (long)getpid())
           && gap_find(program, first).kind == GAP_NONE;
}

/* Of several processes, the one counts for which the first of the rules holds. That a process did not look for the GPU
 * says nothing if the program itself was not seen. The last rule is for no process. */
void program_judge(struct judgement *judgement)
{
    const struct program *program = judgement->program;
    struct watched_process *processes = program->processes.items;
    for (const struct rule *rule = rules; rule < &rules[RULES - 1]; rule++) {
        if (pattern_matches("able-but-not-asked never-looked", rule->cause) && !is_program_seen(program))
            continue;
        for (size_t i = 0; i < program->processes.count; i++) {
            judgement->process = &processes[i];
            if (rule->kind == IS_SEEN || gap_find(program, &processes[i]).kind == GAP_NONE) {
                if (rule_try(rule, judgement))
                    return;
            }
        }
    }
    judgement->process = NULL;
    (void)rule_try(&rules[RULES - 1], judgement);
}
