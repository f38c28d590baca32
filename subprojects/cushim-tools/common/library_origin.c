/* SPDX-License-Identifier: MIT */
#include "selected_driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"
#include "platform.h"

/* The directory of a library, with links resolved, and where its name is searched for. */
struct origin {
    char directory[PLATFORM_PATH_SIZE];
    char *found;
    size_t size;
};

static const char configuration[] = "/etc/ld.so.conf.d";

static bool is_same_directory(const char *root, const char *path, const char *directory)
{
    char whole[OS_PATH_SIZE], real[PLATFORM_PATH_SIZE];
    return path[0] == '/' && cush_os_path_below(root, path, whole, sizeof whole)
           && platform_real_path(whole, real, sizeof real) && strcmp(real, directory) == 0;
}

/* Whether a line of a file, or an item of a variable, names the directory. */
static bool list_names(const char *root, const char *list, const char *separators, const char *directory)
{
    char item[PLATFORM_PATH_SIZE];
    while (text_next_item(&list, separators, item, sizeof item)) {
        item[strcspn(item, " \t\r#")] = '\0';
        if (is_same_directory(root, item, directory))
            return true;
    }
    return false;
}

static bool file_names(const char *root, const char *path, const char *name, void *user)
{
    enum { FILE_SIZE = 16384 };
    static char text[FILE_SIZE];
    struct origin *origin = user;
    char whole[OS_PATH_SIZE];
    size_t length = strlen(name);
    snprintf(origin->found, origin->size, "%s/%s", path, name);
    return length > 5 && strcmp(name + length - 5, ".conf") == 0
           && cush_os_path_below(root, origin->found, whole, sizeof whole)
           && cush_os_file_read(whole, text, sizeof text) && list_names(root, text, "\n", origin->directory);
}

bool library_origin(const char *root, const char *library, char *found, size_t size)
{
    static const char variable[] = "LD_LIBRARY_PATH";
    struct origin origin = {.found = found, .size = size};
    if (library == NULL || !platform_real_path(library, origin.directory, sizeof origin.directory))
        return false;
    char *slash = strrchr(origin.directory, '/');
    if (slash == NULL)
        return false;
    *slash = '\0';
    const char *list = root == NULL ? getenv(variable) : NULL;
    if (list != NULL && list_names("", list, ":;", origin.directory)) {
        snprintf(found, size, "%s", variable);
        return true;
    }
    return cush_os_directory_find(root != NULL ? root : "", configuration, file_names, &origin);
}
