/* SPDX-License-Identifier: MIT */
/*
 * control.h - what the environment and softcuda.h decide: devices, hidden symbols, faults, registered kernels. Except
 * where stated, the caller holds the lock.
 */
#ifndef SOFT_CONTROL_H
#define SOFT_CONTROL_H

#include "soft.h"

#include "compiler.h"
#include "softcuda.h"

/* ---- text.c: the text of settings, and what is refused ---- */

enum { MAX_ITEM = 128 }; /* bytes of an item of a list, with its end */

/* Names what is wrong on the standard error stream, behind the setting or function that it concerns. */
SOFT_PRINTF(2, 3)
void control_refuse(const char *where, const char *format, ...);

/* The latest text of control_refuse(), or "". */
const char *control_refusal(void);

/* Reads digits, and returns the end; NULL if there are none, or if the number has more than 64 bits. */
const char *digits_read(const char *text, uint64_t *out_number);

/* Reads a text that is a number of at most `limit`. */
bool number_read(const char *text, uint64_t limit, uint64_t *out_number);

/* Reads the next item of a list, without the spaces around it, and sets *text to its end. False after the last one. */
bool list_next(const char **text, char *out_item);

/* The name that `text` was probably meant to be. */
struct nearest {
    const char *text;
    const char *found; /* NULL if no name is similar */
    size_t distance;
};
void nearest_try(struct nearest *nearest, const char *candidate);
/* Refuses the text, with that name. */
void nearest_refuse(const struct nearest *nearest, const char *where, const char *problem);

/* ---- names.c: the names of functions and results ---- */

/* Exported names: those of a function or of one version, with their per-thread variants, or a single one. */
struct name_range {
    size_t first, count;
};

/*
 * Finds the exported names that are meant, in any driver: a plain name means every version; NAME_v1 means the first,
 * NAME_v2 the second; a name with the suffix of a per-thread variant means only that. Refuses other names.
 */
bool name_find(const char *where, const char *text, struct name_range *out_range);
struct name_range name_all(void);
bool name_is_in(struct name_range range, const char *symbol);

/* Removes exported names; those that this driver does not have are ignored. */
void name_hide(struct name_range range);

/* Whether a name was removed. Needs no lock. */
bool symbol_is_hidden(const char *symbol);

/* Reads a positive number, or the name of a result with or without CUDA_ERROR_. Refuses other texts. */
bool result_read(const char *where, const char *text, int *out_code);

/* cuGetErrorName and cuGetErrorString. Need no lock. */
CUresult result_name(CUresult code, const char **out_name);
CUresult result_sentence(CUresult code, const char **out_sentence);

/* ---- settings.c: the environment variables, which are read when the library is loaded ---- */

enum { MAX_DEVICES = 64 };

/* Whether a setting was not understood, so that cuInit fails. */
bool settings_are_refused(void);

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

/* Denies the feature of this name, and hides the functions that the driver then lacks. Refuses other names. */
bool deny_add(const char *where, const char *text);

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

/* The exported name of the latest call that failed so since this was last asked, or NULL. */
const char *fault_take_failed(void);

/* Makes the nth call of a function from now fail, or every call if `nth` is 0. "*" means all functions. Refuses names
 * as name_find() does (1), and a result that is not an error (1); fails with 2 if out of memory. */
CUresult fault_add(const char *where, const char *function, unsigned nth, int code);

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

enum { MAX_ARGUMENT_SIZE = 32764, MAX_ARGUMENT_ALIGNMENT = 16 }; /* of a parameter, in bytes */

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
