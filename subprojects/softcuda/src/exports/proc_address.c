/* SPDX-License-Identifier: MIT */
/* cuGetProcAddress in both versions, with the behaviour of each driver version for unusual arguments. */
#include "exports.h"

#include <string.h>

#include "environment.h"

enum { FIRST_PER_THREAD_VERSION = 7000, STRICT_VERSION = 13000 };

enum answer { ANSWER_FOUND, ANSWER_NO_SUCH_NAME, ANSWER_TOO_OLD };

static bool row_is_of(const struct export_row *row, const char *driver_function)
{
    return row->since <= soft_version && strcmp(row->driver_function, driver_function) == 0
           && !environment_hides(row->symbol);
}

/* Whether some version of the driver function has a per-thread form: then a request for such a form does not find the
 * versions without one. */
static bool function_has_forms(const char *driver_function)
{
    for (size_t i = 0; i < export_row_count; i++)
        if (row_is_of(&export_rows[i], driver_function) && export_rows[i].per_thread_function != NULL)
            return true;
    return false;
}

/* The newest entry point of the driver function that `version` has. */
static enum answer entry_point_find(const char *driver_function, int version, bool per_thread, export_fn *out_function)
{
    enum answer answer = ANSWER_NO_SUCH_NAME;
    bool forms = per_thread && function_has_forms(driver_function);
    for (size_t i = 0; i < export_row_count; i++) {
        const struct export_row *row = &export_rows[i];
        if (!row_is_of(row, driver_function))
            continue;
        bool given = !forms || row->per_thread_function != NULL;
        int since = forms && row->since < FIRST_PER_THREAD_VERSION ? FIRST_PER_THREAD_VERSION : row->since;
        if (given && since <= version) {
            *out_function = forms ? row->per_thread_function : row->function;
            answer = ANSWER_FOUND;
        } else if (answer == ANSWER_NO_SUCH_NAME) {
            answer = ANSWER_TOO_OLD;
        }
    }
    return answer;
}

/* A function pointer as the void pointer that the driver's own declaration asks for. */
static void *function_as_object(export_fn function)
{
    union {
        export_fn function;
        void *object;
    } both = {function};
    return both.object;
}

static CUresult entry_point_look_up(const char *symbol, int version, cuuint64_t flags, enum answer *out_answer,
                                    void **out_function)
{
    enum { KNOWN_FLAGS = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM };
    export_fn function = NULL;
    if (symbol == NULL || (flags & ~(cuuint64_t)KNOWN_FLAGS) != 0)
        return CUDA_ERROR_INVALID_VALUE;
    if (version > soft_version && soft_version >= STRICT_VERSION)
        return CUDA_ERROR_INVALID_VALUE;
    bool per_thread = (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM) != 0;
    *out_answer = entry_point_find(symbol, version, per_thread, &function);
    *out_function = function_as_object(function);
    return CUDA_SUCCESS;
}

CUresult soft_GetProcAddress_v1(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags)
{
    enum answer answer;
    void *function;
    if (pfn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = entry_point_look_up(symbol, driverVersion, flags, &answer, &function);
    if (result != CUDA_SUCCESS)
        return result;
    if (answer != ANSWER_FOUND)
        return CUDA_ERROR_NOT_FOUND;
    *pfn = function;
    return CUDA_SUCCESS;
}

CUresult soft_GetProcAddress_v2(const char *symbol, void **pfn, int driverVersion, cuuint64_t flags,
                                CUdriverProcAddressQueryResult *symbolFound)
{
    enum answer answer;
    void *function;
    if (pfn == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    CUresult result = entry_point_look_up(symbol, driverVersion, flags, &answer, &function);
    if (result != CUDA_SUCCESS)
        return result;
    *pfn = function;
    if (symbolFound != NULL)
        *symbolFound = (CUdriverProcAddressQueryResult)answer; /* the same three, in the same order */
    return CUDA_SUCCESS;
}
