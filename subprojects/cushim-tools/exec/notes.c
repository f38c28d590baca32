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

#include "open_file.h"
#include "posix/quiet_file.h"

static char notes_name[OPEN_FILE_NAME_SIZE];
static char program_path[4096];
static atomic_long own_process; /* that has a note of its start, or of its fork() */

void exec_notes_start(const char *name)
{
    snprintf(notes_name, sizeof notes_name, "%s", name != NULL ? name : "");
    atomic_store(&own_process, (long)getpid());
    if (name != NULL && readlink("/proc/self/exe", program_path, sizeof program_path - 1) < 0)
        program_path[0] = '\0';
}

bool exec_notes_are_taken(void)
{
    return notes_name[0] != '\0';
}

/* Writes a text that comes from the program, without characters that would end it. Returns its length. */
static size_t note_put(char *line, size_t size, const char *text)
{
    size_t length = 0;
    for (; length < size && text[length] != '\0'; length++)
        line[length] = (unsigned char)text[length] < ' ' ? '?' : text[length];
    return length;
}

/* A child of fork() has no start of which there is a note. */
static void note_fork(long process)
{
    char parent[32];
    snprintf(parent, sizeof parent, "%ld", (long)getppid());
    exec_note(process, EXEC_NOTE_FORKED, program_path, parent);
}

/* The file is opened for each line: the program would notice a descriptor. A line is written at once, so that those of
 * several processes do not mix. A text that is longer than any path is cut. */
void exec_note(long process, enum exec_note kind, const char *name, const char *more)
{
    enum { MOST = 4096 };
    char line[2 * MOST + 64];
    int error = errno;
    bool is_done = false;
    if (notes_name[0] == '\0')
        return;
    if (process == (long)getpid() && atomic_exchange(&own_process, process) != process)
        note_fork(process);
    int file = open_file_open(notes_name, NULL, O_WRONLY | O_APPEND);
    if (file >= 0) {
        size_t length = (size_t)snprintf(line, sizeof line, "%ld\t%c\t", process, (char)kind);
        length += note_put(line + length, MOST, name);
        line[length++] = '\t';
        length += note_put(line + length, MOST, more);
        line[length++] = '\n';
        is_done = quiet_write(file, line, length);
    }
    if (!is_done)
        exec_image_lose(errno);
    if (file >= 0)
        close(file);
    errno = error;
}
