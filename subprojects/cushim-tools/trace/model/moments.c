/* SPDX-License-Identifier: MIT */
#include "model.h"

#include "places.h"

struct trace_moment trace_moment_of(const struct trace_model *model, const struct trace_call *call)
{
    return (struct trace_moment){
        .call = model->calls,
        .process = call->process,
        .thread = call->thread,
        .slot = call->slot,
        .result = call->result,
        .begin = call->begin,
        .end = call->returned ? call->end : UINT64_MAX,
        .site = trace_site_of(model->reader, call),
        .python = trace_python_lines(call),
        .log = call->log != NULL ? model->log : NULL,
        .range = trace_range_path(&model->ranges, call->process, call->thread),
    };
}

uint64_t trace_place_of(const struct trace_moment *moment)
{
    return moment->python != NULL ? (uint64_t)(uintptr_t)moment->python : moment->site;
}
