/* SPDX-License-Identifier: MIT */
/*
 * Questions about a function that is not in the subset.
 *
 *   hazards find|lack FUNCTION VERSION SYMBOL   the lookup finds exactly the entry point SYMBOL, or finds nothing and
 *                                               says that the subset lacks the function, as for an unknown name
 *   hazards refused                             the load fails, as CUSHIM_LAYERS names a layer for another table, and
 *                                               the diagnosis says why
 *   hazards layered                             the load succeeds, and the layer is installed
 *   hazards missing SLOT                        the load succeeds, and the slot is missing
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim.h"

static int check_lookup(int finds, const char *function, int version, const char *symbol)
{
    cushim_fn fn = NULL;
    CUresult result = cushim_lookup(function, version, CUSHIM_DEFAULT_STREAM_LEGACY, &fn);
    const char *name = cushim_symbol_name(fn);
    printf("%s: %d %s\n%s\n", function, (int)result, name != NULL ? name : "-", cushim_error_last()->message);
    if (finds)
        return result != CUDA_SUCCESS || name == NULL || strcmp(name, symbol) != 0;
    return result != CUDA_ERROR_NOT_FOUND || fn != NULL || strstr(cushim_error_last()->message, function) == NULL
           || strstr(cushim_error_last()->message, "amalgamate.py --slots") == NULL
           || cushim_symbol("cuNoSuchFunction") != NULL
           || strstr(cushim_error_last()->message, "slots, and none for \"cuNoSuchFunction\". Add") == NULL;
}

int main(int count, char **words)
{
    CUresult loaded = cushim_load(NULL);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("%s: %s\n", diagnosis->reason_name, diagnosis->message);
    if (count == 2 && strcmp(words[1], "refused") == 0)
        return loaded != CUDA_ERROR_NOT_SUPPORTED || diagnosis->reason != CUSHIM_REASON_BAD_LAYER
               || strstr(diagnosis->message, "amalgamate.py --slots") == NULL;
    if (loaded != CUDA_SUCCESS)
        return 2;
    if (count == 2 && strcmp(words[1], "layered") == 0) {
        int devices = -1;
        return cushim_table()->DeviceGetCount_v1(&devices) != CUDA_SUCCESS || devices != 0;
    }
    if (count == 3 && strcmp(words[1], "missing") == 0)
        return cushim_require((const char *const *)&words[2], 1, CUSHIM_DEFAULT_STREAM_LEGACY, NULL)
               != CUDA_ERROR_NOT_SUPPORTED;
    if (count == 5)
        return check_lookup(strcmp(words[1], "find") == 0, words[2], atoi(words[3]), words[4]);
    return 3;
}
