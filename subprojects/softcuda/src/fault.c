/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <stdlib.h>
#include <string.h>

#include "context.h"
#include "exports.h"
#include "kernel.h"
#include "os_thread.h"
#include "softcuda.h"

enum { FAULTS_MAX = 32 };

static struct fault {
    const char *symbol;
    unsigned nth; /* counted from now */
    bool every;
    int code;
} faults[FAULTS_MAX];
static size_t fault_count; /* written under the lock, read by fault_any() without */
static uint64_t delay_nanoseconds;
static char hidden[1024]; /* ",cuStreamGetId,cuStreamGetId_ptsz," */

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

static bool fault_add(const char *symbol, unsigned nth, int code)
{
    const char *own = exports_find(symbol); /* a permanent copy of the name */
    if (own == NULL || fault_count == FAULTS_MAX)
        return false;
    faults[fault_count] = (struct fault){own, nth, nth == 0, code};
    fault_set_count(fault_count + 1);
    return true;
}

/* ---- The environment, read once when the library is loaded ---- */

/* "cuMemAlloc_v2:2=2,cuStreamCreate=999": the function, a colon and the number of the call unless every call fails, the
 * code. */
static void fault_read_calls(const char *text)
{
    while (text != NULL && *text != '\0') {
        char symbol[80];
        size_t length = strcspn(text, ":=,");
        if (length < sizeof(symbol)) {
            memcpy(symbol, text, length);
            symbol[length] = '\0';
            char *at = (char *)text + length;
            unsigned nth = *at == ':' ? (unsigned)strtoul(at + 1, &at, 10) : 0;
            if (*at == '=')
                (void)fault_add(symbol, nth, (int)strtol(at + 1, NULL, 10));
        }
        text = strchr(text, ',');
        text = text == NULL ? NULL : text + 1;
    }
}

bool fault_hides(const char *symbol)
{
    size_t length = strlen(symbol);
    for (const char *at = hidden; (at = strstr(at, symbol)) != NULL; at++)
        if (at[-1] == ',' && at[length] == ',')
            return true;
    return false;
}

static void fault_read_hidden(const char *text)
{
    size_t length = text == NULL ? 0 : strlen(text);
    if (length == 0 || length + 3 > sizeof(hidden))
        return;
    hidden[0] = ',';
    memcpy(hidden + 1, text, length);
    hidden[length + 1] = ',';
    for (const char *at = hidden + 1; *at != '\0'; at += strcspn(at, ",") + 1) {
        char symbol[80];
        size_t part = strcspn(at, ",");
        if (part == 0 || part >= sizeof(symbol))
            continue;
        memcpy(symbol, at, part);
        symbol[part] = '\0';
        (void)os_hide_symbol(symbol);
    }
}

#if defined(__GNUC__)
__attribute__((constructor)) static void fault_read_environment(void);
#endif
static void fault_read_environment(void)
{
    delay_nanoseconds = soft_setting("SOFTCUDA_LATE_CALLBACKS", 0) * 1000000u;
    fault_read_calls(getenv("SOFTCUDA_FAIL"));
    fault_read_hidden(getenv("SOFTCUDA_HIDE"));
}

/* ---- softcuda.h ---- */

static int control_register(const char *name, softcuda_kernel function, const size_t *sizes, size_t count)
{
    return kernel_register(name, function, sizes, count);
}

static int control_fail(const char *symbol, unsigned nth, int code)
{
    if (symbol == NULL)
        return CUDA_ERROR_INVALID_VALUE;
    os_lock();
    bool added = fault_add(symbol, nth, code);
    os_unlock();
    return added ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

static void control_clear(void)
{
    os_lock();
    fault_set_count(0);
    context_heal();
    os_unlock();
}

static void control_delay(unsigned milliseconds)
{
    os_lock();
    delay_nanoseconds = (uint64_t)milliseconds * 1000000u;
    os_unlock();
}

SOFT_PUBLIC const struct softcuda_control *softcuda_control(int version);

const struct softcuda_control *softcuda_control(int version)
{
    static struct softcuda_control control;
    os_lock();
    control = (struct softcuda_control){soft_driver,  soft_version,  control_register,
                                        control_fail, control_clear, control_delay};
    os_unlock();
    return version == SOFTCUDA_CONTROL_VERSION ? &control : NULL;
}
