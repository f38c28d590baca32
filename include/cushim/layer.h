/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Layers: code that replaces chosen slots of the tables, for tracing, limits or fault injection. loader.h has the
 * general rules.
 *
 * A layer is a struct cushim_layer and the functions with which it replaces slots. Such a function makes its own call
 * through cushim_layer_next(), which leads to the layer below, or to the driver:
 *
 * @code
 * extern struct cushim_layer layer;
 *
 * static CUresult CUDAAPI limited_MemAlloc_v2(CUdeviceptr *memory, size_t size)
 * {
 *     if (size > 1000000)
 *         return CUDA_ERROR_OUT_OF_MEMORY;
 *     return cushim_layer_next(&layer, CUSHIM_DEFAULT_STREAM_LEGACY)->MemAlloc_v2(memory, size);
 * }
 *
 * static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
 *                         const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
 * {
 *     (void)next, (void)states, (void)kind, (void)user;
 *     table->MemAlloc_v2 = limited_MemAlloc_v2;
 *     return CUDA_SUCCESS;
 * }
 *
 * struct cushim_layer layer = CUSHIM_LAYER("limit", install, NULL);
 * CUSHIM_LAYER_ENTRY(layer)
 * @endcode
 *
 * A program adds a layer with cushim_layer_add(). The variable CUSHIM_LAYERS adds layers from shared objects
 * (CUSHIM_LAYER_ENTRY()), to any program that uses cushim.
 *
 * **Calls.** A layer is called once for each call that a program makes through the current table: by cushim_table(),
 * by the stream layer of cushim, and by the functions that cuGetProcAddress and cushim_lookup() return. A function that
 * cushim does not list cannot be replaced. A polyfill calls the slots of the driver itself: the layer is called for the
 * slot that the program called, and not for those that the polyfill uses. Function pointers that the program obtained
 * before it added a layer, from a table or by cuGetProcAddress, bypass this layer.
 *
 * **Kinds.** If an entry point has a per-thread variant, the two tables have different functions, and a layer needs one
 * for each table (CUSHIM_LAYER_BOTH_KINDS()). In entry_points.h, these rows are CUSHIM_ENTRY_PTSZ, CUSHIM_ENTRY_PTDS or
 * CUSHIM_ENTRY_BY_KIND.
 *
 * **Order.** A layer is on top of those that were added before it. The layers that a program adds before the load are
 * below those of CUSHIM_LAYERS, which are added in the order of the variable.
 *
 * **Lifetime.** A layer cannot be removed, because a call can be in it at any time. cushim_layer_stop() makes tables
 * without it current. The struct, its name and its functions must stay in the process; a shared object that
 * CUSHIM_LAYERS names is never closed. Replaced tables stay allocated.
 *
 * **Several copies.** A layer can be installed only once in a process, even if the process has several copies of
 * cushim. If two copies read CUSHIM_LAYERS, the load of the second one fails.
 *
 * **Failures.** If a layer of CUSHIM_LAYERS, or one that waits for the load, cannot be opened or installed, the load
 * fails with CUSHIM_REASON_BAD_LAYER: no program runs without a limit that was requested.
 */
#ifndef CUSHIM_LAYER_H
#define CUSHIM_LAYER_H

#include "cushim/slot.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The version of struct cushim_layer. */
#define CUSHIM_LAYER_VERSION 1

/** A layer. CUSHIM_LAYER() initialises it. The program does not change it after cushim_layer_add(). */
struct cushim_layer {
    unsigned version;    /**< CUSHIM_LAYER_VERSION. */
    unsigned slot_count; /**< CUSHIM_SLOT_COUNT of the header with which the layer is compiled. */
    const char *name;    /**< The name of the layer in messages, unique in a copy of cushim. */
    /**
     * Replaces slots: writes functions of the layer to members of `table`. It is called once for each default stream
     * before the tables become current. If no driver could be loaded, the tables are those of the null driver; after a
     * later load that succeeds, `install` is called again with those of the driver, while functions of the layer may be
     * running.
     *
     * It is called under the lock of the loader, and must not call functions of cushim that load a driver, add a layer
     * or stop one. It may call slots of `next`.
     *
     * @param table   A copy of `next`. Slots that the layer does not write stay as they are.
     * @param next    The table below, valid during the call. Functions of the layer use cushim_layer_next().
     * @param states  The state of each slot below all layers, by its number, valid during the call. Without a driver
     *                every slot is missing.
     * @param kind    The default stream of both tables.
     * @param user    The member `user`.
     * @return CUDA_SUCCESS, or a code with which the layer is refused.
     */
    CUresult (*install)(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user);
    void *user; /**< Passed to `install`. */

    const struct cushim_dispatch_table *next[CUSHIM_DEFAULT_STREAM_COUNT]; /**< Written by cushim. */
    int is_used;                                                           /**< Written by cushim. */
    void *reserved[4];                                                     /**< Zero. */
};

/** The initial value of a layer: struct cushim_layer layer = CUSHIM_LAYER("limit", install, NULL); */
/* clang-format off */
#define CUSHIM_LAYER(name, install, user)                                                                              \
    {                                                                                                                  \
        CUSHIM_LAYER_VERSION, CUSHIM_SLOT_COUNT, (name), (install), (user), {0, 0}, 0, {0, 0, 0, 0}                    \
    }
/* clang-format on */

/**
 * Returns the table below a layer, to which the functions of the layer pass their calls. It changes when a layer below
 * is stopped, and when a driver is loaded after a load that failed.
 *
 * @param layer  A layer that is installed.
 * @param kind   The kind of the table for which the calling function was installed.
 */
static inline const struct cushim_dispatch_table *cushim_layer_next(const struct cushim_layer *layer,
                                                                    enum cushim_default_stream kind)
{
#if defined(CUSHIM_LOAD_ACQUIRE)
    return CUSHIM_LOAD_ACQUIRE(&layer->next[kind]);
#else
    return *(const struct cushim_dispatch_table *const volatile *)&layer->next[kind];
#endif
}

/**
 * Defines the two functions of a slot that differs between the tables, NAME_legacy and NAME_per_thread. Each calls
 * NAME, which the layer defines before, with its kind and the arguments:
 *
 *     static CUresult late_StreamQuery(enum cushim_default_stream kind, CUstream stream) { ... }
 *     CUSHIM_LAYER_BOTH_KINDS(late_StreamQuery, (CUstream stream), stream)
 */
#define CUSHIM_LAYER_BOTH_KINDS(name, parameters, ...)                                                                 \
    static CUresult CUDAAPI name##_legacy parameters                                                                   \
    {                                                                                                                  \
        return name(CUSHIM_DEFAULT_STREAM_LEGACY, __VA_ARGS__);                                                        \
    }                                                                                                                  \
    static CUresult CUDAAPI name##_per_thread parameters                                                               \
    {                                                                                                                  \
        return name(CUSHIM_DEFAULT_STREAM_PER_THREAD, __VA_ARGS__);                                                    \
    }

/** Selects the function for the table of a kind: table->StreamQuery_v1 = CUSHIM_LAYER_OF_KIND(late_StreamQuery, kind);
 */
#define CUSHIM_LAYER_OF_KIND(name, kind)                                                                               \
    ((kind) == CUSHIM_DEFAULT_STREAM_PER_THREAD ? name##_per_thread : name##_legacy)

/**
 * Makes a shared object a layer for CUSHIM_LAYERS: defines the function that cushim calls to get the layer. A shared
 * object can contain one layer. It is compiled with cushim's headers and does not link to cushim.
 */
#if defined(__cplusplus)
#    define CUSHIM_LAYER_ENTRY(layer) extern "C" CUSHIM_LAYER_ENTRY_FUNCTION(layer)
#else
#    define CUSHIM_LAYER_ENTRY(layer) CUSHIM_LAYER_ENTRY_FUNCTION(layer)
#endif
#define CUSHIM_LAYER_ENTRY_FUNCTION(layer)                                                                             \
    CUSHIM_LAYER_EXPORT struct cushim_layer *cushim_layer_entry(void);                                                 \
    CUSHIM_LAYER_EXPORT struct cushim_layer *cushim_layer_entry(void)                                                  \
    {                                                                                                                  \
        return &(layer);                                                                                               \
    }

/**
 * Adds a layer on top of the existing ones, and makes the tables with it current. Never loads a driver: before the
 * first load, the layer waits, and the load installs it. If the layer cannot be installed, the load fails with
 * CUSHIM_REASON_BAD_LAYER.
 *
 * @param layer  The layer. It belongs to the caller, and stays in use until the process ends.
 * @retval CUDA_ERROR_INVALID_VALUE    layer, its name or its install function is NULL, the name is empty, or a reserved
 *                                     member is not zero.
 * @retval CUDA_ERROR_NOT_SUPPORTED    The layer is compiled with the headers of a newer cushim.
 * @retval CUDA_ERROR_ALREADY_ACQUIRED The layer is already in use, by this copy of cushim or by another one in the
 *                                     process, or this copy has a layer of that name. A stopped layer counts as in use.
 * @retval CUDA_ERROR_NOT_READY        The call was made during a load or by an install function, on the same thread.
 * @retval CUDA_ERROR_OUT_OF_MEMORY    There was no memory for the tables.
 * @return Or the code of `install`. After an error, the tables and the layer are unchanged.
 */
CUSHIM_API CUresult cushim_layer_add(struct cushim_layer *layer);

/**
 * Stops a layer: makes tables without it current. If it is in the middle of the stack, the layers above it stay, on new
 * tables. A pointer to a function of the layer that was obtained before can still be called. It passes on to the next
 * layer below that is not stopped. A stopped layer cannot be added again.
 *
 * @param layer  A layer that was added, also if it still waits for the load.
 * @retval CUDA_ERROR_NOT_FOUND      This copy of cushim does not have the layer, or has stopped it.
 * @retval CUDA_ERROR_NOT_READY      As for cushim_layer_add().
 * @retval CUDA_ERROR_OUT_OF_MEMORY  There was no memory for new tables. The layer is still installed.
 */
CUSHIM_API CUresult cushim_layer_stop(struct cushim_layer *layer);

/** The states of a layer. */
enum cushim_layer_state {
    CUSHIM_LAYER_WAITING,   /**< The first load will install it. */
    CUSHIM_LAYER_INSTALLED, /**< It is part of the current tables. */
    CUSHIM_LAYER_STOPPED    /**< cushim_layer_stop() was called. */
};

/** A layer that was added. */
struct cushim_layer_info {
    const char *name; /**< The name of the layer. */
    const char *path; /**< The shared object that CUSHIM_LAYERS named; NULL if the program added the layer. */
    enum cushim_layer_state state; /**< Whether the layer is in use. */
    void *reserved[4];             /**< Zero. */
};

/**
 * Describes one of the layers of this copy of cushim. Never loads.
 *
 * @param index     A number from 0, which is the layer that was added first.
 * @param out_info  Receives the description.
 * @retval CUDA_ERROR_NOT_FOUND      The index is past the last layer.
 * @retval CUDA_ERROR_INVALID_VALUE  out_info is NULL.
 */
CUSHIM_API CUresult cushim_layer_get_info(size_t index, struct cushim_layer_info *out_info);

#ifdef __cplusplus
}
#endif

#endif
