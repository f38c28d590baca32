/* SPDX-License-Identifier: MIT */
/* The control interface: softcuda.h. */
#include "control.h"

#include "compiler.h"
#include "os_thread.h"

static int control_register(const char *name, softcuda_kernel run, const size_t *sizes, size_t count)
{
    os_lock();
    CUresult result = function_register(name, run, sizes, count);
    if (result == CUDA_ERROR_INVALID_VALUE)
        control_refuse("register_kernel",
                       "a kernel has a name, a function, and a size of 1 to %d bytes for each argument",
                       MAX_ARGUMENT_SIZE);
    os_unlock();
    return (int)result;
}

static int control_fail(const char *function, unsigned nth, int code)
{
    os_lock();
    CUresult result = fault_add("fail_call", function == NULL ? "" : function, nth, code);
    os_unlock();
    return (int)result;
}

static const char *control_failed(void)
{
    os_lock();
    const char *symbol = fault_take_failed();
    os_unlock();
    return symbol;
}

static void control_clear(void)
{
    os_lock();
    fault_clear();
    os_unlock();
}

static void control_delay(unsigned milliseconds)
{
    os_lock();
    fault_set_delay((uint64_t)milliseconds * 1000000u);
    os_unlock();
}

SOFT_PUBLIC const struct softcuda_control *softcuda_control(int version);

const struct softcuda_control *softcuda_control(int version)
{
    static struct softcuda_control control = {
        soft_driver, 0, control_register, control_fail, control_failed, control_clear, control_delay, control_refusal};
    os_lock();
    if (control.cuda_version == 0) /* other threads may read it without a lock from the first call on */
        control.cuda_version = soft_version;
    os_unlock();
    if (version == SOFTCUDA_CONTROL_VERSION)
        return &control;
    control_refuse(SOFTCUDA_CONTROL_SYMBOL, "version %d is not known; this library has version %d", version,
                   SOFTCUDA_CONTROL_VERSION);
    return NULL;
}
