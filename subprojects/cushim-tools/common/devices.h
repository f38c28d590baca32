/* SPDX-License-Identifier: MIT */
/* The GPUs of a started driver, their features, and what the command line requires of them. */
#ifndef CUSHIM_DEVICES_H
#define CUSHIM_DEVICES_H

#include <stdbool.h>

#include "cushim/default_stream.h"
#include "cushim/diagnosis.h"
#include "cushim/gpu.h"
#include "json.h"
#include "machine.h"
#include "options.h"

/* Write the GPUs as the JSON array `key`, with all features or only one (features_write()), or as lines of text. */
void devices_write(struct json *json, const char *key, const char *feature);
void devices_print(void);

/* The name of a GPU, such as "NVIDIA H200". */
struct device_name {
    char text[256];
};
struct device_name devices_name(int ordinal);

struct condition_gpu devices_facts(int ordinal);

/* ---- machine_gpus.c: the GPUs of the machine, without a start ---- */

enum { MACHINE_GPUS = CONDITION_GPUS };

/* Finds the GPUs below a root (NULL: this machine) and what CUDA shows of them. */
struct cushim_gpus machine_gpus_find(const char *root, enum cushim_gpu_nvml nvml, struct cushim_gpu gpus[MACHINE_GPUS]);

/* Writes what --choose asks of the GPUs that CUDA shows on this machine, and returns their number: 0 if it shows none,
 * -1 if that is not known; `why` is then a sentence. */
int machine_gpus_facts(const char *root, struct condition_gpu facts[CONDITION_GPUS], char *why, size_t size);

/* A word for what hides a GPU, or NULL; the same as text, or "". */
const char *machine_gpu_hider_word(const struct cushim_gpu *gpu);
const char *machine_gpu_hider_text(const struct cushim_gpu *gpu);

/* A sentence about all of them, with what a person can do. */
struct machine_gpus_text {
    char text[1024];
};
struct machine_gpus_text machine_gpus_summary(const struct cushim_gpus *all);

/* ---- features.c: the features (features.h) of the driver and of its GPUs ---- */

/* Writes the features of a GPU, or of the driver (CUSHIM_DRIVER_ALONE), as the JSON array "features": all of them, or
 * only the one with the name `only`. */
void features_write(struct json *json, CUdevice device, const char *only);

/* Writes a table of all features with a column for each GPU of the started driver. */
void features_print(void);

/* Writes one feature with its values: a line for each GPU. */
void features_print_one(const char *name);

/* Writes how many features the driver supports. */
void features_print_count(void);

/* Whether a name is that of a feature. */
bool features_know(const char *name);

/* The first CUDA version with a feature, and whether it also depends on more of the machine. */
int features_since(enum cushim_feature feature, bool *out_is_of_machine);

/* Returns the name of a feature that is written much like `name`, or NULL. */
const char *features_nearest(const char *name);

/* ---- requirement.c: the requirements of the command line, and whether the driver meets them ---- */

struct requirement {
    bool met;
    enum cushim_reason reason; /* if not met */
    char message[256];         /* if not met: the first requirement that is not met */
    char advice[512];          /* everything that can be done */
};

/* Checks --require, --feature and --require-slot. Call it after a load, successful or not. */
struct requirement requirement_check(const struct options *options);

/* Whether a feature is required, and whether something is that only a GPU has. Both need a start, but files can show
 * what a GPU has. */
bool requirement_has_feature(const struct options *options);
bool requirement_needs_gpus(const struct options *options);

/* What is known of the machine once its driver has started: for conditions. */
void requirement_read_facts(const struct options *options, struct condition_facts *out_facts);

/* Whether this is the name of a slot or of a feature. */
bool requirement_is_name(const char *name);

/* The first driver branch for a CUDA version, 450 for 11000; 0 if no branch is known to be new enough. */
int requirement_branch(int cuda_version);

/* Returns why a condition is not met, or NULL if it is. Valid until the next call. */
const char *requirement_failure(const char *name, enum cushim_default_stream kind);

/* The same without the name at its start, for a line that has the name. */
const char *requirement_reason(const char *name, enum cushim_default_stream kind);

#endif
