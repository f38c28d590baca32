/* SPDX-License-Identifier: MIT */
#include "capture_rules.h"

#include <stddef.h>

#include "cushim/abi/cuda_abi.h"

/* The rules of tests/conformance/CAPTURE.md. For a result, the first row counts of which the call has all facts in
 * `has` and none in `lacks`. A row without a sentence means that the call did not invalidate the capture. */
static const struct row {
    unsigned result, has, lacks;
    const char *rule;
} rows[] = {
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_CALL_BEGINS, 0, NULL},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_ON_IT, 0, "no mode permits it on a stream of the capture"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_CALL_ALWAYS, 0, "no mode permits it"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_STREAM_CAPTURED | TRACE_CALL_ALONE, 0, NULL},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_RELAXED, 0, NULL},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_OWN_THREAD, 0,
     "unsafe in the thread that began the capture, unless a mode is relaxed"},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_BOTH_GLOBAL, 0,
     "unsafe in every thread of the process during a global capture"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, TRACE_ON_IT, 0, "it would merge two captures"},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, TRACE_EVENT_OF_IT, 0, "it would merge two captures"},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, TRACE_ON_IT, 0, "a capture must end on the stream on which it began"},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION, TRACE_ON_IT, 0, "its stream would wait for work that is not in the capture"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, TRACE_EVENT_OF_IT, TRACE_CALL_ASKS | TRACE_CALL_BEGINS,
     "the legacy stream would wait for the capture"},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, TRACE_BLOCKING, TRACE_CALL_ASKS | TRACE_CALL_BEGINS,
     "work in the legacy stream ends the captures of blocking streams, in every mode"},
    {CUDA_ERROR_CAPTURED_EVENT, TRACE_EVENT_OF_IT, TRACE_CALL_ELAPSED, "the capture recorded the event"},
    {CUDA_ERROR_INVALID_HANDLE, TRACE_CALL_WAITS | TRACE_ON_IT, 0, "the event does not exist"},
    {CUDA_ERROR_INVALID_VALUE, TRACE_CALL_WAITS | TRACE_EVENT_CAPTURED | TRACE_ON_IT, 0,
     "an ended capture recorded the event"},
};

/* `known`: the facts that count. */
static bool row_applies(const struct row *row, unsigned result, unsigned facts, unsigned known)
{
    return row->result == result && (row->has & known & ~facts) == 0 && (row->lacks & known & facts) == 0;
}

const char *trace_capture_rule(unsigned result, unsigned facts)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (row_applies(&rows[i], result, facts, ~0U))
            return rows[i].rule;
    }
    return NULL;
}

bool trace_capture_rule_exists(unsigned result, unsigned facts)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_of_call = (rows[i].has & ~(unsigned)TRACE_OF_CALL) == 0;
        if (row_applies(&rows[i], result, facts, TRACE_OF_CALL) && (rows[i].rule != NULL || is_of_call))
            return rows[i].rule != NULL;
    }
    return false;
}
