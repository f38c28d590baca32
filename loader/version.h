/* SPDX-License-Identifier: MIT */
/* CUDA versions as people write them. */
#ifndef CUSHIM_LOADER_VERSION_H
#define CUSHIM_LOADER_VERSION_H

#include <stdbool.h>

#include "cushim/attributes.h"

/* Returns 12030 for "12.3" and for "12030", 12000 for "12", 12040 for a driver "550" or "550.163.01", and 0 for
 * anything else. */
CUSHIM_COLD int cush_version_parse(const char *text);

/* What a CUDA version says of whether a driver has a release of this branch or a newer one. */
struct version_range {
    int first;   /* a driver below this CUDA version is older */
    int certain; /* one from this CUDA version on is not */
};

/* `is_whole`: any release of the branch is enough. */
CUSHIM_COLD struct version_range cush_version_of_release(int branch, bool is_whole);

struct version_text {
    char text[16];
};

/* Returns "12.3" for 12030: cush_version_text(12030).text. */
struct version_text cush_version_text(int version);

#endif
