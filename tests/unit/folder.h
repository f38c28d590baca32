/* SPDX-License-Identifier: MIT */
/* A folder of a test's own, and files in it. POSIX only. */
#ifndef FOLDER_H
#define FOLDER_H

#include <stddef.h>

/* cmocka setup and teardown: makes the folder, as unit_reset does the rest; removes it with all that is in it. */
int folder_create(void **state);
int folder_remove(void **state);

#define FOLDER_TEST(test) cmocka_unit_test_setup_teardown(test, folder_create, folder_remove)

/* The folder itself. */
const char *folder_root(void);

/* The path of `name` in the folder; its own folders are made. Valid until the fourth call after this one. */
const char *folder_path(const char *name);

/* Each writes a file in the folder and returns its path. */
const char *folder_write(const char *name, const void *content, size_t size);
const char *folder_copy(const char *name, const char *from, size_t most);
const char *folder_link(const char *name, const char *to);

#endif
