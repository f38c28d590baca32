/* SPDX-License-Identifier: MIT */
/* The reasons of reasons.h, each as a diagnosis that contains only the reason and its texts. */
#ifndef CUSHIM_LOADER_REASON_H
#define CUSHIM_LOADER_REASON_H

#include "cushim/loader.h"

extern const struct cushim_diagnosis cush_reasons[CUSHIM_REASON_COUNT];

#endif
