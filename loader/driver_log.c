/* SPDX-License-Identifier: MIT */
#include "driver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "polyfills.h"

/* The lines of a failed call. The call is complete when its last line was logged, which names the function. */
struct failed_call {
    char lines[512];
    size_t length;
    int code;
    char function[64]; /* "cuMemAlloc_v2"; "": the call is not complete */
};

static CUSH_THREAD_LOCAL struct failed_call last_call;
static CUSH_THREAD_LOCAL char taken_lines[sizeof last_call.lines];
static CUlogsCallbackHandle registration; /* guarded by the load lock */

static void failed_call_add_line(struct failed_call *call, const char *line, int length)
{
    size_t room = sizeof call->lines - call->length;
    int needed = snprintf(call->lines + call->length, room, "%s%.*s", call->length > 0 ? "\n" : "", length, line);
    call->length += needed > 0 && (size_t)needed < room ? (size_t)needed : room - 1;
}

/* The last line of a call: "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuStreamQuery". */
static void failed_call_end(struct failed_call *call, const char *line)
{
    static const char returning[] = "Returning ", from[] = ") from ";
    const char *name = strncmp(line, returning, sizeof returning - 1) == 0 ? strstr(line, from) : NULL;
    if (name == NULL)
        return;
    name += sizeof from - 1;
    call->code = (int)strtoull(line + sizeof returning - 1, NULL, 10);
    snprintf(call->function, sizeof call->function, "%.*s", (int)strcspn(name, " .,(\n"), name);
}

/* The driver calls this on any thread. It may not call the driver. A warning can belong to a call that succeeds, so it
 * is not kept. */
static CUSHIM_COLD void CUDA_CB driver_log_on_line(void *user, CUlogLevel level, char *line, size_t length)
{
    char start[160]; /* enough for the last line of a call */
    (void)user;
    if (level != CU_LOG_LEVEL_ERROR || line == NULL)
        return;
    if (last_call.function[0] != '\0') {
        last_call.length = 0;
        last_call.function[0] = '\0';
    }
    int used = 0;
    while ((size_t)used < length && line[used] != '\0')
        used++;
    while (used > 0 && line[used - 1] == '\n')
        used--;
    failed_call_add_line(&last_call, line, used);
    snprintf(start, sizeof start, "%.*s", used, line);
    failed_call_end(&last_call, start);
}

void cush_driver_log_register(void)
{
    if (cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][CUSHIM_SLOT_LogsRegisterCallback_v1].state
        == CUSHIM_STATE_NATIVE)
        (void)cush_driver_tables[CUSHIM_DEFAULT_STREAM_LEGACY].named.LogsRegisterCallback_v1(driver_log_on_line, NULL,
                                                                                             &registration);
}

void cush_driver_log_unregister(void)
{
    if (registration != NULL)
        (void)cush_driver_tables[CUSHIM_DEFAULT_STREAM_LEGACY].named.LogsUnregisterCallback_v1(registration);
    registration = NULL;
}

/* Whether an exported name, such as "cuStreamQuery_ptsz", is one of a driver function. */
static bool is_name_of(const char *symbol, const char *function)
{
    size_t length = strlen(function);
    return strncmp(symbol, function, length) == 0 && (symbol[length] == '\0' || symbol[length] == '_');
}

/* A polyfill can have called another function. */
static CUSHIM_COLD bool slot_calls(enum cushim_slot slot, const char *symbol)
{
    struct slot_origin origin = cush_driver_origins[CUSHIM_DEFAULT_STREAM_LEGACY][slot];
    size_t count = 0;
    const enum cushim_slot *via =
        origin.state == CUSHIM_STATE_POLYFILL ? cush_polyfills_via(origin.rule, &count) : NULL;
    bool found = is_name_of(symbol, cush_symbols_entry(cush_symbols_index(slot)).function);
    for (size_t i = 0; i < count && !found; i++)
        found = slot_calls(via[i], symbol);
    return found;
}

const char *cush_driver_log_take(CUresult code, enum cushim_slot slot)
{
    bool is_wanted =
        last_call.function[0] != '\0' && last_call.code == (int)code && slot_calls(slot, last_call.function);
    if (is_wanted)
        memcpy(taken_lines, last_call.lines, last_call.length + 1);
    last_call.length = 0;
    last_call.function[0] = '\0';
    return is_wanted ? taken_lines : NULL;
}
