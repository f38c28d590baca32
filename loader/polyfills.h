/* SPDX-License-Identifier: MIT */
/* Which slots have a polyfill, and when. */
#ifndef CUSHIM_POLYFILLS_H
#define CUSHIM_POLYFILLS_H

#include "cushim/loader.h"

/* Fills missing slots of the driver table of a kind for which an honest polyfill exists on this driver. */
void cush_polyfills_install(enum cushim_default_stream kind);

/* The slots that a polyfill calls, by the `rule` of its origin. */
const enum cushim_slot *cush_polyfills_via(unsigned rule, size_t *out_count);

#endif
