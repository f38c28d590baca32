/* SPDX-License-Identifier: MIT */
/*
 * A library that ends or holds up the process: IN_CONSTRUCTOR, a statement, runs when it is opened. Without it, the
 * library is a layer, and IN_INSTALL runs when that is installed.
 */
#include <stdlib.h>

#include "cushim/cushim.h"

#if defined(IN_CONSTRUCTOR)
__attribute__((constructor)) static void end_process(void)
{
    IN_CONSTRUCTOR;
}
#else
static CUresult end_process(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                            const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)table;
    (void)next;
    (void)states;
    (void)kind;
    (void)user;
    IN_INSTALL;
}

static struct cushim_layer layer = CUSHIM_LAYER("ends", end_process, NULL);

CUSHIM_LAYER_ENTRY(layer)
#endif
