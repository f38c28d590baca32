/* SPDX-License-Identifier: MIT */
#include "version.h"

#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint16_t branches[][2] = {
#define CUSHIM_BRANCH(version, branch, ptx) {branch, version},
#include "lists/branches.inc"
};
enum { BRANCHES = sizeof branches / sizeof branches[0] };

struct version_range cush_version_of_release(int branch, bool is_whole)
{
    size_t after = 0;
    while (after < BRANCHES && branches[after][0] != 0 && branches[after][0] <= branch)
        after++;
    bool has_newer = after < BRANCHES && branches[after][0] != 0; /* the branch of a newer version may not be known */
    struct version_range range = {after > 0 ? branches[after - 1][1] : 0, has_newer ? branches[after][1] : INT_MAX};
    if (is_whole && after > 0 && branches[after - 1][0] == branch)
        range.certain = range.first;
    return range;
}

/* The CUDA version of a driver branch; 0 if it is older or newer than the list. */
static int version_of_branch(int branch)
{
    struct version_range range = cush_version_of_release(branch, true);
    return range.certain != INT_MAX ? range.first : 0;
}

int cush_version_parse(const char *text)
{
    enum { FIRST_BRANCH = 300 }; /* no CUDA version has such a number */
    char *end;
    if (*text < '0' || *text > '9')
        return 0;
    unsigned long long major = strtoull(text, &end, 10), minor = 0;
    if (major >= FIRST_BRANCH && major < 1000)
        return end[strspn(end, "0123456789.")] == '\0' ? version_of_branch((int)major) : 0;
    if (*end == '\0' && major >= 2000 && major < 1000000 && major % 10 == 0)
        return (int)major;
    if (*end == '.') {
        const char *digits = end + 1;
        if (*digits < '0' || *digits > '9')
            return 0;
        minor = strtoull(digits, &end, 10);
    }
    return *end == '\0' && major >= 2 && major < 100 && minor < 100 ? (int)(major * 1000 + minor * 10) : 0;
}

struct version_text cush_version_text(int version)
{
    struct version_text text;
    snprintf(text.text, sizeof text.text, "%d.%d", version / 1000, version % 1000 / 10);
    return text;
}
