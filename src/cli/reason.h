/* SPDX-License-Identifier: MIT */
/* The rows of reasons.h, for what the program finds by itself. */
#ifndef CUSHIM_CLI_REASON_H
#define CUSHIM_CLI_REASON_H

#include "cushim/cushim.h"

const char *reason_word(enum cushim_reason reason);
const char *reason_message(enum cushim_reason reason);
const char *reason_advice(enum cushim_reason reason);

#endif
