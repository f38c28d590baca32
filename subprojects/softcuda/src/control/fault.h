/* SPDX-License-Identifier: MIT */
/* Injected faults: calls that fail, and the delay of callbacks. Except where stated, the caller holds the lock. */
#ifndef SOFT_FAULT_H
#define SOFT_FAULT_H

#include "soft.h"

/* Whether this call of an exported function shall fail, and with which code. */
bool fault_of(const char *symbol, CUresult *out_code);

/* Whether any call shall fail. Needs no lock. */
bool fault_any(void);

/* Makes the nth call from now fail, or every call if `nth` is 0; false if the symbol is unknown or too many faults are
 * set. */
bool fault_add(const char *symbol, unsigned nth, int code);

void fault_clear(void);

void fault_set_delay(uint64_t nanoseconds);

/* Sleeps for the delay of callbacks. Takes the lock itself, and sleeps without it. */
void fault_delay(void);

#endif
