/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <string.h>

#include "export_names.h"
#include "os_thread.h"

enum { FAULTS_MAX = 32 };

static struct fault {
    const char *symbol;
    unsigned nth; /* counted from now */
    bool every;
    int code;
} faults[FAULTS_MAX];
static size_t fault_count; /* written under the lock, read by fault_any() without */
static uint64_t delay_nanoseconds;

static void fault_set_count(size_t count)
{
    __atomic_store_n(&fault_count, count, __ATOMIC_RELAXED);
}

static void fault_remove(struct fault *fault)
{
    *fault = faults[fault_count - 1];
    fault_set_count(fault_count - 1);
}

bool fault_of(const char *symbol, CUresult *out_code)
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
    return __atomic_load_n(&fault_count, __ATOMIC_RELAXED) > 0;
}

bool fault_add(const char *symbol, unsigned nth, int code)
{
    const char *own = export_name_find(symbol);
    if (own == NULL || fault_count == FAULTS_MAX)
        return false;
    faults[fault_count] = (struct fault){own, nth, nth == 0, code};
    fault_set_count(fault_count + 1);
    return true;
}

void fault_clear(void)
{
    fault_set_count(0);
}

void fault_set_delay(uint64_t nanoseconds)
{
    delay_nanoseconds = nanoseconds;
}
