/* SPDX-License-Identifier: MIT */
/* Runs report.c and checks its output. POSIX only. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

/* The programs, without and with the stub among the libraries that they are linked to. */
extern const char process_report[];
extern const char process_report_linked[];

/* This one searches its own directory for libraries first. */
extern const char process_report_origin[];

/* The exit status of a child that could not prepare before it became the program, because the machine does not permit
 * it. */
#define PROCESS_CANNOT 77

/*
 * Runs a program with one argument (or NULL) in a child that calls `prepare` (or NULL) first. Returns false if that
 * failed. Fails the test if the program fails.
 */
bool process_run(const char *program, const char *argument, void (*prepare)(void));

/* Asserts that the output has this line, or a line that begins so. */
bool process_printed(const char *line);
void process_assert_printed(const char *line);

#endif
