/* SPDX-License-Identifier: MIT */
/* Runs a function in several threads, all at the same time. POSIX only. */
#ifndef CROWD_H
#define CROWD_H

/* Each thread gets its number, from 0 on. Returns when all have returned. */
void crowd_run(int count, void (*work)(int index));

#endif
