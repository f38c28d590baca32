/* SPDX-License-Identifier: MIT */
#include "child.h"

#include <stdio.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test_list.h"

enum { SECONDS = 60, PASSED = 0, FAILED = 1, CANNOT = 77, NOBODY = 65534 };

/* ThreadSanitizer ends a process with its own checks, which a child of a process with many threads or of a constructor
 * fails. */
static void end_process(int status)
{
#if defined(SANITIZED) && defined(SYS_exit_group)
    syscall(SYS_exit_group, status);
#endif
    _exit(status);
}

pid_t child_start(bool (*prepare)(void), bool (*holds)(void))
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        if (prepare != NULL && !prepare())
            end_process(CANNOT);
        end_process(holds() ? PASSED : FAILED);
    }
    return child;
}

bool child_end(pid_t child)
{
    int status = -1;
    assert_true(child > 0);
    assert_int_equal(waitpid(child, &status, 0), child);
    if (WIFSIGNALED(status))
        fail_msg("the child was killed by signal %d", WTERMSIG(status));
    if (WEXITSTATUS(status) == CANNOT)
        return false;
    assert_int_equal(WEXITSTATUS(status), PASSED);
    return true;
}

bool child_check(bool (*prepare)(void), bool (*holds)(void))
{
    return child_end(child_start(prepare, holds));
}

bool child_give_up_rights(void)
{
    return geteuid() != 0 || (setgid(NOBODY) == 0 && setuid(NOBODY) == 0);
}
