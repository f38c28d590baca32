/* SPDX-License-Identifier: MIT */
/* One exported function for each entry point and its per-thread form, which generate.py makes from the lists. */
#include "exports.h"

#include "fault.h"
#include "os_thread.h"
#include "public.h"

/* Takes the lock, unless the call fails before it starts. */
static CUresult call_enter(const char *symbol, bool per_thread, bool before_init)
{
    CUresult result = CUDA_SUCCESS;
    os_lock();
    if (!fault_of(symbol, &result) && !before_init && !soft_initialised())
        result = CUDA_ERROR_NOT_INITIALIZED;
    struct thread *thread = thread_self();
    if (result == CUDA_SUCCESS && thread == NULL)
        result = CUDA_ERROR_OUT_OF_MEMORY;
    if (result == CUDA_SUCCESS)
        thread->per_thread = per_thread;
    else
        os_unlock();
    return result;
}

static CUresult call_leave(CUresult result)
{
    os_unlock();
    return result;
}

/* For a function without state: only an injected fault needs the lock. */
static CUresult call_fault_without_lock(const char *symbol)
{
    CUresult result = CUDA_SUCCESS;
    if (fault_any()) {
        os_lock();
        (void)fault_of(symbol, &result);
        os_unlock();
    }
    return result;
}

static CUresult call_refuse(const char *symbol)
{
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    os_lock();
    (void)fault_of(symbol, &result);
    os_unlock();
    return result;
}

/* clang-format off */
#define SOFT_EXPORT_AT(slot, id, symbol, per_thread, before_init, params, args)                                        \
    CUresult CUDAAPI export_##id params SOFT_NAMED(symbol);                                                            \
    CUresult CUDAAPI export_##id params                                                                                \
    {                                                                                                                  \
        CUresult result = call_enter(symbol, per_thread, before_init);                                                 \
        return result == CUDA_SUCCESS ? call_leave(soft_##slot args) : result;                                         \
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
#define SOFT_ROW(driver_function, since, form, per_thread_form)
#include "exports.inc"
#undef SOFT_EXPORT
#undef SOFT_EXPORT_BEFORE_INIT
#undef SOFT_EXPORT_WITHOUT_LOCK
#undef SOFT_REFUSE
#undef SOFT_ROW
/* clang-format on */

#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)
#define SOFT_REFUSE(id, symbol)
#define SOFT_FORM(id, symbol) symbol, (export_fn)export_##id
#define SOFT_NO_FORM NULL, NULL
#define SOFT_ROW(driver_function, since, form, per_thread_form) {driver_function, since, form, per_thread_form},

const struct export_row export_rows[] = {
#include "exports.inc"
};
const size_t export_row_count = sizeof(export_rows) / sizeof(export_rows[0]);
