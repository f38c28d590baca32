/* SPDX-License-Identifier: MIT */
/*
 * A scene is a sequence of calls that prints each answer in a form that is the same in every run. It must print the
 * same text on the driver as it is and with newer entry points hidden, so that polyfills answer.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>

#include "cushim/cushim.h"

/* The content of results before a call. */
#define UNTOUCHED_POINTER ((void *)8)
enum { UNTOUCHED = 77 };

/* The common objects of all scenes. */
struct stage {
    const struct cushim_dispatch_table *table;
    CUdevice device;
    CUcontext primary; /* current */
    CUcontext second;  /* another context of the same device */
    CUstream a, b, c;  /* of the primary context; non-blocking */
    CUstream blocking; /* a blocking stream */
    CUdeviceptr memory;
    /* The driver's own function, whatever the version limit: before 11.7 some machines disable it. */
    CUresult(CUDAAPI *wait_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
};

extern struct stage stage;
#define TABLE (stage.table)

/* Prints one answer: "scene.step slot code text". */
CUSHIM_PRINTF(4, 5)
void scene_step(enum cushim_slot slot, const char *step, CUresult code, const char *format, ...);
#define STEP(slot, step, ...) scene_step(CUSHIM_SLOT_##slot, step, __VA_ARGS__)

/* Gives a handle a name in the output. Handles without one are x0, x1 ... in each step. */
void scene_name(const void *handle, const char *name);
const char *scene_name_of(const void *handle);

/* The name of the current context. */
const char *scene_current(void);

/* Makes a context current, or none with NULL. */
void scene_enter(CUcontext context);

/* A step whose answer is only a code. */
#define CODE(slot, step, call) STEP(slot, step, call, "-")

/* Ends the run if a call that only sets up the scene fails. */
void scene_must(CUresult result, const char *what);
#define MUST(call) scene_must(call, #call)

/* Blocks the work of a stream until the release. */
void scene_block(CUstream stream);
void scene_release(void);

/* Begins a capture in relaxed mode with the oldest entry point; and ends it, and prints its outcome. */
void scene_begin(CUstream stream);
void scene_end(enum cushim_slot slot, const char *step, CUstream stream);

/* One more node in a capture. */
void scene_add_node(CUstream stream);

/* The kernels "nothing", "two" (which has two parameters) and "fault" as PTX. */
extern const char scene_kernels[];

/* One of them, in a module of its own; NULL if it cannot be created. */
CUfunction scene_kernel(const char *name);

void scene_context(void);
void scene_create(void);
void scene_primary(void);
void scene_primary_end(void);
void scene_stream(void);
void scene_event(void);
void scene_green(void);
void scene_info_idle(void);
void scene_info_capture(void);
void scene_info_legacy(void);
void scene_info_invalid(void);
void scene_update(void);
void scene_graph(void);
void scene_instantiate(void);
void scene_edges(void);
void scene_host(void);
void scene_function(void);
void scene_fault(void);

/* Makes the risky call with this number. It may end the process. */
void scene_risky(int number);
extern const int scene_risky_count;

#endif
