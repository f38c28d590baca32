/* SPDX-License-Identifier: MIT */
/* The functions that plugin.c exports. */
#ifndef TESTS_STREAM_PLUGIN_H
#define TESTS_STREAM_PLUGIN_H

#include "cushim/cushim.h"

/* Loads the driver, waits for one completion and detaches another, which has not fired on return. */
CUresult plugin_use(const struct cushim_diagnosis **out_diagnosis);

#endif
