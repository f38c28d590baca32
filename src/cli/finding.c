/* SPDX-License-Identifier: MIT */
#include "finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "os_file.h"
#include "platform.h"

bool evidence_has(const struct evidence *evidence, const char *path)
{
    char whole[OS_PATH_SIZE];
    return platform_has_system_files() && cush_os_path_below(evidence->root, path, whole, sizeof whole)
           && platform_exists(whole);
}

bool evidence_is_compat(const char *path)
{
    char real[PLATFORM_PATH_SIZE];
    if (path == NULL)
        return false;
    if (!platform_real_path(path, real, sizeof real))
        real[0] = '\0';
    return strstr(path, "/compat/") != NULL || strstr(real, "/compat/") != NULL || strstr(real, "/cuda-compat") != NULL;
}

struct finding *finding_add(struct findings *findings, const struct evidence *evidence, const char *check,
                            enum verdict verdict, const char *message, ...)
{
    /* The array has room for a finding of each check, attempt and variable. */
    struct finding *finding = &findings->list[findings->count < MOST_FINDINGS ? findings->count++ : MOST_FINDINGS - 1];
    finding->check = check;
    finding->verdict = verdict == VERDICT_PROBLEM && evidence->started ? VERDICT_NOTE : verdict;
    finding->is_cause = false;
    finding->advice[0] = '\0';
    va_list arguments;
    va_start(arguments, message);
    vsnprintf(finding->message, sizeof finding->message, message, arguments);
    va_end(arguments);
    return finding;
}

void finding_advise(struct findings *findings, const char *advice, ...)
{
    struct finding *finding = &findings->list[findings->count - 1];
    va_list arguments;
    va_start(arguments, advice);
    vsnprintf(finding->advice, sizeof finding->advice, advice, arguments);
    va_end(arguments);
}
