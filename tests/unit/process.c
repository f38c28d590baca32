/* SPDX-License-Identifier: MIT */
#include "process.h"

#include <sys/wait.h>
#include <unistd.h>

#include "unit.h"

const char process_report[] = PROGRAMS "/report";
const char process_report_linked[] = PROGRAMS "/report_linked";
const char process_report_origin[] = PROGRAMS "/report_origin";

/* A line break, the output, and the end. */
static char output[65536];

static void exec_program(const char *program, const char *argument, void (*prepare)(void), int writer)
{
    if (prepare != NULL)
        prepare();
    dup2(writer, STDOUT_FILENO);
    execl(program, program, argument, (char *)NULL);
    perror(program);
    _exit(126);
}

bool process_run(const char *program, const char *argument, void (*prepare)(void))
{
    int ends[2];
    int status;
    size_t used = 1;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exec_program(program, argument, prepare, ends[1]);
    close(ends[1]);
    memset(output, 0, sizeof output);
    output[0] = '\n';
    for (ssize_t got = 1; got > 0 && used < sizeof output - 1; used += (size_t)got)
        got = read(ends[0], output + used, sizeof output - 1 - used);
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == PROCESS_CANNOT)
        return false;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("%s ended with status %#x, and printed:%s", program, (unsigned)status, output);
    return true;
}

bool process_printed(const char *line)
{
    char whole[2048];
    snprintf(whole, sizeof whole, "\n%s", line);
    return strstr(output, whole) != NULL;
}

void process_assert_printed(const char *line)
{
    if (!process_printed(line))
        fail_msg("no line \"%s\" in:%s", line, output);
}
