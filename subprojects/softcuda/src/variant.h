/* SPDX-License-Identifier: MIT */
/* The driver that a library represents: one definition for each library. */
#ifndef SOFT_VARIANT_H
#define SOFT_VARIANT_H

extern const int soft_version;   /* 12040 */
extern const char soft_driver[]; /* "550" */

#endif
