/* SPDX-License-Identifier: MIT */
#include "cmocka.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

enum end { ENDED, FAILED, SKIPPED };

/* The point where a test that ends early continues. */
static jmp_buf after_test;

void cmocka_skip(void)
{
    longjmp(after_test, SKIPPED);
}

void cmocka_fail(const char *file, int line, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    printf("[  ERROR   ] --- ");
    vprintf(format, arguments);
    printf("\n%s:%d: error: Failure!\n", file, line);
    va_end(arguments);
    longjmp(after_test, FAILED);
}

void cmocka_numbers(long long left, long long right, bool equal, const char *file, int line)
{
    if ((left == right) != equal)
        cmocka_fail(file, line, "%lld %s %lld", left, equal ? "!=" : "==", right);
}

void cmocka_texts(const char *left, const char *right, bool equal, const char *file, int line)
{
    if ((strcmp(left, right) == 0) != equal)
        cmocka_fail(file, line, "\"%s\" %s \"%s\"", left, equal ? "!=" : "==", right);
}

static enum end run_body(const struct CMUnitTest *test, void **state)
{
    int end = setjmp(after_test);
    if (end != ENDED)
        return (enum end)end;
    if (test->setup != NULL && test->setup(state) != 0)
        cmocka_fail(test->name, 0, "the setup failed");
    test->test(state);
    return ENDED;
}

static enum end run_teardown(const struct CMUnitTest *test, void **state)
{
    int end = setjmp(after_test);
    if (end != ENDED)
        return (enum end)end;
    if (test->teardown != NULL && test->teardown(state) != 0)
        cmocka_fail(test->name, 0, "the teardown failed");
    return ENDED;
}

/* As in cmocka, the teardown also follows a test that failed or was skipped. */
static enum end run_test(const struct CMUnitTest *test)
{
    void *state = NULL;
    enum end body = run_body(test, &state);
    enum end teardown = run_teardown(test, &state);
    return teardown == ENDED ? body : FAILED;
}

int cmocka_run(const struct CMUnitTest *tests, size_t count)
{
    static const char *const words[] = {"       OK ", "  FAILED  ", "  SKIPPED "};
    int failed = 0;
    for (size_t i = 0; i < count; i++) {
        printf("[ RUN      ] %s\n", tests[i].name);
        enum end end = run_test(&tests[i]);
        failed += end == FAILED;
        printf("[%s] %s\n", words[end], tests[i].name);
        fflush(stdout);
    }
    printf("[==========] %u test(s) run, %d failed\n", (unsigned)count, failed);
    return failed;
}
