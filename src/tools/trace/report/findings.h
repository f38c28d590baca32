/* SPDX-License-Identifier: MIT */
/*
 * What a report concludes from the calls of a trace: which call invalidated a capture, why a call failed, which objects
 * were left, and where the program waited.
 */
#ifndef CUSHIM_CLI_TRACE_FINDINGS_H
#define CUSHIM_CLI_TRACE_FINDINGS_H

#include "report.h"

/* The order is that of the summary. */
enum trace_finding_kind {
    TRACE_FINDING_CAPTURE, /* which call invalidated a capture */
    TRACE_FINDING_FAILURE, /* why a call failed */
    TRACE_FINDING_GROWTH,  /* a function whose objects are not destroyed */
    TRACE_FINDING_ALIVE,   /* objects that were left at the end */
    TRACE_FINDING_WAIT,    /* a long wait, and for what */
    TRACE_FINDING_KINDS
};

struct trace_finding {
    enum trace_finding_kind kind;
    uint64_t call; /* its number in the order of trace_read(), from 1; 0: no single call, and no thread and time */
    size_t process;
    long thread;
    uint64_t begin;
    char *text; /* a sentence */
};

enum { TRACE_MOST_FINDINGS = 1000 };

/* Begin with a zeroed struct. */
struct trace_findings {
    struct trace_finding *list; /* by kind, and then by importance or time */
    size_t count;
    uint64_t found[TRACE_FINDING_KINDS]; /* also those that are not in the list: it has at most 1000 of a kind */
    bool failed;                         /* there was not enough memory */
    uint64_t calls;                      /* that were read */
    struct trace_role *roles;            /* of the slots */
    struct trace_objects *objects;
    struct trace_captures *captures;
    struct trace_waits *waits;
};

/* Reads a call: all calls of the trace, in the order of trace_read(). */
void trace_findings_read(struct trace_findings *findings, const struct trace_reader *reader,
                         const struct trace_call *call);

/* Completes the list, after the last call. */
void trace_findings_end(struct trace_findings *findings, const struct trace_reader *reader);

void trace_findings_free(struct trace_findings *findings);

/* ---- captures.c, waits.c ---- */

void trace_captures_read(struct trace_findings *findings, const struct trace_reader *reader,
                         const struct trace_call *call, const struct trace_role *role);
void trace_captures_end(struct trace_findings *findings, const struct trace_reader *reader);
void trace_captures_free(struct trace_findings *findings);
void trace_waits_read(struct trace_findings *findings, const struct trace_reader *reader, const struct trace_call *call,
                      const struct trace_role *role);
void trace_waits_end(struct trace_findings *findings, const struct trace_reader *reader);
void trace_waits_free(struct trace_findings *findings);

/* ---- roles.c ---- */

/* What a function is to streams and captures. */
struct trace_role {
    enum trace_role_kind {
        TRACE_OTHER,
        TRACE_WORK, /* work for a stream */
        TRACE_BEGIN_CAPTURE,
        TRACE_END_CAPTURE,
        TRACE_CAPTURE_STATUS,
        TRACE_EXCHANGE_MODE,
        TRACE_RECORD_EVENT,
        TRACE_WAIT_EVENT,
        TRACE_ELAPSED_TIME,
        TRACE_CREATE_STREAM,
        TRACE_DESTROY_STREAM,
        TRACE_SYNCHRONIZE_STREAM,
        TRACE_SYNCHRONIZE_EVENT,
        TRACE_SYNCHRONIZE_CONTEXT,
        TRACE_SYNCHRONOUS, /* a copy that waits for all streams, for example */
    } kind;
    bool is_known;
    bool is_of_stream_alone;  /* in a stream that is not capturing, it invalidates no capture */
    bool no_mode_permits;     /* it invalidates every capture */
    int stream, event, value; /* the places of these arguments; value: a mode, a status or flags. -1: none */
};

/* Returns the role of a function. NULL: there is not enough memory. */
const struct trace_role *trace_role_of(struct trace_findings *findings, const struct trace_reader *reader,
                                       unsigned slot);

/* The capture status that a call has written; CU_STREAM_CAPTURE_STATUS_NONE also if it has not. */
uint64_t trace_capture_status(const struct trace_role *role, const struct trace_call *call);

/* The stream of a call by a number that also distinguishes per-thread streams: a thread has one in each
 * context. */
uint64_t trace_stream_of(const struct trace_findings *findings, const struct trace_role *role,
                         const struct trace_call *call);
uint64_t trace_stream_number(const struct trace_findings *findings, const struct trace_call *call, uint64_t handle);
enum { TRACE_LEGACY_STREAM = 1, TRACE_PER_THREAD_STREAM = 2 };

/* "stream 3", "the legacy stream", "the per-thread stream of thread 4711", also with "in context 2" at the end,
 * "stream 0x55d2a0" */
struct trace_text trace_stream_name(const struct trace_findings *findings, size_t process, uint64_t stream);

/* ---- model.c ---- */

void trace_objects_read(struct trace_findings *findings, const struct trace_reader *reader,
                        const struct trace_call *call);
void trace_objects_end(struct trace_findings *findings, const struct trace_reader *reader);
void trace_objects_free(struct trace_findings *findings);

/* The short name of an object: "stream 3". The type can end with " *". The text is empty if no call that was read has
 * created it. */
struct trace_text trace_object_name(const struct trace_findings *findings, size_t process, const char *type,
                                    uint64_t handle);

/* The number in the short name, or 0. */
unsigned trace_object_number(const struct trace_findings *findings, size_t process, const char *type, uint64_t handle);

/* The context that is current for a call; 0: unknown. */
uint64_t trace_current_context(const struct trace_findings *findings, const struct trace_call *call);

/* ---- table.c ---- */

/* A call, after it was read. */
struct trace_moment {
    uint64_t call; /* its number */
    size_t process;
    long thread;
    unsigned slot, result;
    uint64_t begin, end;
};
struct trace_moment trace_moment_of(const struct trace_findings *findings, const struct trace_call *call);

/* Adds a finding about a call, or about none (NULL). */
CUSHIM_PRINTF(4, 5)
void trace_finding_add(struct trace_findings *findings, enum trace_finding_kind kind, const struct trace_moment *moment,
                       const char *format, ...);

/* A table of entries of one size, found by a key, with which an entry begins. Begin with a zeroed struct that has the
 * size of an entry. */
struct trace_key {
    uint64_t id;
    uint32_t process;
    uint32_t kind; /* from 1; 0: a free entry */
};
struct trace_table {
    size_t size, count, room;
    char *entries;
};

/* Returns the entry, or NULL. */
void *trace_table_find(const struct trace_table *table, struct trace_key key);

/* Adds an absent entry; its other members are 0. The entries can move. NULL: there is not enough memory. */
void *trace_table_add(struct trace_table *table, struct trace_key key);

/* Goes through the entries: start with NULL. */
void *trace_table_next(const struct trace_table *table, const void *entry);

#endif
