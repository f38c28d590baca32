/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct rule {
    const char *cause;
    bool (*holds)(const struct judgement *judgement);
    const char *message, *advice;
} rules[] = {
#define RULE(cause, evidence, message, advice) {cause, reason_##evidence, message, advice},
#include "rules.inc"
};
enum { RULES = sizeof rules / sizeof rules[0] };

/* Whether a rule holds for judgement->process. If so, fills in the answer. */
static bool rule_try(const struct rule *rule, struct judgement *judgement)
{
    reason_begin(judgement);
    if (!rule->holds(judgement))
        return false;
    judgement->cause = rule->cause;
    judgement->uses_gpu = strcmp(rule->cause, "uses-gpu") == 0;
    text_fill(rule->message, reason_find, NULL, judgement->message, sizeof judgement->message);
    text_fill(rule->advice, reason_find, NULL, judgement->advice, sizeof judgement->advice);
    reason_find(NULL, "object", judgement->able, sizeof judgement->able);
    return true;
}

/* Whether the first process is the program itself, and not one that it has started. */
static bool is_program_seen(const struct program *program)
{
    const struct watched_process *first = program->processes.items;
    return program->processes.count > 0 && (program->is_watched || first->parent == (long)getpid());
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
            if (rule_try(rule, judgement))
                return;
        }
    }
    judgement->process = NULL;
    (void)rule_try(&rules[RULES - 1], judgement);
}
