/* SPDX-License-Identifier: MIT */
#include "system_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#    include <sys/syscall.h>
#    include <unistd.h>

static const struct call calls[] = {
#    define CALL(name, argument, index, phrase) {#    name, SYS_##name, CALL_##argument, index, phrase},
#    define CALL_AS(name, own, argument, index, phrase) {#    name, SYS_##own, CALL_##argument, index, phrase},
#    include "system_calls.inc"
};
enum { CALLS = sizeof calls / sizeof calls[0] };

bool calls_proc_is_own(void)
{
    char number[24] = "";
    ssize_t length = readlink("/proc/self", number, sizeof number - 1);
    return length > 0 && strtol(number, NULL, 10) == (long)getpid();
}

void calls_descriptor_path(long process, long descriptor, char *path, size_t size)
{
    char link[64];
    snprintf(link, sizeof link, "/proc/%ld/fd/%ld", process, descriptor);
    ssize_t length = calls_proc_is_own() ? readlink(link, path, size - 1) : -1;
    if (length > 0)
        path[length] = '\0';
    else
        snprintf(path, size, "descriptor %ld", descriptor);
}
#else
bool calls_proc_is_own(void)
{
    return false;
}

static const struct call calls[] = {{"", -1, CALL_NONE, 0, ""}};
enum { CALLS = 1 };

void calls_descriptor_path(long process, long descriptor, char *path, size_t size)
{
    (void)process;
    snprintf(path, size, "descriptor %ld", descriptor);
}
#endif

const struct call *calls_find(long number)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (calls[i].number == number)
            return &calls[i];
    }
    return NULL;
}

const struct call *calls_find_name(const char *name)
{
    for (size_t i = 0; i < CALLS; i++) {
        if (strcmp(calls[i].name, name) == 0)
            return &calls[i];
    }
    return NULL;
}

void calls_describe(long process, long number, unsigned long long argument, char *text, size_t size)
{
    const struct call *call = calls_find(number);
    char path[128];
    if (call == NULL) {
        snprintf(text, size, "number %ld", number);
    } else if (call->argument == CALL_DESCRIPTOR && call->index == 0) {
        calls_descriptor_path(process, (long)argument, path, sizeof path);
        snprintf(text, size, "%s of %s", call->name, path);
    } else {
        snprintf(text, size, "%s", call->name);
    }
}

const char *calls_error_name(int error)
{
    static const struct {
        int error;
        const char *name;
    } names[] = {
#define ERROR(name) {name, #name},
#include "errors.inc"
    };
    static char number[24];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (names[i].error == error)
            return names[i].name;
    }
    snprintf(number, sizeof number, "error %d", error);
    return number;
}
