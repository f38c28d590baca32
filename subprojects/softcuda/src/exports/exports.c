/* SPDX-License-Identifier: MIT */
/* One exported function for each entry point and its per-thread variant, which make_exports.py makes from the lists;
 * and cuGetProcAddress, which finds them. */
#include "calls.h"

#include <string.h>

#include "compiler.h"
#include "os_thread.h"

static CUresult call_leave(const char *symbol, CUresult result)
{
    log_failure(symbol, result);
    os_unlock();
    return result;
}

/* Takes the lock. Returns the data of the thread, or NULL if out of memory. */
static struct thread *call_begin(void)
{
    os_lock();
    struct thread *thread = thread_self();
    if (thread != NULL)
        thread->explanation[0] = '\0';
    return thread;
}

/* Takes the lock, unless the call fails before it starts. */
static CUresult call_enter(const char *symbol, bool per_thread, bool before_init)
{
    CUresult result = CUDA_SUCCESS;
    struct thread *thread = call_begin();
    if (soft_is_ended())
        result = CUDA_ERROR_DEINITIALIZED;
    else if (!fault_find(symbol, &result) && !before_init && !soft_initialised())
        result = CUDA_ERROR_NOT_INITIALIZED;
    if (result == CUDA_SUCCESS && deny_function(symbol))
        result = CUDA_ERROR_NOT_SUPPORTED;
    if (result == CUDA_SUCCESS && thread == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        thread->per_thread = per_thread;
    else
        call_leave(symbol, result);
    return result;
}

/* For a function without state: only an injected fault needs the lock. */
static CUresult call_fault_without_lock(const char *symbol)
{
    CUresult result = soft_is_ended() ? CUDA_ERROR_DEINITIALIZED : CUDA_SUCCESS;
    if (fault_any()) {
        os_lock();
        (void)fault_find(symbol, &result);
        os_unlock();
    }
    return result;
}

static CUresult call_refuse(const char *symbol)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    (void)call_begin();
    if (!fault_find(symbol, &result))
        refusal_record(symbol);
    return call_leave(symbol, result);
}

/* clang-format off */
#define SOFT_EXPORT_AT(slot, id, symbol, per_thread, before_init, params, args)                                        \
    CUresult CUDAAPI export_##id params SOFT_NAMED(symbol);                                                            \
    CUresult CUDAAPI export_##id params                                                                                \
    {                                                                                                                  \
        CUresult result = call_enter(symbol, per_thread, before_init);                                                 \
        return result == CUDA_SUCCESS ? call_leave(symbol, soft_##slot args) : result;                                 \
    }
#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)                                                        \
    SOFT_EXPORT_AT(slot, id, symbol, per_thread, false, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)                                            \
    SOFT_EXPORT_AT(slot, id, symbol, per_thread, true, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)                                           \
    CUresult CUDAAPI export_##id params SOFT_NAMED(symbol);                                                            \
    CUresult CUDAAPI export_##id params                                                                                \
    {                                                                                                                  \
        CUresult result = call_fault_without_lock(symbol);                                                             \
        return result == CUDA_SUCCESS ? soft_##slot args : result;                                                     \
    }
/* The caller may pass any arguments, because it removes them itself. */
#define SOFT_REFUSE(id, symbol)                                                                                        \
    CUresult CUDAAPI export_##id(void) SOFT_NAMED(symbol);                                                             \
    CUresult CUDAAPI export_##id(void)                                                                                 \
    {                                                                                                                  \
        return call_refuse(symbol);                                                                                    \
    }
#define SOFT_ROW(driver_function, since, variant, per_thread_variant)
#define SOFT_NAME(driver_function, version, symbol)
#include "softcuda_exports.inc"
/* clang-format on */

typedef void (*export_fn)(void);

/* One entry point, for cuGetProcAddress. */
struct export_row {
    const char *driver_function; /* "cuStreamQuery" */
    int since;
    const char *symbol;
    export_fn function;
    const char *per_thread_symbol; /* NULL if it has none */
    export_fn per_thread_function;
};

#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)
#define SOFT_REFUSE(id, symbol)
#define SOFT_VARIANT(id, symbol) symbol, (export_fn)export_##id
#define SOFT_NO_VARIANT NULL, NULL
#define SOFT_ROW(driver_function, since, variant, per_thread_variant)                                                  \
    {driver_function, since, variant, per_thread_variant},
#define SOFT_NAME(driver_function, version, symbol)

/* Rows of one driver function are adjacent, oldest first. */
static const struct export_row export_rows[] = {
#include "softcuda_exports.inc"
};
static const size_t export_row_count = sizeof export_rows / sizeof export_rows[0];

/* ---- cuGetProcAddress in both versions, with the behaviour of each driver version for unusual arguments ---- */

enum { FIRST_PER_THREAD_VERSION = 7000, STRICT_VERSION = 13000 };

enum lookup_answer { ANSWER_FOUND, ANSWER_NO_SUCH_NAME, ANSWER_TOO_OLD };

static bool row_is_of(const struct export_row *row, const char *driver_function)
{
    return row->since <= soft_version && strcmp(row->driver_function, driver_function) == 0
           && !symbol_is_hidden(row->symbol);
}

/* Whether some version of the driver function has a per-thread variant: then a request for such a variant does not
 * find the versions without one. */
static bool function_has_variants(const char *driver_function)
{
    for (size_t i = 0; i < export_row_count; i++)
        if (row_is_of(&export_rows[i], driver_function) && export_rows[i].per_thread_function != NULL)
            return true;
    return false;
}

/* The newest entry point of the driver function that `version` has. */
static enum lookup_answer entry_point_find(const char *driver_function, int version, bool per_thread,
                                           export_fn *out_function)
{
    enum lookup_answer answer = ANSWER_NO_SUCH_NAME;
    bool variants = per_thread && function_has_variants(driver_function);
    for (size_t i = 0; i < export_row_count; i++) {
        const struct export_row *row = &export_rows[i];
        if (!row_is_of(row, driver_function))
            continue;
        bool given = !variants || row->per_thread_function != NULL;
        int since = variants && row->since < FIRST_PER_THREAD_VERSION ? FIRST_PER_THREAD_VERSION : row->since;
        if (given && since <= version) {
            *out_function = variants ? row->per_thread_function : row->function;
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

static CUresult entry_point_look_up(const char *symbol, int version, cuuint64_t flags, enum lookup_answer *out_answer,
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
    enum lookup_answer answer;
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
    enum lookup_answer answer;
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
