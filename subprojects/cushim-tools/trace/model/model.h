/* SPDX-License-Identifier: MIT */
/*
 * What the calls of a trace that were read so far show: the objects that exist and existed, the current context of each
 * thread, and the captures. Finders and reports only read it.
 */
#ifndef CUSHIM_TRACE_MODEL_H
#define CUSHIM_TRACE_MODEL_H

#include "cushim/abi/cuda_abi.h"
#include "capturing.h"
#include "effects.h"
#include "ranges.h"
#include "roles.h"
#include "table.h"

/* An object, alive or destroyed. The kind of the key is its row, from 1. */
struct trace_object {
    struct trace_key key;
    unsigned number; /* from 1; 0: no recorded call has created it */
    unsigned references;
    bool is_alive, is_counted;
    bool is_again;                          /* a module or library from an image that was loaded before */
    struct trace_moment created, destroyed; /* destroyed.call is 0 if it was not */
    uint64_t context;                       /* current when it was created; 0: unknown */
    uint64_t bytes;                         /* of memory; 0: unknown */
    struct trace_key parent;                /* the module, library or graph of which it is a part */
    const char *name;                       /* of a kernel, or of that of a node; demangled; NULL: unknown */
};

/* The objects of a type, or those that a function creates at a place. */
struct trace_count {
    struct trace_key key; /* by trace_type_key() or trace_creator_key() */
    uint64_t created;     /* without objects that are only named */
    enum trace_row row;
    unsigned last_number;
    uint64_t begin; /* the number of the call that created the first one */
    uint64_t work;  /* of the model, then */
    bool is_spread; /* the program gave work to streams, or waited, between the first one and a later one */
};

static inline struct trace_key trace_object_key(size_t process, enum trace_row row, uint64_t handle)
{
    return (struct trace_key){.id = handle, .process = (uint32_t)process, .kind = row + 1};
}

static inline enum trace_row trace_row_of(const struct trace_object *object)
{
    return (enum trace_row)(object->key.kind - 1);
}

/* The counts to which an object belongs. */
static inline struct trace_key trace_type_key(const struct trace_object *object)
{
    return (struct trace_key){.id = object->key.kind, .process = object->key.process, .kind = 1};
}

static inline struct trace_key trace_creator_key(const struct trace_object *object)
{
    return (struct trace_key){
        .id = trace_place_of(&object->created), .process = object->key.process, .kind = 2 + object->created.slot};
}

struct trace_model {
    const struct trace_reader *reader;
    uint64_t calls;           /* that were read */
    uint64_t work;            /* those of them that gave work to a stream, or waited */
    struct trace_role *roles; /* of the slots */
    struct trace_object_effect *effects;
    struct trace_table objects, counts, threads, devices;
    struct trace_table images; /* of modules and libraries */
    struct trace_texts texts;
    const char *log; /* what the driver said about the newest call, in lines; or NULL */
    bool has_failed; /* there was not enough memory */
    struct trace_capturing capturing;
    struct trace_ranges ranges;
    const struct trace_orders *orders; /* which work is ordered before which, for finders; or NULL */
    uint64_t *ends;                    /* the number of the last call of each process */
    size_t process_count;
};

/* Return false if there is not enough memory. Every call must be read, in the order of trace_read(). The model can be
 * freed after a failure, too. */
bool trace_model_start(struct trace_model *model, struct trace_reader *reader);
bool trace_model_read(struct trace_model *model, const struct trace_call *call);
bool trace_model_has_failed(const struct trace_model *model);
void trace_model_free(struct trace_model *model);

/* The newest call. */
struct trace_moment trace_moment_of(const struct trace_model *model, const struct trace_call *call);

/* Returns the object with a handle, or NULL. */
const struct trace_object *trace_object_find(const struct trace_model *model, size_t process, enum trace_row row,
                                             uint64_t handle);

/* Returns the context with which an object ended, or NULL. */
const struct trace_object *trace_object_context_ended(const struct trace_model *model,
                                                      const struct trace_object *object);

/* The object of a parameter, or 0. */
uint64_t trace_object_handle(const struct trace_object_field *field, const struct trace_call *call);

/* Whether a call is part of a capture, and not made now. */
bool trace_is_captured(const struct trace_model *model, const struct trace_call *call);

/* The context that is current for a call; 0: none, or unknown. */
uint64_t trace_current_context(const struct trace_model *model, const struct trace_call *call);

/* The call after which no context was current on the thread of a call, and that context. Returns false if there is
 * none. */
bool trace_context_popped(const struct trace_model *model, const struct trace_call *call,
                          const struct trace_object **out_context, struct trace_moment *out_moment);

/* A context that is current on another thread of the process, or NULL. */
const struct trace_object *trace_context_elsewhere(const struct trace_model *model, const struct trace_call *call,
                                                   long *out_thread);

/* Returns the device allocation that is alive and has the address, or one that ends at it or less than its size before
 * it; otherwise, one that was freed, or NULL. */
const struct trace_object *trace_allocation_find(const struct trace_model *model, size_t process, uint64_t address);

/* The stream of a call by a number that also distinguishes per-thread streams: a thread has one in each context. */
uint64_t trace_stream_of(const struct trace_model *model, const struct trace_role *role, const struct trace_call *call);
uint64_t trace_stream_number(const struct trace_model *model, const struct trace_call *call, uint64_t handle);
enum { TRACE_LEGACY_STREAM = 1, TRACE_PER_THREAD_STREAM = 2 };

/* The name of a kernel, of which the handle can be a CUfunction or a CUkernel; or NULL. */
const char *trace_kernel_name(const struct trace_model *model, size_t process, uint64_t handle);

/* ---- object_names.c ---- */

/* The name of the kernel that an object is or, if it is a node, has; or NULL. */
const char *trace_kernel_of(const struct trace_model *model, size_t process, enum trace_type_number type,
                            uint64_t handle);

/* The short name of an object: "stream 3". The text is empty if no call that was read has created it. */
struct trace_text trace_name_of(const struct trace_model *model, size_t process, enum trace_type_number type,
                                uint64_t handle);

/* "stream 3", "device allocation 0x7f0000" */
struct trace_text trace_object_name(const struct trace_object *object);

/* "stream 3", "the legacy stream", "the per-thread stream of thread 4711", also with "in context 2" at the end,
 * "stream 0x55d2a0" */
struct trace_text trace_stream_name(const struct trace_model *model, size_t process, uint64_t stream);

#endif
