/* SPDX-License-Identifier: MIT */
/* cuInit, and the likely cause of its failure. */
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "diagnosis.h"
#include "driver.h"
#include "error.h"
#include "find_driver.h"
#include "load.h"
#include "os.h"

static unsigned long init_process; /* the process in which cuInit succeeded; 0: none */

static const char init_name[] = "cushim_init";
static const char visible_devices[] = "CUDA_VISIBLE_DEVICES";

/* Whether a value of CUDA_VISIBLE_DEVICES leaves no GPU. Its first entry decides: the list ends at a number beyond the
 * last GPU, and at a text that is neither a number nor the name of a GPU (GPU-..., MIG-...). */
static bool visible_devices_hide_all(const char *visible, int gpu_count)
{
    if (visible[0] >= '0' && visible[0] <= '9')
        return gpu_count != 0 && strtol(visible, NULL, 10) >= gpu_count; /* 0: not known */
    return true; /* the name of a GPU that does not exist also hides all */
}

/* Returns CUSHIM_REASON_NONE if the code does not identify the cause. */
static enum cushim_reason init_cause_of_code(CUresult code)
{
    switch ((int)code) {
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
        return CUSHIM_REASON_MODULE_MISMATCH;
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE:
        return CUSHIM_REASON_COMPAT_REFUSED;
    case CUDA_ERROR_SYSTEM_NOT_READY:
        return CUSHIM_REASON_NOT_READY;
    case CUDA_ERROR_DEVICE_UNAVAILABLE:
        return CUSHIM_REASON_IN_USE;
    case CUDA_ERROR_MPS_CONNECTION_FAILED:
    case CUDA_ERROR_MPS_RPC_FAILURE:
    case CUDA_ERROR_MPS_SERVER_NOT_READY:
    case CUDA_ERROR_MPS_MAX_CLIENTS_REACHED:
    case CUDA_ERROR_MPS_MAX_CONNECTIONS_REACHED:
    case CUDA_ERROR_MPS_CLIENT_TERMINATED:
        return CUSHIM_REASON_MPS;
    default:
        return CUSHIM_REASON_NONE;
    }
}

static enum cushim_reason init_cause_of_devices(const struct cushim_system *system, CUresult code)
{
    if (!cush_os_has_device_nodes || system->wsl_node == CUSHIM_NODE_READY)
        return CUSHIM_REASON_NONE;
    if (system->gpu_node == CUSHIM_NODE_DENIED)
        return CUSHIM_REASON_NODES_DENIED;
    /* A container can hide the bus. Elsewhere, a bus without a GPU means that the machine has none, or one that is not
     * on a bus (Jetson). */
    if ((system->control_node == CUSHIM_NODE_ABSENT || system->gpu_node == CUSHIM_NODE_ABSENT)
        && (system->gpu_on_bus || system->container))
        return CUSHIM_REASON_NO_DEVICE_NODES;
    if (code == CUDA_ERROR_UNKNOWN && system->control_node == CUSHIM_NODE_READY
        && system->uvm_node == CUSHIM_NODE_ABSENT)
        return CUSHIM_REASON_UNIFIED_MEMORY;
    return cush_system_gpu_is_lost(cush_load_root()) ? CUSHIM_REASON_GPU_LOST : CUSHIM_REASON_NONE;
}

/* The message of an obstacle is more exact than that of its reason. */
static struct os_obstacle init_find_cause(CUresult code, bool is_forked)
{
    struct os_obstacle cause = {.reason = init_cause_of_code(code), .message = ""};
    if (code == CUDA_ERROR_NOT_INITIALIZED && is_forked) /* also with some kernels (HMM with KASLR) */
        cause.reason = CUSHIM_REASON_FORKED;
    if (cause.reason == CUSHIM_REASON_NONE)
        cause = cush_os_obstacle_find(cush_load_root(), code);
    if (cause.reason != CUSHIM_REASON_NONE)
        return cause;
    struct cushim_system system;
    cushim_system_get_info(cush_load_root(), &system);
    cause.reason = init_cause_of_devices(&system, code);
    const char *visible = cush_os_environment(visible_devices);
    if (cause.reason != CUSHIM_REASON_NONE)
        return cause;
    if (code != CUDA_ERROR_NO_DEVICE)
        cause.reason = CUSHIM_REASON_UNKNOWN;
    else if (visible != NULL && visible_devices_hide_all(visible, system.gpu_node_count))
        cause.reason = CUSHIM_REASON_HIDDEN;
    else
        cause.reason = CUSHIM_REASON_NO_DEVICE;
    return cause;
}

static CUSHIM_COLD void init_set_diagnosis(CUresult code, bool is_forked)
{
    cush_os_load_lock();
    const struct cushim_diagnosis *before = cushim_diagnosis_get();
    struct diagnosis_builder *builder = cush_diagnosis_start_from(before);
    const char *visible = cush_os_environment(visible_devices);
    if (visible != NULL)
        cush_diagnosis_add_variable(builder, visible_devices, visible, true);
    for (size_t i = 0; i < before->variable_count; i++) {
        const struct cushim_variable *variable = &before->variables[i];
        if (strcmp(variable->name, visible_devices) != 0)
            cush_diagnosis_add_variable(builder, variable->name, variable->value, variable->used);
    }
    struct os_obstacle cause = {.reason = CUSHIM_REASON_NONE};
    if (code != CUDA_SUCCESS)
        cause = init_find_cause(code, is_forked);
    cush_diagnosis_set_outcome(builder, cause.reason, code, cause.message[0] != '\0' ? "%s" : NULL, cause.message);
    cush_diagnosis_publish(builder);
    cush_os_load_unlock();
}

/* Whether a process from which this one was forked has initialised CUDA: through cushim_init(), or else its open device
 * file shows this. Only CUDA opens that file. */
static bool init_was_before_fork(void)
{
    char path[OS_PATH_SIZE];
    unsigned long process = CUSHIM_LOAD_ACQUIRE(&init_process);
    if (process != 0)
        return process != cush_os_process();
    return cush_os_path_below(cush_load_root(), "/dev/nvidia-uvm", path, sizeof path) && cush_os_file_is_open(path);
}

CUresult cushim_init(void)
{
    if (cush_os_load_lock_is_mine())
        return cush_error_set(CUDA_ERROR_NOT_READY, init_name, "This thread is already loading the driver.", NULL);
    (void)cush_load_has_driver();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (!cush_load_has_succeeded()) /* in this order, since another thread may load in between */
        return cush_error_set(diagnosis->code, init_name, "%", diagnosis->message);
    bool is_forked = init_was_before_fork();
    CUresult code = cushim_table_legacy()->Init_v1(0);
    const char *log = cush_driver_log_take(code, CUSHIM_SLOT_Init_v1);
    /* The cause may differ from that of an earlier call, even if the code is the same. */
    if (code != CUDA_SUCCESS || cushim_diagnosis_get()->code != CUDA_SUCCESS)
        init_set_diagnosis(code, is_forked);
    if (code == CUDA_SUCCESS) {
        CUSHIM_STORE_RELEASE(&init_process, cush_os_process());
        return code;
    }
    cush_error_set(code, init_name, "%", cushim_diagnosis_get()->message);
    cush_error_add_driver_message(log);
    return code;
}
