/* SPDX-License-Identifier: MIT */
/* The {names} of the texts of rules.inc, and those that several rows set. */
#include "program.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The {names} of the texts, as the evidence sets them. Not static: the other commands start where memory is limited. */
enum { MAX_FACTS = 24 };
static struct fact {
    const char *name;
    char value[1600];
} * facts;
static size_t fact_count;

bool reason_start(void)
{
    facts = calloc(MAX_FACTS, sizeof *facts);
    return facts != NULL;
}

void reason_end(void)
{
    free(facts);
    facts = NULL;
}

void reason_forget(void)
{
    fact_count = 0;
}

/* Returns the value of a name, "" if it is new. */
char *reason_value(const char *name)
{
    size_t i = 0;
    while (i < fact_count && strcmp(facts[i].name, name) != 0)
        i++;
    if (i == fact_count) {
        assert(fact_count < MAX_FACTS);
        facts[fact_count].name = name;
        facts[fact_count++].value[0] = '\0';
    }
    return facts[i].value;
}

void reason_find(const void *unused, const char *name, char *text, size_t size)
{
    (void)unused;
    snprintf(text, size, "%s", reason_value(name));
}

void reason_set(const char *name, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason_value(name), sizeof facts->value, format, arguments);
    va_end(arguments);
}

const struct finding *program_machine_problem(const struct judgement *judgement)
{
    const struct finding *finding = &judgement->machine->findings[0];
    return finding->verdict <= VERDICT_PROBLEM ? finding : NULL;
}

bool reason_is_limited(const struct judgement *judgement)
{
    return judgement->machine->loaded && cushim_driver_version() < judgement->machine->load->cuda_version;
}

void reason_set_problem(const struct judgement *judgement)
{
    const struct finding *problem = program_machine_problem(judgement);
    if (problem != NULL)
        reason_set("problem", "%s %s", problem->message, problem->advice);
    else
        reason_set("problem", "See what this machine has: cushim doctor.");
}

bool reason_is_sought(const struct judgement *judgement, const char *name, struct sought *sought)
{
    bool found = library_sought(judgement->process, library_of(name), sought);
    if (found) {
        reason_set("names", "%s", sought->names);
        reason_set("by", "%s", library_file(sought->by));
        reason_set("file", "%s", sought->file != NULL ? sought->file : "");
    }
    return found;
}

bool reason_is_lost(const struct judgement *judgement, const char *name, struct sought *sought)
{
    return reason_is_sought(judgement, name, sought) && sought->file == NULL;
}
