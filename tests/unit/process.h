/* SPDX-License-Identifier: MIT */
/* Runs report.c, and looks at what it printed. POSIX only. */
#ifndef PROCESS_H
#define PROCESS_H

#include <stdbool.h>

/* The programs, with and without the stub among the libraries that they are linked to. */
extern const char process_report[];
extern const char process_report_linked[];

/* This one looks for libraries in its own directory first. */
extern const char process_report_origin[];

/* A child ends with this before it has become the program, if the machine does not let it prepare. */
#define PROCESS_CANNOT 77

/*
 * Runs a program with one argument (or NULL) in a child that calls `prepare` (or NULL) first. False: it could not be
 * prepared. Fails the test if the program fails.
 */
bool process_run(const char *program, const char *argument, void (*prepare)(void));

/* Whether it printed this line, or one that begins so; fails the test if it did not. */
bool process_printed(const char *line);
void process_assert_printed(const char *line);

#endif
