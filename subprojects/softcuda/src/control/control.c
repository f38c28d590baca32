/* SPDX-License-Identifier: MIT */
/* The control interface: softcuda.h. */
#include "control.h"

#include "compiler.h"
#include "os_thread.h"

static int control_register(const char *name, softcuda_kernel run, const size_t *sizes, size_t count)
{
    os_lock();
    int result = (int)function_register(name, run, sizes, count);
    os_unlock();
    return result;
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
    static struct softcuda_control control = {soft_driver,  0, control_register, control_fail, control_clear,
                                              control_delay};
    os_lock();
    if (control.cuda_version == 0) /* other threads may read it without a lock from the first call on */
        control.cuda_version = soft_version;
    os_unlock();
    return version == SOFTCUDA_CONTROL_VERSION ? &control : NULL;
}
