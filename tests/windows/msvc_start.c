/* SPDX-License-Identifier: MIT */
/*
 * What the C run-time library of Visual C++ links into a program or, with DLL defined, into a DLL: the first function,
 * the variables for thread-local storage, and the function that touches the pages of a large stack frame. For x86-64.
 */
#include <stdlib.h>
#include <windows.h>

int _fltused;
unsigned long _tls_index;
#pragma section(".tls", long, read, write)
#pragma section(".tls$ZZZ", long, read, write)
__declspec(allocate(".tls")) char tls_start = 0;
__declspec(allocate(".tls$ZZZ")) char tls_end = 0;
const IMAGE_TLS_DIRECTORY64 _tls_used = {(ULONG64)&tls_start, (ULONG64)&tls_end, (ULONG64)&_tls_index, 0, 0, 0};

/* The size of the frame is in rax, which stays as it is. */
__attribute__((naked)) void __chkstk(void)
{
    __asm__("push %rcx\n"
            "push %rax\n"
            "lea 24(%rsp), %rcx\n"
            "1: cmp $0x1000, %rax\n"
            "jb 2f\n"
            "sub $0x1000, %rcx\n"
            "test %rcx, (%rcx)\n"
            "sub $0x1000, %rax\n"
            "jmp 1b\n"
            "2: sub %rax, %rcx\n"
            "test %rcx, (%rcx)\n"
            "pop %rax\n"
            "pop %rcx\n"
            "ret");
}

#if defined(DLL)
BOOL __stdcall _DllMainCRTStartup(HINSTANCE instance, DWORD reason, LPVOID reserved)
{
    (void)instance, (void)reason, (void)reserved;
    return TRUE;
}
#else
int main(int argc, char **argv);
__declspec(dllimport) int _configure_narrow_argv(int mode);
__declspec(dllimport) int *__p___argc(void);
__declspec(dllimport) char ***__p___argv(void);

void mainCRTStartup(void)
{
    _configure_narrow_argv(1);
    exit(main(*__p___argc(), *__p___argv()));
}
#endif
