/* SPDX-License-Identifier: MIT */
#include "directory.h"

#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "unit.h"

static char directory[] = "/tmp/cushim-test-XXXXXX";

int directory_create(void **state)
{
    strcpy(directory + sizeof directory - 7, "XXXXXX");
    if (mkdtemp(directory) == NULL || chmod(directory, 0755) != 0)
        return -1;
    return unit_reset(state);
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *position)
{
    return remove(path);
}

int directory_remove(void **state)
{
    return nftw(directory, remove_one, 64, FTW_DEPTH | FTW_PHYS);
}

const char *directory_root(void)
{
    return directory;
}

const char *directory_path(const char *name)
{
    static char paths[4][PATH_MAX];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof paths[0], "%s/%s", directory, name);
    for (char *slash = path + strlen(directory) + 1; (slash = strchr(slash, '/')) != NULL; slash++) {
        *slash = '\0';
        mkdir(path, 0755);
        *slash = '/';
    }
    return path;
}

const char *directory_write(const char *name, const void *content, size_t size)
{
    const char *path = directory_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(content, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    return path;
}

const char *directory_machine(void)
{
    static char root[PATH_MAX];
    snprintf(root, sizeof root, "%s", directory_path("root"));
    mkdir(root, 0755);
    return root;
}

void directory_machine_file(const char *name, const char *text)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "root/%s", name);
    directory_write(path, text, strlen(text));
}

const char *directory_copy(const char *name, const char *from, size_t most)
{
    FILE *file = fopen(from, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    long size = ftell(file);
    assert_true(size > 0);
    rewind(file);
    char *content = malloc((size_t)size);
    assert_non_null(content);
    assert_int_equal(fread(content, 1, (size_t)size, file), size);
    fclose(file);
    const char *path = directory_write(name, content, most < (size_t)size ? most : (size_t)size);
    free(content);
    return path;
}

const char *directory_driver(const char *name)
{
    return directory_copy(name, unit_fake("fake_12040"), SIZE_MAX);
}

const char *directory_fake(const char *name)
{
    return directory_copy(name, unit_fake(name), SIZE_MAX);
}

const char *directory_link(const char *name, const char *to)
{
    const char *path = directory_path(name);
    assert_int_equal(symlink(to, path), 0);
    return path;
}
