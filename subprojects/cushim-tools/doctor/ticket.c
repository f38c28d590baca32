/* SPDX-License-Identifier: MIT */
/* What a person needs to know who reads the report elsewhere. */
#include "doctor.h"

#include <stdio.h>
#include <string.h>
#if defined(__GLIBC__)
#    include <gnu/libc-version.h>
#endif

#include "cushim/version.h"

static void read_distribution(const struct doctor *doctor, char *name, size_t size)
{
    char text[4096];
    static const char key[] = "PRETTY_NAME=";
    (void)evidence_read(doctor, "/etc/os-release", text, sizeof text);
    const char *at = strstr(text, key);
    if (at != NULL)
        at += strlen(key) + (at[strlen(key)] == '"');
    snprintf(name, size, "%.*s", at != NULL ? (int)strcspn(at, "\"\n") : 0, at != NULL ? at : "");
}

void doctor_write_system(struct json *json, const struct doctor *doctor)
{
    char distribution[128], kernel[128], library[64] = "";
    read_distribution(doctor, distribution, sizeof distribution);
    (void)evidence_read(doctor, "/proc/sys/kernel/osrelease", kernel, sizeof kernel);
    kernel[strcspn(kernel, "\n")] = '\0';
#if defined(__GLIBC__)
    snprintf(library, sizeof library, "glibc %s", gnu_get_libc_version());
#endif
    json_open_object(json, "system");
    json_string(json, "cushim", CUSHIM_VERSION_STRING);
    json_string(json, "kernel", kernel[0] != '\0' ? kernel : NULL);
    json_string(json, "distribution", distribution[0] != '\0' ? distribution : NULL);
    json_string(json, "c_library", library[0] != '\0' ? library : NULL);
    json_close_object(json);
}

const char *doctor_cause_of(const struct doctor *doctor, const struct finding *finding)
{
    if (finding->cause != NULL)
        return finding->cause;
    if (!doctor->loaded && pattern_matches("library settings stub", finding->check)
        && finding->verdict <= VERDICT_FOLLOWS)
        return cushim_reason_name(doctor->load->reason);
    if (strcmp(finding->check, "start") == 0 && !doctor->started && doctor->reason != CUSHIM_REASON_NONE
        && finding->verdict <= VERDICT_FOLLOWS)
        return cushim_reason_name(doctor->reason);
    return finding->check;
}
