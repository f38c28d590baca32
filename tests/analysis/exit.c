/* SPDX-License-Identifier: MIT */
/*
 * Linked into the program with -Db_coverage, by --wrap: it writes its counters also where a child ends with _exit(),
 * and before another program takes its place.
 */
#include <unistd.h>

void __gcov_dump(void);
void __gcov_reset(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
int __real_execv(const char *path, char *const arguments[]);
int __wrap_execv(const char *path, char *const arguments[]);
int __real_execvp(const char *name, char *const arguments[]);
int __wrap_execvp(const char *name, char *const arguments[]);

_Noreturn void __wrap__exit(int status)
{
    __gcov_dump();
    __real__exit(status);
}

int __wrap_execv(const char *path, char *const arguments[])
{
    __gcov_dump();
    int result = __real_execv(path, arguments);
    __gcov_reset(); /* what was written is not added again */
    return result;
}

int __wrap_execvp(const char *name, char *const arguments[])
{
    __gcov_dump();
    int result = __real_execvp(name, arguments);
    __gcov_reset();
    return result;
}
