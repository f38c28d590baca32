/* SPDX-License-Identifier: MIT */
/* A seccomp filter that ends the process for one system call: a load and a failing start make no call that a process
 * without cushim does not make. Linux only. */
#include "mock.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "child.h"

/* Those that the C library makes when a process starts, opens a library, allocates memory and ends, and the one that
 * load.h names. */
static const long made_by_every_process[] = {
#if defined(SYS_access)
    SYS_access,
#endif
#if defined(SYS_newfstatat)
    SYS_newfstatat,
#endif
    SYS_faccessat,  SYS_brk,    SYS_close, SYS_exit_group, SYS_fstat,   SYS_getdents64, SYS_mmap,
    SYS_mprotect,   SYS_munmap, SYS_read,  SYS_openat,     SYS_pread64, SYS_prlimit64};

enum { LAST_CALL = 460 };

static long forbidden;
static CUresult answer;

static CUresult CUDAAPI init(unsigned flags)
{
    (void)flags;
    return answer;
}

static bool is_made_by_every_process(long number)
{
    bool found = false;
    for (size_t i = 0; i < sizeof made_by_every_process / sizeof made_by_every_process[0]; i++)
        found = found || made_by_every_process[i] == number;
    return found;
}

static bool kill_for_call(void)
{
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)forbidden, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof rules / sizeof rules[0], rules};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static bool starts_fail(void)
{
    static const int codes[] = {2, 3, 100, 101, 304, 803, 999};
    bool holds = unit_load_path(unit_fake("fake_12040")) == CUDA_SUCCESS;
    struct cushim_dispatch_table *driver = (void *)unit_object("fake_12040", "fake_hooks");
    driver->Init_v1 = init;
    for (size_t i = 0; holds && i < sizeof codes / sizeof codes[0]; i++) {
        answer = (CUresult)codes[i];
        holds = cushim_init() == answer && cushim_diagnosis_get()->code == answer;
    }
    return holds;
}

UNIT_TEST(test_init_when_a_filter_ends_the_process_for_another_call_then_fails_as_without_it)
{
    if (unit_runs_under_valgrind()) {
        unit_skip("valgrind makes system calls of its own");
        return;
    }
    for (forbidden = 0; forbidden <= LAST_CALL; forbidden++) {
        if (is_made_by_every_process(forbidden))
            continue;
        print_message("system call %ld\n", forbidden);
        if (!child_check(kill_for_call, starts_fail))
            unit_skip("no filter can be installed");
    }
}
