/* SPDX-License-Identifier: MIT */
/* The differences between the libraries; compiled once for each, with SOFT_VERSION and SOFT_DRIVER. */
#include "soft.h"

const int soft_version = SOFT_VERSION;
const char soft_driver[] = SOFT_DRIVER;
