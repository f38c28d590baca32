/* SPDX-License-Identifier: MIT */
#include "utf8.h"

size_t utf8_length(const unsigned char *bytes)
{
    static const struct {
        unsigned char first, last; /* of the first byte */
        unsigned char from, to;    /* of the second */
        size_t length;
    } forms[] = {
        {0x01, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
        {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
        {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4},
    };
    for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
        if (bytes[0] < forms[form].first || bytes[0] > forms[form].last)
            continue;
        size_t length = forms[form].length;
        if (length > 1 && (bytes[1] < forms[form].from || bytes[1] > forms[form].to))
            return 0;
        for (size_t i = 2; i < length; i++) {
            if (bytes[i] < 0x80 || bytes[i] > 0xbf)
                return 0;
        }
        return length;
    }
    return 0;
}
