/* SPDX-License-Identifier: MIT */
#include "kind_unit.c"
