/* SPDX-License-Identifier: MIT */
#include "logs.h"

#include <stdlib.h>
#include <string.h>

struct log {
    struct trace_key key; /* a hash of the text */
    char *text;           /* in a damaged file, it can have zeros */
    size_t length;
};

/* FNV-1a */
static struct trace_key log_key(const struct trace_call *call)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < call->log_length; i++)
        hash = (hash ^ (unsigned char)call->log[i]) * UINT64_C(0x100000001b3);
    return (struct trace_key){.id = hash, .kind = 1};
}

bool trace_log_keep(struct trace_table *logs, const struct trace_call *call)
{
    if (call->log == NULL || call->log_length == 0)
        return true;
    logs->size = sizeof(struct log);
    struct log *log = trace_table_add(logs, log_key(call));
    if (log == NULL || log->text != NULL)
        return log != NULL;
    if ((log->text = malloc(call->log_length + 1)) == NULL)
        return false;
    memcpy(log->text, call->log, call->log_length);
    log->text[call->log_length] = '\0';
    log->length = call->log_length;
    return true;
}

const char *trace_log_find(const struct trace_table *logs, const struct trace_call *call)
{
    const struct log *log = call->log != NULL && call->log_length > 0 ? trace_table_find(logs, log_key(call)) : NULL;
    bool is_same = log != NULL && log->length == call->log_length && memcmp(log->text, call->log, log->length) == 0;
    return is_same ? log->text : NULL;
}

void trace_logs_free(struct trace_table *logs)
{
    for (struct log *log = NULL; (log = trace_table_next(logs, log)) != NULL;)
        free(log->text);
    free(logs->entries);
}
