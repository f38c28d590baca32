/* SPDX-License-Identifier: MIT */
/* The driver that the command line selects, and facts about it that several commands need. */
#ifndef CUSHIM_SELECTED_DRIVER_H
#define CUSHIM_SELECTED_DRIVER_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/diagnosis.h"
#include "options.h"
#include "platform.h"
#include "text.h"

/* Finds the library that stands for a driver, such as "580": in the build directory of this program, or where both are
 * installed. Writes its path with all links resolved. */
bool softcuda_find(const char *driver, char *path, size_t size);

/*
 * Loads the driver.
 *   STATUS_USABLE    the driver is loaded
 *   STATUS_UNUSABLE  it is not loaded; driver_diagnosis() has the reason
 *   STATUS_USAGE     an option is invalid; a message was written to stderr
 */
enum status driver_load(const struct options *options);

/* Makes driver_load() fail with this message: the driver has ended a child, or did not return in time. */
void driver_refuse(const char *message);

/* The diagnosis of the load: cushim_diagnosis_get(), or why this process did not load it (load_in_child.c). */
const struct cushim_diagnosis *driver_diagnosis(void);

/* Whether no driver library was found, with a GPU or without one. */
static inline bool driver_is_absent(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_FOUND || reason == CUSHIM_REASON_NO_NVIDIA;
}

/* Writes the diagnosis to stderr, for commands whose output has no room for it. */
void driver_complain(void);

/* The control of softcuda (softcuda.h), or NULL if the driver is not softcuda. */
const struct softcuda_control *driver_softcuda(void);

/* The loaded driver in words: "NVIDIA driver 550.163.01 for CUDA 12.4, limited to CUDA 11.0". */
struct driver_name {
    char text[160];
};
struct driver_name driver_name(void);

/* What the driver itself says about the last failure of this thread, as the end of a text: " The driver says: NULL is
 * not a valid context; Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuStreamCreate.", or "". */
struct driver_explanation {
    char text[544];
};
struct driver_explanation driver_explanation(void);

/* Starts the driver (cuInit). Flushes stdout first: some drivers fork, and buffered output would be written twice. */
CUresult driver_start(void);

/* The number of GPUs of the started driver; 0 if the driver reports an error. */
int driver_device_count(void);

/* The name of a code, such as "CUDA_ERROR_NO_DEVICE", or "an unknown code". */
const char *driver_code_name(CUresult code);

/* The environment variables that affect whether a GPU can be used (environment.c). */
enum { ENVIRONMENT_SIZE = 16 };

struct environment {
    struct cushim_variable variables[ENVIRONMENT_SIZE]; /* only those that are set */
    size_t count;
};

/* Reads the variables. Call it after the driver was loaded and, if it is to be started, `started`. */
struct environment environment_read(const struct options *options, bool started);

/* Writes what makes the dynamic loader search the directory of a library: "LD_LIBRARY_PATH", or the file in
 * /etc/ld.so.conf.d that names it. `root`: below this directory; NULL: this machine. Returns false if neither does. */
bool library_origin(const char *root, const char *library, char *found, size_t size);

/* ---- preload.c: objects that are loaded before the driver in every program, and that define its functions ---- */

enum { MAX_PRELOADED = 4 };
struct preloaded {
    char path[512];      /* cut, if it is longer */
    const char *through; /* LD_PRELOAD or /etc/ld.so.preload */
    char function[64];   /* one that it defines, cuInit if possible; "" if it cannot be read */
    int error;           /* why it cannot be read, an errno; or 0 */
};

/* Those that define functions of the driver, or cannot be read, until the next call. Returns their number. */
size_t preload_list(const char *root, const struct preloaded **out_list);

/* Whether the cuInit that programs find is not that of the driver. Writes the object that has it. */
bool preload_has_cuinit(char *path, size_t size);

#endif
