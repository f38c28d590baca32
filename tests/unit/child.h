/* SPDX-License-Identifier: MIT */
/* Checks in a child process, which can lose rights or have a past of its own. POSIX only. */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sys/types.h>

/*
 * Starts a child, which first calls `prepare` (or NULL) and then `holds`. It is killed after 20 seconds. child_end()
 * waits for it, and fails the test unless `holds` returned true. It returns false if `prepare` did, because the machine
 * does not permit it: the test is then skipped. Only the parent uses cmocka.
 */
pid_t child_start(bool (*prepare)(void), bool (*holds)(void));
bool child_end(pid_t child);

/* Both, one after the other. */
bool child_check(bool (*prepare)(void), bool (*holds)(void));

/* Takes the rights of root from the process. Returns whether it has none now. */
bool child_give_up_rights(void);

#endif
