/* SPDX-License-Identifier: MIT */
#include "unicode.h"

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

bool cush_unicode_to_utf16(const char *text, wchar_t *out_text, size_t size)
{
    out_text[0] = L'\0';
    return MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text, -1, out_text, (int)size) > 0;
}

bool cush_unicode_to_utf8(const wchar_t *text, char *out_text, size_t size)
{
    int length = WideCharToMultiByte(CP_UTF8, 0, text, -1, out_text, (int)size, NULL, NULL);
    if (length <= 0)
        out_text[0] = '\0';
    return length > 0;
}
