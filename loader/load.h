/* SPDX-License-Identifier: MIT */
/* For cushim's own tests only; not exported. */
#ifndef CUSHIM_LOAD_H
#define CUSHIM_LOAD_H

/* Forgets everything, as at program start: closes the driver, makes the bootstrap table current, frees each diagnosis.
 * No other thread may be using cushim, and nothing got from it may be used again. */
void cushim_priv_load_reset_for_tests(void);

#endif
