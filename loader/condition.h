/* SPDX-License-Identifier: MIT */
/*
 * The one grammar of conditions on a machine, for cushim_require(), cushim_choose(), `cushim probe` and `doctor`.
 *
 *   cuda>=12.4       the driver is for this CUDA version or a newer one
 *   driver>=550.54   it has this release or a newer one; the branch alone (550) is enough
 *   arch>=7.5        one GPU has this compute capability or a higher one, and meets the other conditions on GPUs
 *   memory>=16G      the same for its memory in bytes, with K, M, G, T
 *   cuda<13.0        each of these can have "<"
 *   12.4, 550        the same as cuda>=12.4: a driver means its CUDA version
 *   cuStreamQuery, memory-pools    the slot can be called, the feature be used
 *
 * A list is text with conditions between spaces and commas. It ends at its NUL or at a semicolon. `cushim audit` reads
 * the same in Python (subprojects/cushim-audit/cushim_audit/condition.py); tests/conditions.tsv holds both to it.
 */
#ifndef CUSHIM_LOADER_CONDITION_H
#define CUSHIM_LOADER_CONDITION_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"
#include "cushim/default_stream.h"

enum { CONDITION_GPUS = 64, CONDITION_MESSAGE_SIZE = 512 };

enum condition_answer { CONDITION_MET, CONDITION_UNMET, CONDITION_NOT_KNOWN };

struct condition_gpu {
    int capability;            /* 8060 for 8.6; 0: not known */
    unsigned long long memory; /* in bytes; 0: not known */
};

/* The release of a driver, "550.163.01"; "": not known. */
struct driver_release {
    char text[32];
};

/* What is known of a machine: of its started driver, of its files, or of what the command line says. */
struct condition_facts {
    int cuda_version; /* of the driver, under a version limit; 0: not known */
    bool is_limited;
    struct driver_release driver;
    unsigned long long release;      /* of the driver (cush_condition_release()); 0: not known */
    unsigned long long release_last; /* the newest one that it can be: the same, unless only a branch is known */
    int gpu_count;                   /* -1: not known */
    const char *gpus_why;            /* why they are not known: a sentence without its full stop */
    struct condition_gpu gpus[CONDITION_GPUS];
    /* Answers for the name of a slot or feature, and unless it is met, writes why. */
    enum condition_answer (*judge_name)(const char *name, const struct condition_facts *facts, char *message,
                                        size_t size);
    void *user;                      /* for judge_name */
    enum cushim_default_stream kind; /* for judge_name */
    bool must_be_known;              /* the program ends with an error where something is not */
};

/* Whether a slot or a feature has this name. */
typedef bool (*condition_is_name_fn)(const char *name);

enum condition_fault { CONDITION_RIGHT, CONDITION_WRONG, CONDITION_NO_SUCH_NAME };

/* The CUDA version that a driver needs for a condition ("cuda>=12.4", "driver>=550"); 0 if none would help. */
CUSHIM_COLD int cush_condition_version(const char *text);

/* Whether a text is one word, and not a list. */
CUSHIM_COLD bool cush_condition_is_one(const char *text);

/* Whether every condition of the lists is right. If not, *out_index is the list, and `message` the sentence for it. */
CUSHIM_COLD enum condition_fault cush_conditions_check(const char *const *lists, size_t count,
                                                       condition_is_name_fn is_name, size_t *out_index, char *message,
                                                       size_t size);

/* Whether all conditions of the lists, which are right, are met: those on GPUs by one GPU. Unless they are, *out_index
 * is the list of the first one that is not, and `message` the sentence. What is not met goes before what is not
 * known. */
CUSHIM_COLD enum condition_answer cush_conditions_judge(const char *const *lists, size_t count,
                                                        const struct condition_facts *facts, size_t *out_index,
                                                        char *message, size_t size);

/* Whether a list has a condition on GPUs. */
CUSHIM_COLD bool cush_conditions_need_gpus(const char *const *lists, size_t count);

/* One build of "cu12: cuda>=12.0 arch>=7.5; cpu". */
struct condition_build {
    const char *name; /* in the text, with this length */
    size_t length;
    const char *conditions; /* a list, which can be empty */
};

/* Takes the next build from the text, which becomes NULL with the last one. Returns false with a sentence if its name
 * is not one. */
CUSHIM_COLD bool cush_condition_next_build(const char **text, struct condition_build *out_build, char *message,
                                           size_t size);

/* Whether a list has a condition that only a start of the driver can answer: on memory, or a feature. Writes it. */
CUSHIM_COLD bool cush_conditions_need_start(const char *list, condition_is_name_fn is_feature, char *text, size_t size);

/* Whether a list has no conditions: it is met by every machine. */
CUSHIM_COLD bool cush_condition_list_is_empty(const char *list);

/* The release of a driver, "550.54.14", as a number that grows with it; 0 if the text is not one. */
CUSHIM_COLD unsigned long long cush_condition_release(const char *text);

/* Writes into `facts` what "driver=550.54 arch=8.0" says of a machine; memory= and cuda= can be there, too. A driver
 * means its CUDA version, and nothing else is known. Returns false with a sentence if the text is wrong. */
CUSHIM_COLD bool cush_condition_read_facts(const char *text, struct condition_facts *facts, char *message, size_t size);

#endif
