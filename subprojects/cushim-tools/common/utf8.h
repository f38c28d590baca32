/* SPDX-License-Identifier: MIT */
#ifndef CUSHIM_TOOLS_UTF8_H
#define CUSHIM_TOOLS_UTF8_H

#include <stddef.h>

/* The number of bytes, 1 to 4, of the UTF-8 character that begins here; 0 if the bytes are not UTF-8 (RFC 3629) or the
 * string ends. */
size_t utf8_length(const unsigned char *bytes);

#endif
