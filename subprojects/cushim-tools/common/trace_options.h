/* SPDX-License-Identifier: MIT */
/* What `cushim trace report` writes. */
#ifndef CUSHIM_TRACE_OPTIONS_H
#define CUSHIM_TRACE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

struct trace_options {
    const char *file; /* to which it is written, or NULL: stdout */
    enum trace_format { TRACE_FORMAT_TEXT, TRACE_FORMAT_JSON, TRACE_FORMAT_HTML, TRACE_FORMAT_CSV } format;
    bool calls, findings; /* as text: the calls, or only the findings */
    bool errors;          /* select calls that failed or did not return */
    const char *function, *caller, *stream;
    uint64_t process, thread, from, to; /* 0: all; in nanoseconds */
};

#endif
