/* SPDX-License-Identifier: MIT */
/* The rows of reasons.h, each as a diagnosis that contains the reason alone. */
#ifndef CUSHIM_LOADER_REASON_H
#define CUSHIM_LOADER_REASON_H

#include "cushim/loader.h"

extern const struct cushim_diagnosis cush_reasons[CUSHIM_REASON_COUNT];

#endif
