/* SPDX-License-Identifier: MIT */
#include "exec.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cushim/layer.h"

struct pair {
    uintptr_t driver_fn;
    cushim_fn exported;
};

/* One for each entry point and for its per-thread variant. */
static struct pair pairs[2 * ENTRY_COUNT + EXEC_WITHOUT_SLOT_COUNT];
static size_t pair_count;
static cushim_fn exported_slots[CUSHIM_DEFAULT_STREAM_COUNT][CUSHIM_SLOT_COUNT];
static bool is_sorted;

static int pair_compare(const void *one, const void *other)
{
    uintptr_t a = ((const struct pair *)one)->driver_fn;
    uintptr_t b = ((const struct pair *)other)->driver_fn;
    return (a > b) - (a < b);
}

void exec_proc_address_add(cushim_fn exported, cushim_fn driver_fn, enum cushim_default_stream kind,
                           enum cushim_slot slot)
{
    if (is_sorted)
        return; /* a second library: the answers are those of the first one */
    pairs[pair_count++] = (struct pair){(uintptr_t)driver_fn, exported};
    if (slot != CUSHIM_SLOT_COUNT)
        exported_slots[kind][slot] = exported;
}

/* The exported function of a slot in which cushim or a layer answers. */
static cushim_fn find_by_slot(uintptr_t address)
{
    const union table *tables[] = {(const union table *)cushim_table_legacy(),
                                   (const union table *)cushim_table_per_thread()};
    for (size_t kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        for (size_t slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
            if (exported_slots[kind][slot] != NULL && (uintptr_t)tables[kind]->slots[slot] == address)
                return exported_slots[kind][slot];
        }
    }
    return NULL;
}

/* An answer without an exported function stays: a function that the list does not know leads into the driver. */
static void replace(void **address)
{
    struct pair key = {.driver_fn = (uintptr_t)*address};
    const struct pair *found = bsearch(&key, pairs, pair_count, sizeof pairs[0], pair_compare);
    cushim_fn exported = found != NULL ? found->exported : find_by_slot(key.driver_fn);
    if (exported != NULL)
        memcpy(address, &exported, sizeof exported);
}

/* A layer below all others, which see the program as the caller. */
static struct cushim_layer lookup_layer;

static CUresult CUDAAPI exec_GetProcAddress_v1(const char *symbol, void **pfn, int version, cuuint64_t flags)
{
    CUresult result =
        cushim_layer_next(&lookup_layer, CUSHIM_DEFAULT_STREAM_LEGACY)->GetProcAddress_v1(symbol, pfn, version, flags);
    if (result == CUDA_SUCCESS)
        replace(pfn);
    return result;
}

static CUresult CUDAAPI exec_GetProcAddress_v2(const char *symbol, void **pfn, int version, cuuint64_t flags,
                                               CUdriverProcAddressQueryResult *status)
{
    CUresult result = cushim_layer_next(&lookup_layer, CUSHIM_DEFAULT_STREAM_LEGACY)
                          ->GetProcAddress_v2(symbol, pfn, version, flags, status);
    if (result == CUDA_SUCCESS)
        replace(pfn);
    return result;
}

static const char visible[] = "CUDA_VISIBLE_DEVICES";
static char *visible_before; /* when cuInit was called first; NULL if that is not known */
static pid_t visible_process;

/* Set afterwards, the variable has no effect. The program is looked at once more when it ends. */
static void note_late_variable(void)
{
    const char *value = getenv(visible);
    if (value != NULL && visible_before != NULL && strcmp(value, visible_before) != 0 && getpid() == visible_process)
        exec_note(getpid(), EXEC_NOTE_LATE, visible, value);
}

static void watch_variable(const char *value)
{
    if (visible_process != 0 || !exec_notes_are_taken())
        return;
    visible_before = strdup(value != NULL ? value : "");
    visible_process = getpid();
    (void)atexit(note_late_variable);
}

/* A program can set the variable itself, and only code in the program sees that. */
static CUresult CUDAAPI exec_Init_v1(unsigned flags)
{
    const char *value = getenv(visible);
    char number[16];
    if (value != NULL)
        exec_note(getpid(), EXEC_NOTE_VARIABLE, visible, value);
    CUresult result = cushim_layer_next(&lookup_layer, CUSHIM_DEFAULT_STREAM_LEGACY)->Init_v1(flags);
    if (result == CUDA_SUCCESS)
        watch_variable(value);
    snprintf(number, sizeof number, "%d", (int)result);
    exec_note(getpid(), EXEC_NOTE_INIT, number, "");
    return result;
}

/* The per-thread table has no exported cuGetProcAddress. */
static CUresult replace_lookups(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                                const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)user;
    if (kind == CUSHIM_DEFAULT_STREAM_LEGACY) {
        table->Init_v1 = exec_Init_v1;
        table->GetProcAddress_v1 = exec_GetProcAddress_v1;
        table->GetProcAddress_v2 = exec_GetProcAddress_v2;
    }
    return CUDA_SUCCESS;
}

static struct cushim_layer lookup_layer = CUSHIM_LAYER("exec", replace_lookups, NULL);

CUresult exec_proc_address_install(void)
{
    return cushim_layer_add(&lookup_layer);
}

void exec_proc_address_sort(void)
{
    qsort(pairs, pair_count, sizeof pairs[0], pair_compare);
    is_sorted = true;
}
