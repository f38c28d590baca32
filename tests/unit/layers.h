/* SPDX-License-Identifier: MIT */
/* Layers that record their calls. The tests of layers share them. */
#ifndef LAYERS_H
#define LAYERS_H

#include "mock.h"

#define LEGACY CUSHIM_DEFAULT_STREAM_LEGACY
#define PER_THREAD CUSHIM_DEFAULT_STREAM_PER_THREAD

/* Layers named "a", "b" and "c", which pass calls of cuStreamQuery on, and "synchronize", which does so with
 * cuStreamSynchronize: of all other functions, its table has what is below it. */
extern struct cushim_layer layer_a, layer_b, layer_c, layer_synchronize;

extern struct layers {
    char calls[128];       /* the layers that were called: "a " in the legacy table, "a' " in the per-thread table */
    int installs;          /* the calls of their install functions */
    CUresult install_code; /* the result of those */
} layers;

/* cmocka setup: calls mock_reset, and clears the record and the result. */
int layers_begin(void **state);

#define LAYERS_TEST(name) TEST_WITH(name, layers_begin, NULL)

/* Appends a name to the record. */
void layers_note(const char *name, enum cushim_default_stream kind);

/* Add or stop a layer, and fail the test unless that succeeds. */
void layers_add(struct cushim_layer *layer);
void layers_stop(struct cushim_layer *layer);

/* Asserts that a call through a table passes these layers in this order, and then reaches the driver or its absence. */
void layers_assert_passes(const struct cushim_dispatch_table *table, const char *names);

/* Asserts what cushim_layer_get_info() returns for a layer that was added by the program. */
void layers_assert_state(size_t index, const char *name, enum cushim_layer_state state);

/* Asserts that a call was refused with this code, in the name of this function, with a message that contains `part`. */
void layers_assert_refused(CUresult result, CUresult code, const char *function, const char *part);

#endif
