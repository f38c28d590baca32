/* SPDX-License-Identifier: MIT */
/* cuInit, and the likely cause of its failure. */
#include <stdlib.h>
#include <string.h>

#include "atomic.h"
#include "diagnosis.h"
#include "driver.h"
#include "error.h"
#include "find_driver.h"
#include "load.h"
#include "os.h"

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

static enum cushim_reason init_find_cause(CUresult code)
{
    struct cushim_system system;
    cushim_system_get_info(cush_load_root(), &system);
    const char *visible = cush_os_environment(visible_devices);
    if (code == CUDA_ERROR_SYSTEM_DRIVER_MISMATCH)
        return CUSHIM_REASON_MODULE_MISMATCH;
    if (code == CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE)
        return CUSHIM_REASON_COMPAT_REFUSED;
    if (code == CUDA_ERROR_SYSTEM_NOT_READY)
        return CUSHIM_REASON_NOT_READY;
    if (code == CUDA_ERROR_NOT_INITIALIZED) /* cuInit returns it only in the child of a fork */
        return CUSHIM_REASON_FORKED;
    if (cush_os_has_device_nodes && system.wsl_node != CUSHIM_NODE_READY) {
        if (system.control_node == CUSHIM_NODE_DENIED || system.gpu_node == CUSHIM_NODE_DENIED
            || system.uvm_node == CUSHIM_NODE_DENIED)
            return CUSHIM_REASON_NODES_DENIED;
        /* A container can hide the bus. Elsewhere, a bus without a GPU means that the machine has none, or one that is
         * not on a bus (Jetson). */
        if ((system.control_node == CUSHIM_NODE_ABSENT || system.gpu_node == CUSHIM_NODE_ABSENT)
            && (system.gpu_on_bus || system.container))
            return CUSHIM_REASON_NO_DEVICE_NODES;
    }
    if (code != CUDA_ERROR_NO_DEVICE)
        return CUSHIM_REASON_UNKNOWN;
    return visible != NULL && visible_devices_hide_all(visible, system.gpu_node_count) ? CUSHIM_REASON_HIDDEN
                                                                                       : CUSHIM_REASON_NO_DEVICE;
}

static void init_set_diagnosis(CUresult code)
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
    cush_diagnosis_set_outcome(builder, code == CUDA_SUCCESS ? CUSHIM_REASON_NONE : init_find_cause(code), code, NULL);
    cush_diagnosis_publish(builder);
    cush_os_load_unlock();
}

CUresult cushim_init(void)
{
    if (cush_os_load_lock_is_mine())
        return cush_error_set(CUDA_ERROR_NOT_READY, init_name, "This thread is already loading the driver.", NULL);
    (void)cush_load_has_driver();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (!cush_load_has_succeeded()) /* in this order, since another thread may load in between */
        return cush_error_set(diagnosis->code, init_name, "%", diagnosis->message);
    CUresult code = cushim_table_legacy()->Init_v1(0);
    const char *log = cush_driver_log_take(code, CUSHIM_SLOT_Init_v1);
    /* The cause may differ from that of an earlier call, even if the code is the same. */
    if (code != CUDA_SUCCESS || cushim_diagnosis_get()->code != CUDA_SUCCESS)
        init_set_diagnosis(code);
    if (code == CUDA_SUCCESS)
        return code;
    cush_error_set(code, init_name, "%", cushim_diagnosis_get()->message);
    cush_error_add_driver_message(log);
    return code;
}
