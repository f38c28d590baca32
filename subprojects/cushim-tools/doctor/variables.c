/* SPDX-License-Identifier: MIT */
/* The variables CUDA_... that the driver reads, and whether it starts without them. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(_WIN32)
void variables_list(char *names, size_t size)
{
    snprintf(names, size, "%s", "");
}
#else
extern char **environ; /* unistd.h does not always declare it */

/* Those of the Toolkit say where its files are. */
void variables_list(char *names, size_t size)
{
    static const char of_toolkit[] = "CUDA_HOME* CUDA_PATH* CUDA_ROOT* CUDA_VERSION* CUDA_TOOLKIT* CUDA_BIN* CUDA_LIB* "
                                     "CUDA_INC* CUDA_DIR* CUDA_ARCH* CUDA_PKG*";
    char name[64];
    size_t used = 0;
    names[0] = '\0';
    for (char **variable = environ; *variable != NULL; variable++) {
        size_t length = strcspn(*variable, "=");
        snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : 0, *variable);
        if (pattern_matches("CUDA_*", name) && !pattern_matches(of_toolkit, name) && used + length + 2 < size)
            used += (size_t)snprintf(names + used, size - used, "%s%s", used > 0 ? " " : "", name);
    }
}
#endif

static bool starts_without(const struct doctor *doctor, const char *names)
{
    struct start *start = start_create(doctor->root);
    if (start == NULL)
        return false;
    start->without = names;
    start_run(start, doctor->seconds);
    bool works = start->outcome == START_WORKS;
    start_destroy(start);
    return works;
}

void variables_try(struct doctor *doctor)
{
    char names[sizeof doctor->variables], name[64];
    const char *rest = names;
    variables_list(names, sizeof names);
    if (names[0] == '\0')
        return;
    doctor->variables_tried = true;
    if (!starts_without(doctor, names))
        return;
    snprintf(doctor->variables, sizeof doctor->variables, "%s", names);
    while (strchr(names, ' ') != NULL && text_next_item(&rest, " ", name, sizeof name)) {
        if (!starts_without(doctor, name))
            continue;
        snprintf(doctor->variables, sizeof doctor->variables, "%s", name);
        return;
    }
}

bool evidence_works_without_variables(const struct doctor *doctor)
{
    return doctor->variables[0] != '\0';
}
