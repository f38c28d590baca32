/* SPDX-License-Identifier: MIT */
/*
 * report - loads the driver as the environment says, and prints the result as lines of the form "name=value". The tests
 * use it where a whole process matters: its linked libraries, its privileges, its environment.
 *
 *   report [LIBRARY]    opens LIBRARY first, and keeps it open
 *   report log          loads with a log callback that does nothing
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cushim/cushim.h"

static void ignore_log(void *unused, const char *line)
{
}

#if defined(LINKED_TO_STUB)
extern int not_a_driver(void); /* exported by the stub in addition to the driver's functions */
#endif

int main(int argc, char **argv)
{
    struct cushim_load_options options = {0};
    if (argc > 1 && strcmp(argv[1], "log") == 0)
        options.log = ignore_log;
    else if (argc > 1 && dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) == NULL) {
        fprintf(stderr, "report: %s\n", dlerror());
        return 1;
    }
    CUresult result = cushim_load(&options);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("result=%d\nreason=%s\nmessage=%s\n", (int)result, diagnosis->reason_name, diagnosis->message);
    printf("path=%s\nversion=%d\n", diagnosis->path != NULL ? diagnosis->path : "", cushim_driver_version());
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        printf("attempt=%s: %s\n", diagnosis->attempts[i].path, diagnosis->attempts[i].result);
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        printf("variable=%s %s\n", diagnosis->variables[i].name, diagnosis->variables[i].is_used ? "used" : "ignored");
    printf("query=%d\n", (int)cushim_table()->StreamQuery_v1(NULL));
    printf("privileged=%d\n", getauxval(AT_SECURE) != 0);
    printf("nvml=%s\n", cushim_companion_get(CUSHIM_COMPANION_NVML)->message);
#if defined(LINKED_TO_STUB)
    printf("linked=%d\n", not_a_driver());
#endif
    fflush(stdout);
    _exit(0); /* LeakSanitizer cannot inspect a privileged process, and reports that as a failure */
}
