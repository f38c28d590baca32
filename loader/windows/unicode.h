/* SPDX-License-Identifier: MIT */
/* Conversions between UTF-16, which Windows uses, and UTF-8, which cushim uses. */
#ifndef CUSHIM_LOADER_UNICODE_H
#define CUSHIM_LOADER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* The units of UTF-16 of the longest path, with its terminating zero. */
enum { WIDE_PATH_SIZE = 1280 };

/*
 * Both functions write a complete string with its terminating zero. If the string does not fit or is not UTF-8, they
 * write an empty string and return false. UTF-16 that is not well-formed, as file names may be, becomes U+FFFD.
 */
bool cush_unicode_to_utf16(const char *text, wchar_t *out_text, size_t size);
bool cush_unicode_to_utf8(const wchar_t *text, char *out_text, size_t size);

#endif
