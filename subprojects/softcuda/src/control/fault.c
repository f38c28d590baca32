/* SPDX-License-Identifier: MIT */
/* Injected faults, the delay of callbacks, and sticky errors. */
#include "control.h"

#include <stdatomic.h>
#include <string.h>

#include "os_thread.h"

struct fault {
    struct name_range names;
    unsigned nth; /* counted from now */
    bool every;
    CUresult code;
};

static struct fault *faults;
static size_t fault_capacity;
static atomic_size_t fault_count; /* written under the lock, read by fault_any() without */
static const char *failed_symbol; /* of the latest call that failed */
static uint64_t delay_nanoseconds;

static void fault_set_count(size_t count)
{
    atomic_store_explicit(&fault_count, count, memory_order_relaxed);
}

bool fault_find(const char *symbol, CUresult *out_code)
{
    size_t kept = 0;
    bool found = false;
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        bool fails = name_is_in(fault->names, symbol) && (fault->every || --fault->nth == 0);
        if (fails && !found) {
            found = true;
            *out_code = fault->code;
            failed_symbol = symbol;
        }
        if (!fails || fault->every)
            faults[kept++] = *fault;
    }
    fault_set_count(kept);
    return found;
}

const char *fault_take_failed(void)
{
    const char *symbol = failed_symbol;
    failed_symbol = NULL;
    return symbol;
}

CUresult fault_add(const char *where, const char *function, unsigned nth, int code)
{
    struct name_range range = name_all();
    if (strcmp(function, "*") != 0 && !name_find(where, function, &range))
        return CUDA_ERROR_INVALID_VALUE;
    if (code <= 0) {
        control_refuse(where, "%s: a call does not fail with the result %d", function, code);
        return CUDA_ERROR_INVALID_VALUE;
    }
    if (!soft_reserve((void **)&faults, &fault_capacity, fault_count + 1, sizeof *faults))
        return CUDA_ERROR_OUT_OF_MEMORY;
    faults[fault_count] = (struct fault){range, nth, nth == 0, (CUresult)code};
    fault_set_count(fault_count + 1);
    return CUDA_SUCCESS;
}

void fault_delay(void)
{
    os_lock();
    uint64_t span = delay_nanoseconds;
    os_unlock();
    if (span != 0)
        os_sleep(span);
}

bool fault_any(void)
{
    return atomic_load_explicit(&fault_count, memory_order_relaxed) > 0;
}

static CUresult errors[MAX_DEVICES + 1]; /* of each device, and of streams without one */

CUresult sticky_error(int device)
{
    return errors[device];
}

void sticky_error_set(int device, CUresult error)
{
    errors[device] = error;
}

void fault_clear(void)
{
    fault_set_count(0);
    failed_symbol = NULL;
    memset(errors, 0, sizeof errors);
}

void fault_set_delay(uint64_t nanoseconds)
{
    delay_nanoseconds = nanoseconds;
}
