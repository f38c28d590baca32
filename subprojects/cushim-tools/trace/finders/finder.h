/* SPDX-License-Identifier: MIT */
/* A finder looks for findings of one kind: one row of findings.inc. */
#ifndef CUSHIM_TRACE_FINDER_H
#define CUSHIM_TRACE_FINDER_H

#include "cushim/attributes.h"
#include "../model/model.h"

enum trace_finding_kind {
#define FINDING(kind, finder, title, severity) TRACE_FINDING_##kind,
#include "findings.inc"
    TRACE_FINDING_KINDS
};

struct trace_finding {
    enum trace_finding_kind kind;
    uint64_t call; /* its number in the order of trace_read(), from 1; 0: no single call, and no thread and time */
    size_t process;
    long thread;
    uint64_t begin;
    uint64_t site; /* of the call, as in struct trace_moment; the next one, too */
    const char *python;
    const char *log;   /* what the driver said about the call, in lines; or NULL. The model owns it, and the next one */
    const char *range; /* the ranges of NVTX in which it was made; or NULL */
    char *text;        /* a sentence */
    unsigned slot, result;     /* of the call */
    struct trace_moment other; /* another call that the finding is about, too; its call is 0 if there is none */
    uint64_t count;            /* of the findings that are equal but for their numbers, this one included */
    uint64_t last;             /* when the call of the last one of them began */
    struct trace_repeat {
        uint64_t begin;
        long thread;
    } * repeats; /* the calls of the others, at most TRACE_MAX_FINDINGS of count - 1 */
};

/* Looking for the reason of a failure can take long: behind so many reasons, the report has enough. */
enum { TRACE_MAX_FINDINGS = 1000, TRACE_MAX_REASONS = 10000 };

/* Whether every later call of the process returns a result, too. */
static inline bool trace_is_sticky(unsigned result)
{
    return result == CUDA_ERROR_ILLEGAL_ADDRESS || result == CUDA_ERROR_LAUNCH_TIMEOUT || result == CUDA_ERROR_ASSERT
           || (result >= CUDA_ERROR_HARDWARE_STACK_ERROR && result <= CUDA_ERROR_LAUNCH_FAILED);
}

/* Whether a result is one of stream capture, which the finders of captures explain. */
static inline bool trace_is_of_capture(unsigned result)
{
    return result >= CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED && result <= CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD;
}

struct trace_list {
    struct trace_finding *all;
    size_t count;
    /* Also those that are not in the list: it has at most 1000 of a kind, and equal ones once. */
    uint64_t found[TRACE_FINDING_KINDS];
    uint64_t not_examined; /* the failed calls for which no reason was looked for */
};

/* Adds a finding about a call, or about no single call (NULL). One that is equal to another one of the same place but
 * for its numbers is counted there, unless both are about the same call. Returns false if there is not enough memory.
 */
CUSHIM_PRINTF(4, 5)
bool trace_list_add(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                    const char *format, ...);

/* The same about two calls: what follows the sentence is the place of the first one, and then the other call. */
CUSHIM_PRINTF(5, 6)
bool trace_list_add_pair(struct trace_list *list, enum trace_finding_kind kind, const struct trace_moment *moment,
                         const struct trace_moment *other, const char *format, ...);

/* Counts a finding that is equal to one with an index. Returns false if there is not enough memory. */
bool trace_list_repeat(struct trace_list *list, size_t index, const struct trace_moment *moment);

/* Appends the findings of another list, which is empty then. Returns false if there is not enough memory. */
bool trace_list_move(struct trace_list *list, struct trace_list *from);
void trace_list_free(struct trace_list *list);

/* The functions can be NULL, and return false if there is not enough memory. */
struct trace_finder {
    size_t size; /* of its state, which is zeroed before the first call */

    /* Reads a call, which the model has read before. All calls of the trace are read, in the order of trace_read(). */
    bool (*read)(void *state, const struct trace_model *model, const struct trace_call *call, struct trace_list *list);

    /* After the last call. */
    bool (*end)(void *state, const struct trace_model *model, struct trace_list *list);

    /* Frees what the state points to. */
    void (*free)(void *state);
};

#define FINDING(kind, finder, title, severity) extern const struct trace_finder trace_finder_##finder;
#include "findings.inc"

#endif
