/* SPDX-License-Identifier: MIT */
/* Where choices come from (splitmix64, one state for each thread), and the trace of what was chosen. */
#include "trace.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static _Thread_local uint64_t state;
static _Thread_local struct trace_entry *entry;

struct trace *trace;

void choose_from(uint64_t seed)
{
    state = seed;
}

uint64_t choose_seed(void)
{
    uint64_t mixed = state += UINT64_C(0x9e3779b97f4a7c15);
    mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
    return mixed ^ (mixed >> 31);
}

unsigned choose(unsigned count)
{
    return (unsigned)((choose_seed() >> 32) % count);
}

bool one_in(unsigned count)
{
    return choose(count) == 0;
}

struct trace_entry *trace_begin(const char *name)
{
    struct trace_entry *before = entry;
    unsigned number = objects->number;
    unsigned place = trace->counts[number]++;
    entry = &trace->entries[number][place % TRACE_ENTRIES];
    entry->order = atomic_fetch_add(&trace->order, 1);
    entry->operation = objects->operation;
    entry->depth = objects->depth;
    entry->name = name;
    entry->text[0] = '\0';
    entry->result = -1;
    entry->number = ++trace->numbers[number];
    return before;
}

void trace_end(struct trace_entry *before)
{
    entry = before;
}

const char *operation_name(void)
{
    return entry != NULL ? entry->name : "the driver";
}

void note(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(entry->text, sizeof entry->text, format, arguments);
    va_end(arguments);
}

CUresult noted_outer(CUresult result)
{
    entry->result = (int)result;
    return result;
}

CUresult noted(CUresult result)
{
    noted_outer(result);
    /* Where a second call fails, too, the words may be about that one. */
    if (!faults && result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_READY && cushim_error_last()->code != result)
        fail("%s returned %d, and cushim_error_last() has %d", entry->name, (int)result,
             (int)cushim_error_last()->code);
    return result;
}

void fail(const char *format, ...)
{
    if (!atomic_exchange(&trace->has_failed, true)) {
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(trace->failure, sizeof trace->failure, format, arguments);
        va_end(arguments);
        if (objects != NULL)
            trace->failed_operation = objects->operation;
    }
    _exit(FAILED);
}

void check(bool holds, const char *message)
{
    if (!holds)
        fail("%s: %s", operation_name(), message);
}
