/* SPDX-License-Identifier: MIT */
#include "log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

/* The size of a line that is made without memory, and then cut. */
enum { CUT_LINE = 512 };

static CUSHIM_COLD char *line_make(char cut[CUT_LINE], const char *first, const char *second, const char *third,
                                   const char *last)
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
    for (char *end = line; *(end += strcspn(end, "\r\n")) != '\0';)
        *end = ' ';
    options->log(options->log_user, line);
    line_free(line, cut);
}

void cush_log_diagnosis(const struct cushim_load_options *options, const struct cushim_diagnosis *diagnosis,
                        bool is_start)
{
    const char *loaded = diagnosis->path != NULL ? diagnosis->path : "the driver";
    for (size_t i = 0; i < diagnosis->variable_count; i++) {
        const struct cushim_variable *variable = &diagnosis->variables[i];
        if (!is_start || strncmp(variable->name, "CUDA_", 5) == 0) /* the others were logged with the load */
            cush_log_line(options, variable->name, "=", variable->value, variable->is_used ? "" : " (ignored)");
    }
    for (size_t i = 0; i < diagnosis->attempt_count && !is_start; i++)
        cush_log_line(options, diagnosis->attempts[i].path, ": ", diagnosis->attempts[i].result, "");
    if (diagnosis->code != CUDA_SUCCESS)
        cush_log_line(options, is_start ? "cuInit failed: " : "", diagnosis->message, "", "");
    else
        cush_log_line(options, is_start ? "cuInit succeeded" : "loaded ", is_start ? "" : loaded, "", "");
}

static CUSHIM_COLD void log_to_target(void *user, const char *line)
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
void cush_log_as_requested(const struct cushim_diagnosis *diagnosis, bool is_start)
{
    const char *target = cush_os_environment("CUSHIM_LOG");
    if (target != NULL && target[0] != '\0' && !cush_os_privileged())
        cush_log_diagnosis(&(struct cushim_load_options){.log = log_to_target, .log_user = &target}, diagnosis,
                           is_start);
}
