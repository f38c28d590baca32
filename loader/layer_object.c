/* SPDX-License-Identifier: MIT */
#include "layer_object.h"

#include <stdio.h>
#include <string.h>

#include "os_file.h"
#include "os_library.h"

/* A long path is cut at its start: its end names the file. */
enum { MAX_PATH_TEXT = 300 };

static bool fail_object(struct layer_failure *failure, CUresult code, const char *path, const char *why)
{
    size_t length = strlen(path);
    const char *end = length > MAX_PATH_TEXT ? path + length - MAX_PATH_TEXT : path;
    snprintf(failure->message, sizeof failure->message, "The layer %s%.*s cannot be used. %.600s",
             end != path ? "..." : "", MAX_PATH_TEXT, end, why);
    failure->code = code;
    return false;
}

static bool object_push(const char *path, void *library, struct layer_failure *failure)
{
    union {
        cushim_fn symbol;
        struct cushim_layer *(*entry)(void);
    } found = {cush_os_library_symbol(library, "cushim_layer_entry")};
    struct layer_failure refused;
    if (found.symbol == NULL)
        return fail_object(failure, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, path,
                           "It does not export cushim_layer_entry.");
    return cush_layer_stack_push(found.entry(), path, library, &refused)
           || fail_object(failure, refused.code, path, refused.message);
}

bool cush_layer_object_push(const char *path, struct layer_failure *failure)
{
    char error[512], why[sizeof error + 32];
    void *library;
    if (cush_os_library_open(path, &library, error, sizeof error) != OS_LIBRARY_OPEN) {
        snprintf(why, sizeof why, "It cannot be opened: %s.", error);
        return fail_object(failure, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, path, why);
    }
    if (object_push(path, library, failure))
        return true;
    cush_os_library_close(library);
    return false;
}

/* Copies the next path of a list. */
static bool list_read_path(const char **list, char *path, size_t size, struct layer_failure *failure)
{
    const char separators[] = {cush_os_library_list_separator, '\0'};
    *list += strspn(*list, separators);
    size_t length = strcspn(*list, separators);
    if (length >= size)
        return fail_object(failure, CUDA_ERROR_INVALID_VALUE, *list, "The path is too long.");
    memcpy(path, *list, length);
    path[length] = '\0';
    *list += length;
    return true;
}

bool cush_layer_objects_push(const char *list, struct layer_failure *failure)
{
    char path[OS_PATH_SIZE];
    size_t pushed = 0;
    bool done = list_read_path(&list, path, sizeof path, failure);
    while (done && path[0] != '\0') {
        done = cush_layer_object_push(path, failure);
        pushed += done;
        done = done && list_read_path(&list, path, sizeof path, failure);
    }
    while (!done && pushed-- > 0)
        cush_layer_stack_pop();
    return done;
}
