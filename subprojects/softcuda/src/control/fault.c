/* SPDX-License-Identifier: MIT */
/* Injected faults, the delay of callbacks, and sticky errors. */
#include "control.h"

#include <stdatomic.h>
#include <string.h>

#include "os_thread.h"

#define SOFT_EXPORT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_BEFORE_INIT(slot, id, symbol, per_thread, params, args)
#define SOFT_EXPORT_WITHOUT_LOCK(slot, id, symbol, per_thread, params, args)
#define SOFT_REFUSE(id, symbol)
#define SOFT_VARIANT(id, symbol) symbol,
#define SOFT_NO_VARIANT
#define SOFT_ROW(driver_function, since, variant, per_thread_variant) variant per_thread_variant

static const char *const names[] = {
#include "softcuda_exports.inc"
};

/* A permanent copy of the name, if a function of that name is exported in this version or another; else NULL. */
static const char *export_name_find(const char *symbol)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strcmp(names[i], symbol) == 0)
            return names[i];
    return NULL;
}

enum { MAX_FAULTS = 32 };

static struct fault {
    const char *symbol;
    unsigned nth; /* counted from now */
    bool every;
    int code;
} faults[MAX_FAULTS];
static atomic_size_t fault_count; /* written under the lock, read by fault_any() without */
static uint64_t delay_nanoseconds;

static void fault_set_count(size_t count)
{
    atomic_store_explicit(&fault_count, count, memory_order_relaxed);
}

static void fault_remove(struct fault *fault)
{
    *fault = faults[fault_count - 1];
    fault_set_count(fault_count - 1);
}

bool fault_find(const char *symbol, CUresult *out_code)
{
    for (size_t i = 0; i < fault_count; i++) {
        struct fault *fault = &faults[i];
        if (strcmp(fault->symbol, symbol) != 0 || (fault->nth > 0 && --fault->nth > 0))
            continue;
        *out_code = (CUresult)fault->code;
        if (fault->nth == 0 && !fault->every)
            fault_remove(fault);
        return true;
    }
    return false;
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

bool fault_add(const char *symbol, unsigned nth, int code)
{
    const char *own = export_name_find(symbol);
    if (own == NULL || fault_count == MAX_FAULTS)
        return false;
    faults[fault_count] = (struct fault){own, nth, nth == 0, code};
    fault_set_count(fault_count + 1);
    return true;
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
    memset(errors, 0, sizeof errors);
}

void fault_set_delay(uint64_t nanoseconds)
{
    delay_nanoseconds = nanoseconds;
}
