/* SPDX-License-Identifier: MIT */
/*
 * A scene is a scripted sequence of calls that prints each answer in a form that does not depend on the run. Played
 * once as the driver is, and once with newer entry points hidden so that polyfills answer, it must print the same
 * twice.
 */
#ifndef SCENE_H
#define SCENE_H

#include <stdbool.h>

#include "cushim/cushim.h"

/* What results hold before a call. */
#define UNTOUCHED_POINTER ((void *)8)
enum { UNTOUCHED = 77 };

/* What every scene finds. */
struct stage {
    const struct cushim_dispatch_table *table;
    CUdevice device;
    CUcontext primary; /* current */
    CUcontext second;  /* another one of the same device */
    CUstream a, b, c;  /* of the primary one; not blocked by the legacy stream */
    CUstream blocking; /* blocked by it */
    CUdeviceptr memory;
    /* The driver's own, whatever the version limit: before 11.7 it is not to be had on every machine. */
    CUresult(CUDAAPI *wait_value)(CUstream, CUdeviceptr, cuuint32_t, unsigned int);
};

extern struct stage stage;
#define TABLE (stage.table)

/* Prints one answer: "scene.step slot code text". */
CUSHIM_PRINTF(4, 5)
void scene_step(enum cushim_slot slot, const char *step, CUresult code, const char *format, ...);
#define STEP(slot, step, ...) scene_step(CUSHIM_SLOT_##slot, step, __VA_ARGS__)

/* Gives a handle its name in what is printed; handles without one are x0, x1 ... in each step. */
void scene_name(const void *handle, const char *name);
const char *scene_name_of(const void *handle);

/* The name of the context that is current. */
const char *scene_current(void);

/* Makes a context current, NULL for none. */
void scene_enter(CUcontext context);

/* A step whose answer is only a code. */
#define CODE(slot, step, call) STEP(slot, step, call, "-")

/* Ends the play if a call that only sets the scene fails. */
void scene_must(CUresult result, const char *what);
#define MUST(call) scene_must(call, #call)

/* Holds back a stream's work until released. */
void scene_block(CUstream stream);
void scene_release(void);

/* A capture in relaxed mode, begun with the oldest entry point; its end, which prints what became of it. */
void scene_begin(CUstream stream);
void scene_end(enum cushim_slot slot, const char *step, CUstream stream);

/* One more node in a capture. */
void scene_add_node(CUstream stream);

/* A module with the kernels "nothing" and "fault"; NULL where it cannot be made. */
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
void scene_fault(void);

/* Calls that may end the process: one of them, by number. */
void scene_risky(int number);
extern const int scene_risky_count;

#endif
