/* SPDX-License-Identifier: MIT */
/* In place of condition_gpus.c, gpu_list.c and gpu_visible_text.c in a subset without --gpus: the diagnosis has the
 * sentence of its reason, and none about the entry of the list. */
#include "condition_facts.h"
#include "gpu_visible.h"

int cush_gpu_list_uuids(const char *root, char uuids[GPU_MAX][GPU_UUID_SIZE])
{
    (void)root, (void)uuids;
    return -1;
}

/* None of their UUIDs is known. */
int cush_gpu_list_find(const char *entry, size_t length, const char *const *uuids, int count)
{
    (void)entry, (void)length, (void)uuids, (void)count;
    return NAMES_UNKNOWN;
}

void cush_visible_explain(const struct visible_variables *variables, const struct visible *visible, int count,
                          char *text, size_t size)
{
    (void)variables, (void)visible, (void)count, (void)size;
    text[0] = '\0';
}

bool cush_condition_has_gpus(void)
{
    return false;
}

CUresult cush_condition_gpus(struct condition_facts *facts)
{
    facts->gpus_why = "the cushim in this program was made without --gpus (amalgamate.py)";
    return CUDA_ERROR_NOT_SUPPORTED;
}
