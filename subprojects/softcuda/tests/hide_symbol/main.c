/* SPDX-License-Identifier: MIT */
/*
 * main NAME LIBRARY... - removes names from the exports of libraries, which one linker made in different ways. Without
 * libraries, the linker with this name is missing.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

typedef bool (*hide_fn)(const char *name);

static int failures;

static void expect(bool is_as_expected, const char *path, const char *what)
{
    if (!is_as_expected) {
        printf("%s: %s\n", path, what);
        failures++;
    }
}

static void test_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    hide_fn hide = NULL;
    if (library != NULL)
        *(void **)&hide = dlsym(library, "hide");
    if (hide == NULL) {
        expect(false, path, dlerror());
        return;
    }
    expect(!hide("unknown"), path, "an unknown name was found");
    expect(dlsym(library, "third") != NULL, path, "third() is not exported");
    expect(hide("third"), path, "third() was not hidden");
    expect(dlsym(library, "third") == NULL, path, "third() is still exported");
    expect(dlsym(library, "first_0_0_0") != NULL && dlsym(library, "hide") != NULL, path,
           "another name was hidden, too");
    dlclose(library);
}

int main(int argc, char **argv)
{
    if (argc == 2) {
        printf("skipped: the compiler finds no linker %s\n", argv[1]);
        return 77;
    }
    for (int i = 2; i < argc; i++)
        test_library(argv[i]);
    printf("%s: %d libraries, %d failures\n", argv[1], argc - 2, failures);
    return failures != 0;
}
