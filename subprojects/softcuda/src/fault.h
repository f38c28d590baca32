/* SPDX-License-Identifier: MIT */
/* Injected faults: from the environment (SOFTCUDA_FAIL, _HIDE, _LATE_CALLBACKS) and from softcuda.h. */
#ifndef SOFT_FAULT_H
#define SOFT_FAULT_H

#include "soft.h"

/* Whether this call of an exported function shall fail, and with which code. */
bool fault_of(const char *symbol, CUresult *out_code);

/* Whether any call shall fail. Needs no lock. */
bool fault_any(void);

/* Sleeps for the delay of callbacks, without the lock. */
void fault_delay(void);

/* Whether SOFTCUDA_HIDE names the symbol. Needs no lock. */
bool fault_hides(const char *symbol);

#endif
