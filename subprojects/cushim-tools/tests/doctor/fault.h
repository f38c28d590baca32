/* SPDX-License-Identifier: MIT */
/* The parts of fault. fault.c has the limits, the namespaces and the rest. */
#ifndef FAULT_H
#define FAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Says that a fault cannot be made here, and ends with CANNOT. */
enum { CANNOT = 125 };
void fail(const char *what, const char *fault);
void check(bool holds, const char *what, const char *fault);

/* Returns the text after "NAME=" if the fault begins so. */
const char *value_of(const char *fault, const char *name);

/* The exit status of a child, as a shell has it. */
int wait_for(pid_t child);

/* Writes to a file that exists. Returns false if that fails. */
bool write_file(const char *path, const char *format, ...);

/* Make a fault, if it is one of theirs. */
bool make_mount(const char *fault);
bool make_sandbox(const char *fault);

/* Makes a machine with a GPU. Ends with a reason and status 77 where the system does not allow that. */
void make_machine(const char *fault);

void mount_proc(const char *options, const char *fault);

/* Begins to refuse what the faults "open=..." name: the parent supervises, and the child goes on. */
void refuse_opens(void);

#endif
