/* SPDX-License-Identifier: MIT */
/* The one reader of CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. The library, `cushim probe` and `cushim doctor` ask
 * it. */
#ifndef CUSHIM_LOADER_GPU_VISIBLE_H
#define CUSHIM_LOADER_GPU_VISIBLE_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/diagnosis.h"

enum { GPU_MAX = 64, GPU_UUID_SIZE = 48, VISIBLE_SIZE = 4096 };

/* The two variables. */
struct visible_variables {
    bool has_list, has_order;
    bool is_too_long; /* the list; what a driver makes of that was not observed */
    char list[VISIBLE_SIZE], order[64];
};

/* What is remarkable about the list. Each has a sentence in visible_remarks. */
enum visible_remark {
    VISIBLE_FINE,
    VISIBLE_TAIL,        /* "0-3": what follows a number is ignored */
    VISIBLE_ENDS,        /* an entry names no GPU, and ends the list */
    VISIBLE_OTHER_KIND,  /* a number in a list of UUIDs, or the reverse, which also ends it */
    VISIBLE_NOTHING,     /* the first entry names no GPU */
    VISIBLE_TWICE,       /* a GPU is named twice */
    VISIBLE_BAD_ORDER,   /* CUDA_DEVICE_ORDER has no valid value */
    VISIBLE_AMBIGUOUS,   /* the beginning of several UUIDs */
    VISIBLE_PART,        /* "MIG-" and the beginning of the UUID of a GPU */
    VISIBLE_UUID_UNKNOWN /* a GPU whose UUID is not known could be meant, or the number of GPUs is not known */
};

/* What a driver makes of the variables. */
struct visible {
    CUresult code;     /* CUDA_SUCCESS, _NO_DEVICE, _INVALID_DEVICE, or _UNKNOWN */
    int count;         /* of the GPUs that are shown */
    int gpus[GPU_MAX]; /* their indices, in the order of CUDA; 0 is the first GPU of the driver */
    bool is_by_uuid;   /* the list has UUIDs, so the order of the driver has no influence */
    enum visible_remark remark;
    const char *entry; /* the entry of the list to which the remark belongs */
    size_t length;
};

/* Takes no lock. */
CUSHIM_COLD void cush_visible_get(struct visible_variables *out_variables);

/* `uuids`: of the GPUs that the driver counts; each can be "". With a count of -1, their number is not known. */
CUSHIM_COLD void cush_visible_read(const struct visible_variables *variables, const char *const *uuids, int count,
                                   struct visible *out_visible);

/* Whether an entry is read as a UUID, and not as a number. */
CUSHIM_COLD bool cush_visible_is_uuid(const char *entry);

extern const char cush_visible_list_name[], cush_visible_order_name[];

/* The GPUs that this process can use if only the variables can hide them, and what the variables make of them. */
struct visible_shown {
    int count;                          /* -1: not known */
    char uuids[GPU_MAX][GPU_UUID_SIZE]; /* an unknown one is "" */
    struct visible_variables variables;
    struct visible visible;
};

/* Reads the GPUs from files, and the variables. Without the list of the kernel module, each device node is a GPU;
 * `nodes` is their number as cushim_system_get_info() has it. */
CUSHIM_COLD void cush_visible_find(const char *root, int nodes, struct visible_shown *out_shown);

/* ---- gpu_visible_text.c ---- */

/* Writes the sentence of the remark, or "". `count` as above. */
CUSHIM_COLD void cush_visible_explain(const struct visible_variables *variables, const struct visible *visible,
                                      int count, char *text, size_t size);

/* What a person can do about the remark, or "". */
CUSHIM_COLD const char *cush_visible_advice(enum visible_remark remark);

/* ---- gpu_list.c ---- */

/* Writes the UUIDs of the GPUs that this process can use, if only the variables can hide them, and returns their
 * number. Returns -1 if that is not known. An unknown UUID is "". */
CUSHIM_COLD int cush_gpu_list_uuids(const char *root, char uuids[GPU_MAX][GPU_UUID_SIZE]);

/* What an entry names, if it names no GPU. */
enum { NAMES_NOTHING = -1, NAMES_SEVERAL = -2, NAMES_UNKNOWN = -3, NAMES_PART = -4, UUID_PREFIX = 4 };

/* The index of the GPU that an entry with digits of a UUID names. */
CUSHIM_COLD int cush_gpu_list_find(const char *entry, size_t length, const char *const *uuids, int count);

#endif
