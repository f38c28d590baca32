/* SPDX-License-Identifier: MIT */
#include "operations.h"
#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "system_calls.h"

static enum meaning operation_meaning(const struct operation *operation)
{
    static const struct {
        const char *calls, *paths, *errors;
        enum meaning meaning;
    } rows[] = {
#define OPERATION(calls, paths, errors, meaning) {calls, paths, errors, OPERATION_##meaning},
#include "operations.inc"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (pattern_matches(rows[i].calls, operation->call) && pattern_matches(rows[i].paths, operation->path)
            && pattern_matches(rows[i].errors, calls_error_name(operation->error)))
            return rows[i].meaning;
    }
    return OPERATION_CAUSE;
}

void operations_add(struct operations *operations, const char *call, const char *path, int error)
{
    struct operation operation = {.error = error, .count = 1};
    snprintf(operation.call, sizeof operation.call, "%s", call);
    snprintf(operation.path, sizeof operation.path, "%s", path);
    operation.meaning = operation_meaning(&operation);
    struct operation *last = operations->count > 0 ? &operations->list[operations->count - 1] : NULL;
    if (last != NULL && last->error == error && strcmp(last->call, operation.call) == 0
        && strcmp(last->path, operation.path) == 0) {
        last->count++;
        return;
    }
    if (operations->count == MAX_OPERATIONS) {
        memmove(operations->list, operations->list + 1, (MAX_OPERATIONS - 1) * sizeof operations->list[0]);
        operations->count--;
    }
    operations->list[operations->count++] = operation;
}

const char *path_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

void operations_opened(struct operations *operations, const char *path)
{
    bool is_library = pattern_matches("*/lib*.so*", path), is_gpu = pattern_matches("/dev/nvidia#", path);
    for (size_t i = 0; i < operations->count; i++) {
        struct operation *operation = &operations->list[i];
        if (strcmp(operation->path, path) == 0
            || (is_library && strcmp(path_name(operation->path), path_name(path)) == 0))
            operation->meaning = OPERATION_NORMAL;
        if (is_gpu && operation->error == EINVAL && strcmp(operation->call, "ioctl") == 0)
            operation->meaning = OPERATION_HARMLESS;
    }
}

const struct operation *operations_last_cause(const struct operations *operations)
{
    for (size_t i = operations->count; i > 0; i--) {
        if (operations->list[i - 1].meaning == OPERATION_CAUSE)
            return &operations->list[i - 1];
    }
    return NULL;
}

const struct operation *operations_first_cause(const struct operations *operations)
{
    for (size_t i = 0; i < operations->count; i++) {
        if (operations->list[i].meaning == OPERATION_CAUSE)
            return &operations->list[i];
    }
    return NULL;
}

const struct operation *operations_last_candidate(const struct operations *operations)
{
    static const char refusals[] =
        "EPERM EACCES ENOSYS EROFS ENOSPC EDQUOT ENOMEM EMFILE ENFILE EAGAIN EAFNOSUPPORT EIO";
    for (size_t i = operations->count; i > 0; i--) {
        const struct operation *operation = &operations->list[i - 1];
        if (operation->meaning == OPERATION_HARMLESS && pattern_matches(refusals, calls_error_name(operation->error)))
            return operation;
    }
    return NULL;
}

const struct operation *operations_missing_library(const struct operations *operations)
{
    static const char libraries[] = "libnv*.so* libcuda*.so* libdx*.so* libd3d12*.so*";
    for (size_t i = operations->count; i > 0; i--) {
        const struct operation *operation = &operations->list[i - 1];
        if (operation->meaning == OPERATION_HARMLESS && operation->error == ENOENT
            && pattern_matches(libraries, path_name(operation->path)))
            return operation;
    }
    return NULL;
}

const struct operation *operations_find(const struct operations *operations, const char *calls)
{
    for (size_t i = 0; i < operations->count; i++) {
        if (pattern_matches(calls, operations->list[i].call))
            return &operations->list[i];
    }
    return NULL;
}

void operation_phrase(const struct operation *operation, char *text, size_t size)
{
    static const char mark[] = "{path}";
    const struct call *call = calls_find_name(operation->call);
    const char *phrase = call != NULL ? call->phrase : "";
    const char *at = strstr(phrase, mark);
    if (call == NULL)
        snprintf(text, size, "the system call %s", operation->call);
    else if (at == NULL)
        snprintf(text, size, "%s", phrase);
    else
        snprintf(text, size, "%.*s%s%s", (int)(at - phrase), phrase, operation->path, at + strlen(mark));
}
