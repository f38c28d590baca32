/* SPDX-License-Identifier: MIT */
/*
 * A loader of a project with types of its own: it gets functions by name through cushim_untyped.h. `untyped driver`
 * expects a driver, and `untyped none` expects that there is none.
 */
#include <stddef.h>
#include <string.h>

typedef int CUresult; /* as in a partial <cuda.h> */

#include "cushim_untyped.h"

#if defined(CUSHIM_CUDA_ABI_H)
#    error "cushim_untyped.h declares the types of CUDA"
#endif

int main(int count, char **words)
{
    int has_driver = count == 2 && strcmp(words[1], "driver") == 0;
    int version = -1;
    int loaded = cushim_load(NULL);
    CUresult (*get_version)(int *) = (CUresult(*)(int *))cushim_symbol_if_available("cuDriverGetVersion");
    cushim_fn alloc = cushim_symbol_if_available("cuMemAlloc_v2");
    cushim_fn newest = cushim_function_if_available("cuMemAlloc", 12000, CUSHIM_DEFAULT_STREAM_LEGACY);
    /* A function outside the subset: from CUDA 11.3 on, the driver itself dates it, also under a version limit. */
    cushim_fn query =
        cushim_function_if_available("cuStreamQuery", cushim_driver_version(), CUSHIM_DEFAULT_STREAM_LEGACY);
    if ((query != NULL && cushim_symbol_if_available("cuStreamQuery") != query)
        || (cushim_symbol_if_available("cuGreenCtxDestroy") != NULL && cushim_driver_version() < 12040))
        return 3;
    if (get_version == NULL || get_version(&version) != 0 || version != cushim_driver_version() || alloc != newest)
        return 1;
    if (has_driver)
        return loaded != 0 || alloc == NULL || cushim_diagnosis_get()->reason != CUSHIM_REASON_NONE;
    return loaded == 0 || alloc != NULL || strlen(cushim_diagnosis_get()->message) == 0
           || strlen(cushim_error_last()->message) == 0;
}
