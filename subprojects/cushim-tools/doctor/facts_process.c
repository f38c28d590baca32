/* SPDX-License-Identifier: MIT */
/* The texts about the sandbox and the limits of this process. */
#include "facts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

/* ---- The sandbox ---- */

void fact_seccomp(const struct doctor *doctor, char *text, size_t size)
{
    char value[16];
    (void)doctor;
    if (!cush_os_thread_status("Seccomp", value, sizeof value))
        return;
    snprintf(text, size, "%s",
             atoi(value) != 0 ? " This process has a seccomp filter." : " This process has no seccomp filter.");
}

/* The security module that confines the process, or what else can refuse. */
void fact_confinement(const struct doctor *doctor, char *text, size_t size)
{
    char label[256], value[16];
    if (evidence_read(doctor, "/proc/self/attr/current", label, sizeof label) && label[0] != '\0'
        && strncmp(label, "unconfined", 10) != 0 && strncmp(label, "kernel", 6) != 0) {
        label[strcspn(label, "\n")] = '\0';
        snprintf(text, size, " The security module of the kernel confines it as \"%s\".", label);
    } else if (cush_os_thread_status("NoNewPrivs", value, sizeof value) && value[0] == '1') {
        snprintf(text, size, " The process cannot gain privileges (NoNewPrivs), as in sandboxes of Landlock.");
    }
}

/* ---- The limits ---- */

#if !defined(_WIN32)
#    include <sys/resource.h>

static void write_limit(struct rlimit limit, int shift, const char *unit, char *text, size_t size)
{
    if (limit.rlim_cur == RLIM_INFINITY)
        snprintf(text, size, "unlimited");
    else
        snprintf(text, size, "%llu%s", (unsigned long long)limit.rlim_cur >> shift, unit);
}
#    define FACT_OF_LIMIT(name, resource, shift, unit)                                                                 \
        void fact_##name(const struct doctor *doctor, char *text, size_t size)                                         \
        {                                                                                                              \
            struct rlimit limit;                                                                                       \
            (void)doctor;                                                                                              \
            if (getrlimit(resource, &limit) == 0)                                                                      \
                write_limit(limit, shift, unit, text, size);                                                           \
        }

#else
#    define FACT_OF_LIMIT(name, resource, shift, unit)                                                                 \
        void fact_##name(const struct doctor *doctor, char *text, size_t size)                                         \
        {                                                                                                              \
            (void)doctor;                                                                                              \
            snprintf(text, size, "unknown");                                                                           \
        }

#endif

void fact_stack(const struct doctor *doctor, char *text, size_t size)
{
    (void)doctor;
    child_describe_stack(text, size);
}

FACT_OF_LIMIT(files, RLIMIT_NOFILE, 0, "")
FACT_OF_LIMIT(cpu, RLIMIT_CPU, 0, "")
FACT_OF_LIMIT(processes, RLIMIT_NPROC, 0, "")
FACT_OF_LIMIT(space, RLIMIT_AS, 10, " KiB")
FACT_OF_LIMIT(data, RLIMIT_DATA, 10, " KiB")

void fact_open_files(const struct doctor *doctor, char *text, size_t size)
{
    int count = open_files_count();
    (void)doctor;
    if (count > 0)
        snprintf(text, size, "%d", count);
    else
        snprintf(text, size, "an unknown number");
}

/* Reads a setting of the control group of this process, of version 2 or 1. Returns false if it is not visible. */
static bool group_read(const struct doctor *doctor, const char *newer, const char *controller, const char *older,
                       char *value, size_t size)
{
    char groups[2048], label[32], path[512];
    if (!evidence_read(doctor, "/proc/self/cgroup", groups, sizeof groups))
        return false;
    for (int version = 2; version > 0; version--) {
        snprintf(label, sizeof label, version == 2 ? "0::" : ":%s:", controller);
        const char *line = strstr(groups, label);
        if (line == NULL)
            continue;
        line += strlen(label);
        snprintf(path, sizeof path, "/sys/fs/cgroup%s%s%.*s/%s", version == 2 ? "" : "/",
                 version == 2 ? "" : controller, (int)strcspn(line, "\n"), line, version == 2 ? newer : older);
        if (!evidence_read(doctor, path, value, size))
            continue;
        value[strcspn(value, "\n")] = '\0';
        return true;
    }
    return false;
}

void fact_pids(const struct doctor *doctor, char *text, size_t size)
{
    char value[32];
    if (group_read(doctor, "pids.max", "pids", "pids.max", value, sizeof value))
        snprintf(text, size, ", and %s for its control group", strcmp(value, "max") == 0 ? "unlimited" : value);
}

/* Version 1 shows a very large number if there is no limit. */
void fact_group_memory(const struct doctor *doctor, char *text, size_t size)
{
    enum { MAX_MEBIBYTES = 1 << 30 };
    char value[32];
    unsigned long long mebibytes =
        group_read(doctor, "memory.max", "memory", "memory.limit_in_bytes", value, sizeof value)
            ? strtoull(value, NULL, 10) >> 20
            : 0;
    if (mebibytes > 0 && mebibytes < MAX_MEBIBYTES)
        snprintf(text, size, " The limit of the control group of this process is %llu MiB.", mebibytes);
}

/* ---- The variables ---- */

void fact_preload(const struct doctor *doctor, char *text, size_t size)
{
    const char *preload = getenv("LD_PRELOAD");
    (void)doctor;
    if (preload != NULL && preload[0] != '\0')
        snprintf(text, size, " (LD_PRELOAD is \"%s\")", preload);
}

/* Appends the variables with their values, after `begin` or commas. Returns how much of the text is used. */
static size_t list_variables(const char *names, const char *begin, char *text, size_t size, size_t used)
{
    char name[64];
    while (used < size && text_next_item(&names, " ", name, sizeof name)) {
        const char *value = getenv(name);
        if (value != NULL && value[0] != '\0')
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s=\"%.100s\"", used == 0 ? begin : ", ", name, value);
    }
    return used;
}

/* The variables, and the file of the dynamic loader, that change how a driver starts. */
void fact_variables(const struct doctor *doctor, char *text, size_t size)
{
    static const char begin[] = " Also set, and not ruled out: ";
    char names[512] = "";
    if (!doctor->variables_tried)
        variables_list(names, sizeof names);
    size_t used = list_variables("LD_PRELOAD LD_AUDIT", begin, text, size, 0);
    used = list_variables(names, begin, text, size, used);
    if (used < size && evidence_exists(doctor, "/etc/ld.so.preload"))
        used +=
            (size_t)snprintf(text + used, size - used, "%sa library in /etc/ld.so.preload", used == 0 ? begin : ", ");
    if (used > 0 && used < size)
        snprintf(text + used, size - used, ".");
}

/* The variables without which the driver starts. */
void fact_setting(const struct doctor *doctor, char *text, size_t size)
{
    (void)list_variables(doctor->variables, "", text, size, 0);
}
