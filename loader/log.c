/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

/* The size of a line that is made without memory, and then cut. */
enum { CUT_LINE = 512 };

static char *line_make(char cut[CUT_LINE], const char *first, const char *second, const char *third, const char *last)
{
    size_t size = strlen(first) + strlen(second) + strlen(third) + strlen(last) + 1;
    char *line = malloc(size);
    if (line == NULL) {
        line = cut;
        size = CUT_LINE;
    }
    snprintf(line, size, "%s%s%s%s", first, second, third, last);
    return line;
}

static void line_free(char *line, const char *cut)
{
    if (line != cut)
        free(line);
}

/* Names and values can contain any character. A line of the log must not contain a newline. */
void cush_log_line(const struct cushim_load_options *options, const char *first, const char *second, const char *third,
                   const char *last)
{
    char cut[CUT_LINE];
    char *line = line_make(cut, first, second, third, last);
    for (char *end = line; (end = strpbrk(end, "\r\n")) != NULL;)
        *end = ' ';
    options->log(options->log_user, line);
    line_free(line, cut);
}

static void log_variable(const struct cushim_load_options *options, const struct cushim_variable *variable)
{
    cush_log_line(options, variable->name, "=", variable->value, variable->is_used ? "" : " (ignored)");
}

void cush_log_load(const struct cushim_load_options *options, const struct cushim_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        log_variable(options, &diagnosis->variables[i]);
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        cush_log_line(options, diagnosis->attempts[i].path, ": ", diagnosis->attempts[i].result, "");
    if (diagnosis->code == CUDA_SUCCESS)
        cush_log_line(options, "loaded ", diagnosis->path != NULL ? diagnosis->path : "the driver", "", "");
    else
        cush_log_line(options, diagnosis->message, "", "", "");
}

/* The variables of the load are logged with the load. */
static void log_start(const struct cushim_load_options *options, const struct cushim_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->variable_count; i++) {
        if (strncmp(diagnosis->variables[i].name, "CUDA_", 5) == 0)
            log_variable(options, &diagnosis->variables[i]);
    }
    if (diagnosis->code == CUDA_SUCCESS)
        cush_log_line(options, "cuInit succeeded", "", "", "");
    else
        cush_log_line(options, "cuInit failed: ", diagnosis->message, "", "");
}

static void log_to_target(void *user, const char *line)
{
    const char *const *target = user;
    char start[32], cut[CUT_LINE];
    snprintf(start, sizeof start, "cushim[%lu]: ", cush_os_process());
    char *text = line_make(cut, start, line, "\n", "");
    size_t size = strlen(text);
    text[size - 1] = '\n'; /* also of one that was cut */
    cush_os_file_append(*target, text, size);
    line_free(text, cut);
}

/* CUSHIM_LOG: "stderr" or a file. */
static void log_as_requested(void (*log)(const struct cushim_load_options *, const struct cushim_diagnosis *),
                             const struct cushim_diagnosis *diagnosis)
{
    const char *target = cush_os_environment("CUSHIM_LOG");
    if (target != NULL && target[0] != '\0' && !cush_os_privileged())
        log(&(struct cushim_load_options){.log = log_to_target, .log_user = &target}, diagnosis);
}

void cush_log_load_as_requested(const struct cushim_diagnosis *diagnosis)
{
    log_as_requested(cush_log_load, diagnosis);
}

void cush_log_start_as_requested(const struct cushim_diagnosis *diagnosis)
{
    log_as_requested(log_start, diagnosis);
}
