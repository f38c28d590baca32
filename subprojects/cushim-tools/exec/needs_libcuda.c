/* SPDX-License-Identifier: MIT */
/* A library without code, which needs libcuda.so.1: a program that opens it finds the functions there. */
typedef int needs_libcuda; /* a file in C has at least one declaration */
