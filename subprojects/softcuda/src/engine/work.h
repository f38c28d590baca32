/* SPDX-License-Identifier: MIT */
/* work.h - work: one task of a stream, as data. */
#ifndef SOFT_WORK_H
#define SOFT_WORK_H

#include "soft.h"

struct block;
struct event;
struct function;
struct graph;
struct stream;

enum work_kind {
    WORK_EMPTY,
    WORK_KERNEL,
    WORK_COPY,
    WORK_SET,
    WORK_HOST,
    WORK_STATUS,
    WORK_RECORD,
    WORK_WAIT,
    WORK_ALLOC,
    WORK_FREE,
    WORK_VALUES,
    WORK_CHILD,
    WORK_KEEP_GRAPH
};

/* A copy: rows of `width` bytes, `height` rows in a slice. */
struct copy {
    char *to, *from;
    size_t to_pitch, from_pitch, to_slice, from_slice;
    size_t width, height, depth;
    void *staged; /* the source's bytes, copied when the copy was submitted, or NULL; owned */
};

struct set {
    char *to;
    size_t pitch, width, height; /* width in elements */
    unsigned value, element_size;
};

struct kernel {
    struct function *function; /* a reference */
    unsigned grid[3], block[3], shared;
    void **arguments; /* pointers into a copy of the arguments; one allocation, owned */
};

struct work {
    enum work_kind kind;
    unsigned references;
    union {
        struct copy copy;
        struct set set;
        struct kernel kernel;
        struct {
            CUhostFn function;
            void *data;
        } host;
        struct {
            CUstreamCallback function;
            void *data;
            CUstream stream;
        } status;
        struct event *event; /* RECORD, WAIT: a reference */
        struct block *block; /* ALLOC, FREE: a reference */
        struct graph *child; /* CHILD: owned */
        struct graph *kept;  /* KEEP_GRAPH, which ends a launch: a reference */
        struct {
            CUstreamBatchMemOpParams *items; /* owned */
            unsigned count;
        } values;
    };
    /* The description that the node was created from, for queries. */
    union {
        CUDA_MEMCPY3D copy;
        CUDA_MEMSET_NODE_PARAMS set;
    } params;
};

/* Zeroed except for the kind, with one reference; NULL if out of memory. */
struct work *work_new(enum work_kind kind);
void work_ref(struct work *work);
/* Accepts NULL. */
void work_unref(struct work *work);

/* Whether a batch operation is 64-bit; and the flags of a wait that choose a comparison. */
bool value_is_64(CUstreamBatchMemOpType type);
enum { VALUE_COMPARISON = 3 };

/* Whether it is executed without a thread of its own. */
bool work_is_instant(const struct work *work);

/* Whether the memory of a copy or a memset is allocated, unless the program owns it. */
bool work_memory_is_allocated(const struct work *work);

/* Whether it allocates or frees memory. */
bool work_is_of_memory(const struct work *work);

/*
 * Executes it, without the lock. `status` is the context's sticky error, which only a status callback receives; other
 * work is not executed then. Returns its result: an error becomes the sticky error of the context.
 */
CUresult work_run(const struct work *work, CUresult status, const struct stream *stream);

#endif
