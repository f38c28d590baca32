/* SPDX-License-Identifier: MIT */
#include "cushim/version.h"

int cushim_version(void)
{
    return CUSHIM_VERSION;
}
