/* SPDX-License-Identifier: MIT */
/* Windows speaks UTF-16, cushim UTF-8. */
#ifndef CUSHIM_LOADER_UNICODE_H
#define CUSHIM_LOADER_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/*
 * Both write a whole string with its end, or an empty one and return false: it does not fit, or is not UTF-8. What is
 * not well-formed in UTF-16, as names of files may be, becomes U+FFFD.
 */
bool cush_unicode_to_utf16(const char *text, wchar_t *out_text, size_t size);
bool cush_unicode_to_utf8(const wchar_t *text, char *out_text, size_t size);

#endif
