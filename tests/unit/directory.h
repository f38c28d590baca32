/* SPDX-License-Identifier: MIT */
/* A temporary directory of a test, and files in it. POSIX only. */
#ifndef DIRECTORY_H
#define DIRECTORY_H

#include <stddef.h>

/* cmocka setup and teardown: creates the directory and calls unit_reset; removes the directory with its content. */
int directory_create(void **state);
int directory_remove(void **state);

#define DIRECTORY_TEST(name) TEST_WITH(name, directory_create, directory_remove)

/* The path of the directory itself. */
const char *directory_root(void);

/* The path of `name` in the directory; creates its parent directories. Valid until the fourth call after this one. */
const char *directory_path(const char *name);

/* Each writes a file in the directory and returns its path. */
const char *directory_write(const char *name, const void *content, size_t size);
const char *directory_copy(const char *name, const char *from, size_t most);
const char *directory_link(const char *name, const char *to);

/* The path of the root of a machine, which is the directory "root"; and a file of that machine. */
const char *directory_machine(void);
void directory_machine_file(const char *name, const char *text);

/* A copy of the fake driver for CUDA 12.4. */
const char *directory_driver(const char *name);

/* Copies a fake. Its constructor runs even if musl, which never unmaps a library, has mapped another copy. Valid until
 * the fourth call after this one. */
const char *directory_fake(const char *name);

#endif
