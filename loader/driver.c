/* SPDX-License-Identifier: MIT */
#include "driver.h"

_Static_assert(sizeof(union table) == sizeof(struct cushim_dispatch_table), "a table is nothing but its slots");

union table cush_driver_tables[CUSHIM_DEFAULT_STREAM_COUNT];
struct slot_origin cush_driver_origins[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
struct driver cush_loaded_driver;
