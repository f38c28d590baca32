/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* O_CLOEXEC */
#endif
#include "settings.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char notes_path[64];

void exec_notes_start(const char *path)
{
    snprintf(notes_path, sizeof notes_path, "%s", path != NULL ? path : "");
}

bool exec_notes_are_taken(void)
{
    return notes_path[0] != '\0';
}

/* The file is opened for each line: the program would notice a descriptor. A line is written at once, so that those of
 * several processes do not mix. */
void exec_note(long process, enum exec_note kind, const char *name, const char *more)
{
    char line[2 * 4096 + 64];
    int error = errno;
    int file = notes_path[0] != '\0' ? open(notes_path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;
    if (file >= 0) {
        int length = snprintf(line, sizeof line, "%ld\t%c\t%s\t%s", process, (char)kind, name, more);
        if (length > 0 && (size_t)length < sizeof line) {
            for (char *at = line; (at = strchr(at, '\n')) != NULL;)
                *at = '?';
            line[length] = '\n';
            (void)!write(file, line, (size_t)length + 1);
        }
        close(file);
    }
    errno = error;
}
