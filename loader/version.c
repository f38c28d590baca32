/* SPDX-License-Identifier: MIT */
#include "version.h"

#include <stdio.h>
#include <stdlib.h>

int cush_version_parse(const char *text)
{
    char *end;
    if (*text < '0' || *text > '9')
        return 0;
    long major = strtol(text, &end, 10);
    long minor = 0;
    if (*end == '\0' && major >= 2000 && major < 1000000 && major % 10 == 0)
        return (int)major;
    if (*end == '.') {
        const char *digits = end + 1;
        if (*digits < '0' || *digits > '9')
            return 0;
        minor = strtol(digits, &end, 10);
    }
    return *end == '\0' && major >= 2 && major < 100 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
}

struct version_text cush_version_text(int version)
{
    struct version_text text;
    snprintf(text.text, sizeof text.text, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}
