/* SPDX-License-Identifier: MIT */
/*
 * control.h - what the environment and softcuda.h decide: devices, hidden symbols, faults, registered kernels. Except
 * where stated, the caller holds the lock.
 */
#ifndef SOFT_CONTROL_H
#define SOFT_CONTROL_H

#include "soft.h"

#include "softcuda.h"

/* ---- Environment variables; SOFTCUDA_FAIL, _HIDE and _LATE_CALLBACKS are read when the library is loaded ---- */

enum { MAX_DEVICES = 64 };

/* SOFTCUDA_DEVICES; all devices are alike. */
int device_count_of_machine(void);

/* The memory of each device in bytes (SOFTCUDA_MEMORY). */
size_t device_memory(void);

/* Whether the first version of the value operations works (SOFTCUDA_VALUE_OPS): not by default, as on a real
 * machine. */
bool device_has_value_ops(void);

/* Whether every kernel exists, and does nothing unless it is registered (SOFTCUDA_EMPTY_KERNELS). */
bool kernels_may_be_empty(void);

/* Prints once on the standard error stream that results are not computed. */
void kernels_warn_empty(void);

/* Whether SOFTCUDA_HIDE names the symbol. Needs no lock. */
bool symbol_is_hidden(const char *symbol);

/* Appends the name of an exported function or of a kernel that softcuda does not execute to the file that
 * SOFTCUDA_REFUSED names, if any. */
void refusal_record(const char *symbol);

/* ---- visible.c: the devices that the program sees, which CUDA_VISIBLE_DEVICES chooses at cuInit ---- */

/* Reads the variable. CUDA_ERROR_NO_DEVICE if it leaves no device, CUDA_ERROR_INVALID_DEVICE if it names one twice. */
CUresult devices_find(void);

/* Before devices_find() has succeeded, no device exists. */
int device_count(void);
bool device_exists(CUdevice device);

/* The index of a device in the machine, on which its bus id and UUID depend. */
int device_in_machine(CUdevice device);

/* The 16 bytes of the UUID of a device of the machine. */
void device_uuid(int in_machine, char *out_bytes);

/* ---- deny.c: SOFTCUDA_DENY, the features that the devices do not support. Needs no lock. ---- */

/* Reads the names of features, and adds to a list the exported names that the driver then lacks. */
void deny_read(const char *text, char *hidden, size_t size);

/* The value of a device attribute as it is without the denied features. */
int deny_attribute(CUdevice_attribute attribute, int value);

/* Whether a function fails, because each feature that needs it is denied. */
bool deny_function(const char *symbol);

/* Whether no device can access another one; whether all streams have one priority. */
bool deny_peers(void);
bool deny_priorities(void);

/* ---- Faults: calls that fail, delayed callbacks, and the sticky errors of devices ---- */

/* Whether this call of an exported function shall fail, and with which code. */
bool fault_find(const char *symbol, CUresult *out_code);

/* Whether any call shall fail. Needs no lock. */
bool fault_any(void);

/* Makes the nth call from now fail, or every call if `nth` is 0; false if the symbol is unknown or too many faults are
 * set. */
bool fault_add(const char *symbol, unsigned nth, int code);

void fault_set_delay(uint64_t nanoseconds);

/* Sleeps for the delay of callbacks. Takes the lock itself, and sleeps without it. */
void fault_delay(void);

/* Every context of the device has this error, and no reset clears it. Device MAX_DEVICES has streams without a
 * device. */
CUresult sticky_error(int device);
void sticky_error_set(int device, CUresult error);

/* Removes injected faults and sticky errors. */
void fault_clear(void);

/* ---- Registered kernels: the same object is the CUfunction and the CUkernel in every module ---- */

enum { MAX_ARGUMENT_ALIGNMENT = 16 }; /* of a parameter, in bytes */

struct function {
    struct object object;
    struct function *next;
    char *name;
    softcuda_kernel run;
    size_t count;    /* of parameters */
    size_t *sizes;   /* of each */
    size_t *offsets; /* of each in the buffer that holds them all */
    size_t buffer_size;
};

/* Registers a function under `name` (see softcuda.h), in place of an earlier one. */
CUresult function_register(const char *name, softcuda_kernel run, const size_t *sizes, size_t count);

/* The registered kernel of this name, or NULL. */
struct function *function_named(const char *name);

#endif
