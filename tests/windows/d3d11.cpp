/* SPDX-License-Identifier: MIT */
#include "d3d11.c"
