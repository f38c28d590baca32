/* SPDX-License-Identifier: MIT */
#include "proc_address.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "exports.h"
#include "symbols.h"

struct pair {
    uintptr_t driver_fn;
    cushim_fn exported;
};

/* One for each entry point and for its per-thread form. */
static struct pair pairs[2 * ROW_COUNT + 16];
static size_t pair_count;

static int pair_compare(const void *one, const void *other)
{
    uintptr_t a = ((const struct pair *)one)->driver_fn;
    uintptr_t b = ((const struct pair *)other)->driver_fn;
    return (a > b) - (a < b);
}

void exec_proc_address_add(cushim_fn driver_fn, cushim_fn exported)
{
    if (driver_fn != NULL && pair_count < sizeof pairs / sizeof pairs[0])
        pairs[pair_count++] = (struct pair){(uintptr_t)driver_fn, exported};
}

void exec_proc_address_sort(void)
{
    qsort(pairs, pair_count, sizeof pairs[0], pair_compare);
}

/* The export of a slot in which cushim or a layer answers. */
static cushim_fn find_by_slot(uintptr_t address)
{
    const union table *tables[] = {(const union table *)cushim_table_legacy(),
                                   (const union table *)cushim_table_per_thread()};
    for (size_t i = 0; i < exec_export_count; i++) {
        const struct exec_export *export = &exec_exports[i];
        if (export->slot != CUSHIM_SLOT_COUNT && (uintptr_t)tables[export->kind]->slots[export->slot] == address)
            return export->function;
    }
    return NULL;
}

void exec_proc_address_replace(void **address)
{
    struct pair key = {.driver_fn = (uintptr_t)*address};
    const struct pair *found = bsearch(&key, pairs, pair_count, sizeof pairs[0], pair_compare);
    cushim_fn exported = found != NULL ? found->exported : find_by_slot(key.driver_fn);
    if (exported != NULL)
        memcpy(address, &exported, sizeof exported);
}
