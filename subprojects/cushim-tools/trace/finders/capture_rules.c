/* SPDX-License-Identifier: MIT */
#include "capture_rules.h"

#include <stddef.h>

#include "cushim/abi/cuda_abi.h"

#define OUTSIDE "make this call before or after the capture"
#define NON_BLOCKING "create the streams with CU_STREAM_NON_BLOCKING, or do not use the legacy stream meanwhile"

/* The rules of tests/conformance/CAPTURE.md, and what to do instead. For a result, the first row counts of which the
 * call has all facts in `has` and none in `lacks`. A row without a sentence means that the call did not invalidate the
 * capture. */
static const struct row {
    unsigned result, has, lacks;
    struct trace_rule rule;
} rows[] = {
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_CALL_BEGINS, 0, {NULL, NULL}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_ON_IT, 0, {"no mode permits it on a stream of the capture", OUTSIDE}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_CALL_ALWAYS, 0, {"no mode permits it", OUTSIDE}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_STREAM_CAPTURED | TRACE_CALL_ALONE, 0, {NULL, NULL}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, TRACE_RELAXED, 0, {NULL, NULL}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     TRACE_OWN_THREAD,
     0,
     {"unsafe in the thread that began the capture, unless a mode is relaxed",
      OUTSIDE ", or make the thread relaxed for it (cuThreadExchangeStreamCaptureMode)"}},
    {CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
     TRACE_BOTH_GLOBAL,
     0,
     {"unsafe in every thread of the process during a global capture",
      "begin the capture with CU_STREAM_CAPTURE_MODE_THREAD_LOCAL, or " OUTSIDE}},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, TRACE_ON_IT, 0, {"it would merge two captures", "begin only one of them"}},
    {CUDA_ERROR_STREAM_CAPTURE_MERGE, TRACE_EVENT_OF_IT, 0, {"it would merge two captures", "begin only one of them"}},
    {CUDA_ERROR_STREAM_CAPTURE_UNMATCHED,
     TRACE_ON_IT,
     0,
     {"a capture must end on the stream on which it began", "pass the stream of cuStreamBeginCapture"}},
    {CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
     TRACE_ON_IT,
     0,
     {"its stream would wait for work that is not in the capture",
      "wait before the capture, or let the stream of that work join the capture before"}},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
     TRACE_EVENT_OF_IT,
     TRACE_CALL_ASKS | TRACE_CALL_BEGINS,
     {"the legacy stream would wait for the capture",
      "wait in a stream of the capture, or after a launch of the graph"}},
    {CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
     TRACE_BLOCKING,
     TRACE_CALL_ASKS | TRACE_CALL_BEGINS,
     {"work in the legacy stream ends the captures of blocking streams, in every mode", NON_BLOCKING}},
    {CUDA_ERROR_CAPTURED_EVENT,
     TRACE_EVENT_OF_IT,
     TRACE_CALL_ELAPSED,
     {"the capture recorded the event", "use an event that is recorded outside of captures"}},
    {CUDA_ERROR_INVALID_HANDLE, TRACE_CALL_WAITS | TRACE_ON_IT, 0, {"the event does not exist", "create it before"}},
    {CUDA_ERROR_INVALID_VALUE,
     TRACE_CALL_WAITS | TRACE_EVENT_CAPTURED | TRACE_ON_IT,
     0,
     {"an ended capture recorded the event", "record it in this capture, or in no capture, before"}},
};

/* `known`: the facts that count. */
static bool row_applies(const struct row *row, unsigned result, unsigned facts, unsigned known)
{
    return row->result == result && (row->has & known & ~facts) == 0 && (row->lacks & known & facts) == 0;
}

const struct trace_rule *trace_capture_rule(unsigned result, unsigned facts)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (row_applies(&rows[i], result, facts, ~0U))
            return rows[i].rule.broken != NULL ? &rows[i].rule : NULL;
    }
    return NULL;
}

bool trace_capture_rule_exists(unsigned result, unsigned facts)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        bool is_of_call = (rows[i].has & ~(unsigned)TRACE_OF_CALL) == 0;
        if (row_applies(&rows[i], result, facts, TRACE_OF_CALL) && (rows[i].rule.broken != NULL || is_of_call))
            return rows[i].rule.broken != NULL;
    }
    return false;
}
