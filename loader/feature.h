/* SPDX-License-Identifier: MIT */
/* Features, for the other parts of the loader. */
#ifndef CUSHIM_LOADER_FEATURE_H
#define CUSHIM_LOADER_FEATURE_H

#include "driver.h"

/*
 * Checks the feature of this name: on the driver and, after cuInit, on every device. *out_result is CUDA_SUCCESS; or
 * CUDA_ERROR_NO_DEVICE without a driver or CUDA_ERROR_NOT_SUPPORTED, and the obstacle is recorded as the error of
 * `function`. Returns false if no feature has that name.
 */
bool cush_feature_require(const char *name, enum cushim_default_stream kind, const char *function,
                          CUresult *out_result);

/* Whether a feature has this name. */
bool cush_feature_is_known(const char *name);

#endif
