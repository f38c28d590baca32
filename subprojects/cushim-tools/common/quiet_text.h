/* SPDX-License-Identifier: MIT */
/* Texts and sizes of files, without the signals of a write that is not possible (posix/quiet_file.h). */
#ifndef CUSHIM_QUIET_TEXT_H
#define CUSHIM_QUIET_TEXT_H

#include <stdarg.h>
#include <stdio.h>

#include "posix/quiet_file.h"

/* Writes a text with one call, as far as it fits. */
CUSHIM_PRINTF(2, 3)
static inline void quiet_print(int file, const char *format, ...)
{
    char text[3072]; /* a thread can have a small stack */
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (length > 0)
        (void)quiet_write(file, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
}

/* Gives a file a size. Returns false, with errno, if that is not possible. */
static inline bool quiet_resize(int file, off_t size)
{
    struct quiet_signals signals;
    quiet_begin(&signals);
    return quiet_end(&signals, ftruncate(file, size) == 0);
}

#endif
