/* SPDX-License-Identifier: MIT */
/* Structs of layers with any content, and lists of shared objects: a layer is refused or installed for both default
 * streams, and a failure changes no table. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* setenv */
#endif
#include "fuzz.h"

#include <string.h>

#include "cushim/cushim.h"
#include "layer.h"
#include "load.h"

enum { LAYERS = 4 };

static struct cushim_layer layers[LAYERS];
static char names[LAYERS][256];
static uint8_t plans[LAYERS]; /* what install does */
static unsigned installs;

static CUresult CUDAAPI layered_StreamQuery_v1(CUstream stream)
{
    (void)stream;
    return CUDA_ERROR_UNKNOWN;
}

static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    uint8_t plan = *(const uint8_t *)user;
    HOLDS(memcmp(table, next, sizeof *table) == 0);
    for (size_t slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        HOLDS(states[slot] == CUSHIM_STATE_MISSING);
    installs++;
    if ((plan & 1) != 0)
        table->StreamQuery_v1 = layered_StreamQuery_v1;
    if ((plan & 2) != 0)
        table->Init_v1 = NULL;
    return (plan & 4) != 0 && kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? CUDA_ERROR_UNKNOWN : CUDA_SUCCESS;
}

static void add(struct fuzz_bytes *bytes, size_t number)
{
    struct cushim_layer *layer = &layers[number];
    const struct cushim_dispatch_table *before[] = {cushim_table_legacy(), cushim_table_per_thread()};
    unsigned mode = fuzz_byte(bytes);
    *layer = (struct cushim_layer){
        .version = fuzz_byte(bytes),
        .slot_count = (mode & 1) != 0 ? CUSHIM_SLOT_COUNT : fuzz_byte(bytes) * 16,
        .name = (mode & 2) != 0 ? NULL : fuzz_text(bytes, names[number], sizeof names[number]),
        .install = (mode & 4) != 0 ? NULL : install,
        .user = &plans[number],
        .is_used = (mode & 8) != 0,
        .reserved = {(mode & 16) != 0 ? layer : NULL},
    };
    plans[number] = (uint8_t)fuzz_byte(bytes);
    CUresult result = cushim_layer_add(layer);
    bool sound = layer->version == CUSHIM_LAYER_VERSION && layer->slot_count > 0
                 && layer->slot_count <= CUSHIM_SLOT_COUNT && (mode & (2 | 4 | 8 | 16)) == 0
                 && names[number][0] != '\0';
    HOLDS(sound || result != CUDA_SUCCESS);
    HOLDS((plans[number] & 6) == 0 || result != CUDA_SUCCESS);
    if (result != CUDA_SUCCESS) {
        HOLDS(cushim_error_last()->code == result && strlen(cushim_error_last()->message) < 1024);
        HOLDS(cushim_table_legacy() == before[0] && cushim_table_per_thread() == before[1]);
    } else if ((plans[number] & 1) != 0) {
        HOLDS(cushim_table_legacy()->StreamQuery_v1(NULL) == CUDA_ERROR_UNKNOWN);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char list[1024], paths[4096] = "";
    setenv("CUSHIM_DRIVER", "none", 1);
    (void)cushim_load(NULL);
    unsigned count = fuzz_byte(&bytes) % (LAYERS + 1);
    for (size_t i = 0; i < count; i++)
        add(&bytes, i);
    /* Opens no file of this machine. */
    for (const char *rest = fuzz_text(&bytes, list, sizeof list); *rest != '\0'; rest++) {
        size_t used = strlen(paths);
        if (used + 32 < sizeof paths)
            snprintf(paths + used, sizeof paths - used, "%s%c", rest == list || rest[-1] == ':' ? "/no/such/" : "",
                     *rest);
    }
    const struct cushim_dispatch_table *before = cushim_table_legacy();
    CUresult result = cush_layer_add_objects(paths);
    HOLDS((result == CUDA_SUCCESS) == (paths[strspn(paths, ":")] == '\0'));
    HOLDS(result == CUDA_SUCCESS || cushim_table_legacy() == before);
    cush_load_reset_for_tests();
    return 0;
}
