/* SPDX-License-Identifier: MIT */
/* refuses CALL PROGRAM...: runs a program in a sandbox that refuses a system call: shmget or ptrace. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int main(int count, char **arguments)
{
    if (count < 3)
        return 2;
    const unsigned number = strcmp(arguments[1], "ptrace") == 0 ? SYS_ptrace : SYS_shmget;
    struct sock_filter filter[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                                   BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
                                   BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
    struct sock_fprog program = {sizeof filter / sizeof filter[0], filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        perror("seccomp");
    else
        execvp(arguments[2], arguments + 2);
    return 77;
}
