/* SPDX-License-Identifier: MIT */
/* data_symbol.so: preloaded, it has a variable with the name of a driver function. */
extern int cuInit;
int cuInit = 1;
