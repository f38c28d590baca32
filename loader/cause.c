/* SPDX-License-Identifier: MIT */
#include "cause.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "find_driver.h"
#include "gpu_visible.h"

/* What the process sees. */
struct evidence {
    const char *root, *library;
    CUresult code; /* CUDA_SUCCESS: cuInit was not called */
    struct cushim_system system;
    struct system_bus bus;
    bool is_usual; /* the system shows its GPUs on the bus and as device files: it is neither WSL nor a Jetson */
};

static void evidence_read(struct evidence *evidence, const char *root, const char *library, CUresult code)
{
    evidence->root = root;
    evidence->code = code;
    evidence->library = library != NULL ? library : "";
    cush_system_read(root, &evidence->system, &evidence->bus);
    evidence->is_usual = cush_system_kind(root) == SYSTEM_USUAL;
}

/* Nothing was started, or the driver finds no GPU. */
static bool evidence_lacks_gpu(const struct evidence *evidence)
{
    return evidence->code == CUDA_SUCCESS || evidence->code == CUDA_ERROR_NO_DEVICE
           || evidence->code == CUDA_ERROR_INVALID_DEVICE;
}

/* ---- The library and the code ---- */

static CUSHIM_COLD bool library_path_is_compat(const char *path)
{
    return strstr(path, "/compat/") != NULL || strstr(path, "/cuda-compat") != NULL;
}

/* For each file of this process, of which the links are resolved. */
static CUSHIM_COLD void library_compare_mapped(const char *line, void *is_compat)
{
    *(bool *)is_compat |= strstr(line, "/libcuda.so") != NULL && library_path_is_compat(line);
}

/* Only the file of NVIDIA's library has a release in its name: a software driver, and a library that hands calls on to
 * another machine, need no GPU here. */
static CUSHIM_COLD bool library_path_is_of_nvidia(const char *path)
{
    const char *release = strstr(path, "/libcuda.so.");
    return release != NULL && strspn(release + strlen("/libcuda.so."), "0123456789") >= 3;
}

static CUSHIM_COLD void library_compare_release(const char *line, void *is_of_nvidia)
{
    *(bool *)is_of_nvidia |= library_path_is_of_nvidia(line);
}

/* A path can be a link. The files of this process are those without links. */
static CUSHIM_COLD bool library_is_of_nvidia(const struct evidence *evidence)
{
    bool is_of_nvidia =
        evidence->library[0] == '\0' || !cush_os_has_device_nodes || library_path_is_of_nvidia(evidence->library);
    if (!is_of_nvidia)
        cush_os_file_each_line("/proc/self/maps", library_compare_release, &is_of_nvidia);
    return is_of_nvidia;
}

static CUSHIM_COLD bool library_is_compat(const struct evidence *evidence)
{
    bool is_compat = library_path_is_compat(evidence->library);
    cush_os_file_each_line("/proc/self/maps", library_compare_mapped, &is_compat);
    return is_compat;
}

static enum cushim_reason cause_of_code(const struct evidence *evidence)
{
    switch ((int)evidence->code) {
    case CUDA_ERROR_SYSTEM_DRIVER_MISMATCH:
    case CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE: /* GeForce and RTX GPUs return this one after an update, too */
        return library_is_compat(evidence) ? CUSHIM_REASON_COMPAT_REFUSED : CUSHIM_REASON_MODULE_MISMATCH;
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

/* ---- The machine ---- */

/* Without a GPU, NVIDIA's driver 390 returns the code that a software driver returns for any failure. */
static bool evidence_can_lack_gpu(const struct evidence *evidence)
{
    return evidence_lacks_gpu(evidence) || (evidence->code == CUDA_ERROR_UNKNOWN && library_is_of_nvidia(evidence));
}

/* A GPU that has a device file is NVIDIA's to use, so only a machine without one is looked at further. */
static enum cushim_reason cause_of_machine(const struct evidence *evidence)
{
    const struct system_bus *bus = &evidence->bus;
    bool has_module = evidence->system.kernel_module[0] != '\0';
    if (!evidence->is_usual || !bus->is_visible)
        return CUSHIM_REASON_NONE;
    if (bus->lost > 0 && (bus->lost == bus->gpus || evidence->code != CUDA_SUCCESS))
        return CUSHIM_REASON_GPU_LOST;
    if (evidence->system.gpu_node != CUSHIM_NODE_ABSENT || !evidence_can_lack_gpu(evidence))
        return CUSHIM_REASON_NONE;
    if (bus->gpus == 0)
        return has_module ? CUSHIM_REASON_NONE : CUSHIM_REASON_NO_GPU;
    if (bus->of_vfio == bus->gpus)
        return CUSHIM_REASON_GPU_OF_VFIO;
    if (bus->of_vfio + bus->of_another_driver == bus->gpus
        || (!has_module && cush_system_has_file(evidence->root, "/sys/module/nouveau")))
        return CUSHIM_REASON_GPU_OF_NOUVEAU;
    if (evidence->system.is_container)
        return CUSHIM_REASON_NO_DEVICE_NODES;
    /* A start can load the module and create the files (nvidia-modprobe). */
    return has_module || evidence->code == CUDA_SUCCESS ? CUSHIM_REASON_NONE : CUSHIM_REASON_MODULE_NOT_LOADED;
}

/* Below a root, the links of a path are resolved already. */
static bool has_broken_link(const struct evidence *evidence)
{
    static const char paths[][sizeof "/dev/nvidia-uvm"] = {"/dev/nvidiactl", "/dev/nvidia0", "/dev/nvidia-uvm"};
    bool found = false;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0] && evidence->root[0] == '\0'; i++)
        found = found || cush_os_link_is_broken(paths[i]);
    return found;
}

static enum cushim_reason cause_of_nodes(const struct evidence *evidence)
{
    const struct cushim_system *system = &evidence->system;
    bool lacks_node = system->control_node == CUSHIM_NODE_ABSENT || system->gpu_node == CUSHIM_NODE_ABSENT;
    if (!evidence->is_usual)
        return CUSHIM_REASON_NONE;
    if (system->gpu_node == CUSHIM_NODE_DENIED
        || (evidence->code == CUDA_SUCCESS && system->control_node == CUSHIM_NODE_DENIED))
        return CUSHIM_REASON_NODES_DENIED;
    if (evidence->code != CUDA_SUCCESS && has_broken_link(evidence))
        return CUSHIM_REASON_NODE_WRONG;
    /* A container can hide the bus, and creates no files. */
    if (lacks_node && (system->is_container || (system->has_gpu_on_bus && evidence->code != CUDA_SUCCESS)))
        return CUSHIM_REASON_NO_DEVICE_NODES;
    if (evidence->code == CUDA_ERROR_UNKNOWN && system->control_node == CUSHIM_NODE_READY
        && system->uvm_node == CUSHIM_NODE_ABSENT)
        return CUSHIM_REASON_UNIFIED_MEMORY;
    return CUSHIM_REASON_NONE;
}

/* The text of the reason names all device files. This one names those that are missing. */
static CUSHIM_COLD struct os_obstacle cause_name_nodes(const struct evidence *evidence, struct os_obstacle cause)
{
    bool lacks_control = evidence->system.control_node == CUSHIM_NODE_ABSENT;
    bool lacks_gpu = evidence->system.gpu_node == CUSHIM_NODE_ABSENT;
    if (cause.reason == CUSHIM_REASON_NO_DEVICE_NODES && lacks_control != lacks_gpu)
        snprintf(cause.message, sizeof cause.message,
                 "The system has no NVIDIA device node %s, so the driver cannot reach a GPU.",
                 lacks_gpu ? "of a GPU (/dev/nvidia0)" : "/dev/nvidiactl");
    return cause;
}

/* ---- CUDA_VISIBLE_DEVICES ---- */

/* Whether the variables explain the code. A UUID that is not known is that of no GPU if the driver finds none. Without
 * a start, a part of a GPU (MIG) can exist. */
static bool shown_explains(const struct visible_shown *shown, CUresult code)
{
    const struct visible *visible = &shown->visible;
    bool is_of_mig = strncmp(shown->variables.list, "MIG-", 4) == 0;
    if (code == CUDA_SUCCESS)
        return visible->code != CUDA_SUCCESS && visible->code != CUDA_ERROR_UNKNOWN && !is_of_mig;
    return visible->code == code
           || (code == CUDA_ERROR_NO_DEVICE && visible->is_by_uuid && visible->remark == VISIBLE_UUID_UNKNOWN);
}

/* Whether CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER is the cause. Without a start below a root, they are those of
 * another machine. */
static bool cause_is_hidden(const struct evidence *evidence, struct os_obstacle *cause)
{
    if (!evidence_lacks_gpu(evidence) || (evidence->code == CUDA_SUCCESS && evidence->root[0] != '\0'))
        return false;
    struct visible_shown *shown = malloc(sizeof *shown);
    if (shown == NULL)
        return false;
    cush_visible_find(evidence->root, evidence->system.gpu_node_count, shown);
    bool is_hidden = (shown->variables.has_list || shown->variables.has_order) && shown_explains(shown, evidence->code);
    if (is_hidden)
        cause->reason = CUSHIM_REASON_HIDDEN;
    if (is_hidden && shown->visible.code != CUDA_ERROR_UNKNOWN)
        cush_visible_explain(&shown->variables, &shown->visible, shown->count, cause->message, sizeof cause->message);
    free(shown);
    return is_hidden;
}

/* ---- In this order ---- */

/* How many searches of other threads went on at any time since so many had ended. */
static unsigned searches_beside(unsigned ended)
{
    return atomic_load(&cush_os_searches_started) - ended - 1;
}

/* A search of another thread that begins while this one tries to open files takes some of them, too. */
static struct os_obstacle obstacle_search(const char *root, CUresult code, unsigned ended)
{
    struct os_obstacle obstacle;
    unsigned others;
    do {
        others = searches_beside(ended);
        obstacle = cush_os_obstacle_find(root, code, others);
    } while (obstacle.reason == CUSHIM_REASON_LIMIT && searches_beside(ended) != others);
    return obstacle;
}

/* `ended`: the searches that had ended before this one began. */
static struct os_obstacle cause_search(const char *root, const char *library, CUresult code, unsigned ended)
{
    struct evidence evidence;
    struct os_obstacle cause = {.reason = CUSHIM_REASON_NONE, .message = ""};
    struct os_obstacle obstacle = cause;
    evidence_read(&evidence, root, library, code);
    cause.reason = cause_of_code(&evidence);
    if (cause.reason != CUSHIM_REASON_NONE)
        return cause;
    if (code != CUDA_SUCCESS)
        obstacle = obstacle_search(root, code, ended);
    if (obstacle.reason == CUSHIM_REASON_LIMIT || obstacle.reason == CUSHIM_REASON_SANDBOX)
        return obstacle;
    if (!library_is_of_nvidia(&evidence) && cause_is_hidden(&evidence, &cause))
        return cause;
    cause.reason = cause_of_machine(&evidence);
    if (cause.reason != CUSHIM_REASON_NONE)
        return cause_name_nodes(&evidence, cause);
    if (obstacle.reason != CUSHIM_REASON_NONE)
        return obstacle;
    cause.reason = cause_of_nodes(&evidence);
    if (cause.reason == CUSHIM_REASON_NONE && !cause_is_hidden(&evidence, &cause) && code != CUDA_SUCCESS)
        cause.reason = code == CUDA_ERROR_NO_DEVICE ? CUSHIM_REASON_NO_DEVICE : CUSHIM_REASON_UNKNOWN;
    return cause_name_nodes(&evidence, cause);
}

struct os_obstacle cush_cause_find(const char *root, const char *library, CUresult code, bool is_forked)
{
    if (code == CUDA_ERROR_NOT_INITIALIZED && is_forked) /* also with some kernels (HMM with KASLR) */
        return (struct os_obstacle){.reason = CUSHIM_REASON_FORKED, .message = ""};
    const unsigned ended = atomic_load(&cush_os_searches_ended);
    atomic_fetch_add(&cush_os_searches_started, 1);
    struct os_obstacle cause = cause_search(root, library, code, ended);
    atomic_fetch_add(&cush_os_searches_ended, 1);
    return cause;
}
