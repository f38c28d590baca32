/* SPDX-License-Identifier: MIT */
/* Faults on request: from the environment (SOFTCUDA_FAIL, _HIDE, _LATE_CALLBACKS, _LIE) and from softcuda.h. */
#ifndef SOFT_FAULT_H
#define SOFT_FAULT_H

#include "soft.h"

/* Whether this call of an exported function shall fail, and how. */
bool fault_of(const char *symbol, CUresult *out_code);

/* Whether any call is to fail. Needs no lock, nor do the two questions of cuGetProcAddress below. */
bool fault_any(void);

/* Sleeps as long as callbacks are to be late. Without the lock. */
void fault_delay(void);

/* What cuGetProcAddress lies about. */
enum fault_lie {
    LIE_NONE,
    LIE_NEWEST, /* gives the newest ABI, whatever the version asked for */
    LIE_OLDEST, /* gives the oldest one */
    LIE_NULL    /* says success, and gives NULL */
};
enum fault_lie fault_lie(void);

/* Whether SOFTCUDA_HIDE names the symbol. */
bool fault_hides(const char *symbol);

#endif
