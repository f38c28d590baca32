/* SPDX-License-Identifier: MIT */
/* For each line "FUNCTION CODE" of the standard input: what the report says that this result means. */
#include <stdio.h>

#include "../../trace/finders/reasons.h"

int main(void)
{
    char function[128];
    unsigned result;
    while (scanf("%127s %u", function, &result) == 2) {
        const char *meaning = trace_meaning_of(function, result);
        printf("%s\n", meaning != NULL ? meaning : "");
    }
    return 0;
}
