/* SPDX-License-Identifier: MIT */
/* What a program can ask about the slots and the entry points. */
#include <string.h>

#include "error.h"
#include "layer.h"
#include "load.h"
#include "os.h"
#include "polyfills.h"

CUSHIM_COLD CUresult cushim_entry_point_get_info(size_t index, struct cushim_entry_point *out_entry)
{
    static const char function[] = "cushim_entry_point_get_info";
    if (out_entry == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, "out_entry is NULL.", NULL);
    if (index >= ENTRY_COUNT)
        return cush_error_set(CUDA_ERROR_NOT_FOUND, function, "The index is past the last entry point.", NULL);
    *out_entry = cush_symbols_entry(index);
    return CUDA_SUCCESS;
}

CUSHIM_COLD CUresult cushim_slot_find(const char *name, enum cushim_slot *out_slot)
{
    static const char function[] = "cushim_slot_find";
    if (name == NULL || out_slot == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, "An argument is NULL.", NULL);
    const char *bare = strncmp(name, "cu", 2) == 0 ? name + 2 : name;
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        /* "cuStreamQuery" is the exported name of StreamQuery_v1. Both begin alike, so that few names are made. */
        const char *symbol = cush_symbols_symbol(cush_symbols_index((enum cushim_slot)slot)) + 2;
        if (symbol[0] == bare[0]
            && (strcmp(cush_symbols_slot_name((enum cushim_slot)slot).text, bare) == 0 || strcmp(symbol, bare) == 0)) {
            *out_slot = (enum cushim_slot)slot;
            return CUDA_SUCCESS;
        }
    }
    return cush_error_set(CUDA_ERROR_NOT_FOUND, function, "No slot has that name.", NULL);
}

CUSHIM_COLD CUresult cushim_slot_get_info(enum cushim_slot slot, enum cushim_default_stream kind,
                                          struct cushim_slot_info *out_info)
{
    if (out_info == NULL || (unsigned)slot >= CUSHIM_SLOT_COUNT || !cush_driver_is_kind(kind))
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, "cushim_slot_get_info",
                              "The slot or the default-stream kind is invalid, or out_info is NULL.", NULL);
    struct cushim_entry_point entry = cush_symbols_entry(cush_symbols_index(slot));
    struct cushim_slot_info info = {.function = entry.function,
                                    .since = entry.since,
                                    .usable_since = cush_polyfills_since(slot),
                                    .state = CUSHIM_STATE_MISSING};
    strcpy(info.name, cush_symbols_slot_name(slot).text);
    if (cush_load_has_driver()) {
        struct slot_origin origin = cush_driver_origins[kind][slot];
        info.state = (enum cushim_slot_state)origin.state;
        if (info.state == CUSHIM_STATE_POLYFILL)
            info.via = cush_polyfills_via(origin.rule, &info.via_count);
        if (info.state == CUSHIM_STATE_NATIVE)
            info.symbol = cush_os_library_symbol_name(cush_loaded_driver.library, cush_driver_tables[kind].slots[slot]);
    }
    info.is_layered = cush_layer_tables_is_replaced(kind, slot);
    *out_info = info;
    return CUDA_SUCCESS;
}

enum cushim_slot_state cushim_slot_get_state(enum cushim_slot slot, enum cushim_default_stream kind)
{
    if ((unsigned)slot >= CUSHIM_SLOT_COUNT || !cush_driver_is_kind(kind) || !cush_load_has_driver())
        return CUSHIM_STATE_MISSING;
    return (enum cushim_slot_state)cush_driver_origins[kind][slot].state;
}
