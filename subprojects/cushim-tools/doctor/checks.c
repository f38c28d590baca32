/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "system_calls.h"

/* ---- The kernel and the device files ---- */

/* Whether the cause is known and belongs to this check. */
static bool has_cause(const struct doctor *doctor, const char *check)
{
    for (size_t i = 0; i < doctor->count; i++) {
        if (doctor->findings[i].cause != NULL && strcmp(doctor->findings[i].check, check) == 0)
            return true;
    }
    return false;
}

/* An unpacked image has no kernel and no devices, which is not a problem. */
static bool is_bare_directory(const struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    return doctor->root[0] != '\0' && !system->is_container && !doctor->sees_bus && system->kernel_module[0] == '\0'
           && system->control_node == CUSHIM_NODE_ABSENT && system->gpu_node == CUSHIM_NODE_ABSENT;
}

/* Whether a kernel module and a library have the same release. */
static bool is_same_release(const char *one, const char *other)
{
    /* Some files omit a last ".00". */
    size_t length = strlen(one) < strlen(other) ? strlen(one) : strlen(other);
    const char *rest = strlen(one) > length ? one + length : other + length;
    return strncmp(one, other, length) == 0 && (rest[0] == '\0' || strcmp(rest, ".00") == 0);
}

static void report_mismatch(struct doctor *doctor)
{
    doctor_find(
        doctor, "kernel-module", VERDICT_CAUSE,
        "The driver library and the kernel module have different versions.\nThe library has version %s, and the "
        "kernel module %s.",
        doctor->release.text[0] != '\0' ? doctor->release.text : "unknown",
        doctor->system.kernel_module[0] != '\0' ? doctor->system.kernel_module : "unknown");
    doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_MODULE_MISMATCH));
}

/* Why the module is not loaded is a row of causes.inc. */
static void report_no_module(struct doctor *doctor)
{
    static const char check[] = "kernel-module";
    if (is_bare_directory(doctor)) {
        doctor_find(doctor, check, VERDICT_NOTE, "This directory has no information about a running kernel.");
    } else if (doctor->certain == CUSHIM_REASON_NO_GPU) {
        doctor_find(doctor, check, VERDICT_NOTE,
                    "The kernel module of the driver is not loaded, as expected without a GPU.");
    } else if (!evidence_exists(doctor, "/sys/module")) {
        doctor_find(doctor, check, VERDICT_NOTE,
                    "Whether the kernel module of the driver is loaded is not visible here, without /sys/module and "
                    "/proc/driver/nvidia.");
    } else if (!has_cause(doctor, check) && !doctor->started) {
        doctor_find(doctor, check, VERDICT_PROBLEM, "The kernel module of the driver is not loaded.");
        doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_MODULE_NOT_LOADED));
    }
}

static void check_kernel_module(struct doctor *doctor)
{
    const char *module = doctor->system.kernel_module;
    const char *release = doctor->release.text;
    if (has_cause(doctor, "kernel-module") && module[0] != '\0') {
        return;
    } else if (module[0] == '\0') {
        if (platform_has_system_files() && !doctor->is_wsl && !doctor->is_jetson)
            report_no_module(doctor);
    } else if (release[0] == '\0') {
        doctor_find(doctor, "kernel-module", VERDICT_OK, "The kernel module of the driver is loaded, version %s.",
                    module);
    } else if (is_same_release(module, release)) {
        doctor_find(doctor, "kernel-module", VERDICT_OK,
                    "The driver library and the kernel module have the same version, %s.", module);
    } else if (doctor->is_compat) {
        doctor_find(doctor, "kernel-module", VERDICT_NOTE,
                    "The driver library has version %s and runs on a kernel module of version %s.", release, module);
    } else {
        report_mismatch(doctor);
    }
}

static void report_denied(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    doctor_find(doctor, "device-nodes", VERDICT_CAUSE,
                "This process may not open the device files of the GPU.\nIt may not open%s%s%s.",
                system->control_node == CUSHIM_NODE_DENIED ? " /dev/nvidiactl" : "",
                system->gpu_node == CUSHIM_NODE_DENIED ? " /dev/nvidia0" : "",
                system->uvm_node == CUSHIM_NODE_DENIED ? " /dev/nvidia-uvm" : "");
    doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_NODES_DENIED));
}

static void report_absent(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    const char *only = system->control_node == CUSHIM_NODE_ABSENT
                           ? ""
                           : " /dev/nvidiactl alone does not show a GPU: the driver creates it.";
    if (is_bare_directory(doctor)) {
        doctor_find(doctor, "device-nodes", VERDICT_NOTE, "This directory has no device files.");
    } else if (doctor->certain == CUSHIM_REASON_NO_GPU) {
        doctor_find(doctor, "device-nodes", VERDICT_NOTE,
                    "There is no device file of a GPU (/dev/nvidia0), as expected without a GPU.%s", only);
    } else {
        bool is_cause = system->kernel_module[0] != '\0' && !system->is_container;
        doctor_find(doctor, "device-nodes", is_cause ? VERDICT_CAUSE : VERDICT_PROBLEM, "There is no %s.%s",
                    system->gpu_node == CUSHIM_NODE_ABSENT ? "device file of a GPU (/dev/nvidia0)" : "/dev/nvidiactl",
                    only);
        if (system->is_container)
            doctor_advise(doctor, "Start the container with GPU access (for Docker: --gpus all).");
        else if (system->kernel_module[0] != '\0')
            doctor_advise(doctor, "Run nvidia-smi once as root, which creates the files.");
        else
            doctor_advise(doctor, "%s", cushim_reason_advice(CUSHIM_REASON_NO_DEVICE_NODES));
    }
}

static void check_device_nodes(struct doctor *doctor)
{
    const struct cushim_system *system = &doctor->system;
    if (doctor->is_wsl || !platform_has_system_files() || has_cause(doctor, "device-nodes"))
        return;
    if (doctor->trials->tried && !doctor->trials->has_ended && doctor->trials->signal == 0
        && doctor->trials->current[0] == '/') {
        doctor_find(doctor, "device-nodes", VERDICT_PROBLEM, "Opening %s has not returned for %d seconds.",
                    doctor->trials->current, doctor->step_seconds);
        doctor_advise(doctor, "Look for lines with NVRM or Xid in the kernel log (dmesg), and restart the machine.");
    } else if (system->control_node == CUSHIM_NODE_DENIED || system->gpu_node == CUSHIM_NODE_DENIED
               || system->uvm_node == CUSHIM_NODE_DENIED) {
        report_denied(doctor);
    } else if (system->gpu_node == CUSHIM_NODE_ABSENT || system->control_node == CUSHIM_NODE_ABSENT) {
        if (!doctor->is_jetson)
            report_absent(doctor);
    } else if (system->uvm_node == CUSHIM_NODE_ABSENT) {
        if (doctor->operation != NULL && strcmp(doctor->operation->path, "/dev/nvidia-uvm") == 0)
            return; /* the cause names it */
        doctor_find(doctor, "device-nodes", VERDICT_NOTE,
                    "/dev/nvidia-uvm does not exist. It is created when CUDA is first used.");
        doctor_advise(doctor, "If CUDA does not start, run \"nvidia-modprobe -u -c 0\" as root.");
    } else {
        const struct trials *trials = doctor->trials;
        bool all_opened = trials->control_opened && trials->uvm_opened && trials->gpus_opened == system->gpu_node_count;
        doctor_find(doctor, "device-nodes", VERDICT_OK, "The device files of %d GPU%s exist%s.", system->gpu_node_count,
                    system->gpu_node_count == 1 ? "" : "s", doctor->started || all_opened ? " and can be opened" : "");
    }
}

void doctor_check_driver(struct doctor *doctor)
{
    check_kernel_module(doctor);
    check_device_nodes(doctor);
}

/* ---- The start of the driver ---- */

static void check_visible_devices(struct doctor *doctor)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    struct visible_fault fault;
    if (doctor->root[0] != '\0' || has_cause(doctor, "visible-devices"))
        return;
    if (visible_explain(doctor, &fault)) {
        doctor_find(doctor, "visible-devices", fault.hides_all && !doctor->started ? VERDICT_PROBLEM : VERDICT_NOTE,
                    "%s", fault.text);
        doctor_advise(doctor, "%s", fault.advice);
    } else if (visible != NULL) {
        doctor_find(doctor, "visible-devices", VERDICT_NOTE,
                    "CUDA_VISIBLE_DEVICES is set to \"%s\". Programs see only those GPUs.", visible);
        doctor_advise(doctor, "Unset it to use all GPUs.");
    }
}

static void check_version(struct doctor *doctor)
{
    const char *message = doctor->load->message, *advice = doctor->load->advice;
    struct requirement requirement;
    if (doctor->load->reason != CUSHIM_REASON_TOO_OLD) {
        const struct options *options = doctor->options;
        if (!doctor->loaded || (options->required_version == 0 && options->name_count == 0))
            return;
        requirement = requirement_check(options);
        message = requirement.message;
        advice = requirement.advice;
        if (requirement.met) {
            doctor_find(doctor, "version", VERDICT_OK, "The driver, for CUDA %s, is as required.",
                        text_version(cushim_driver_version()).text);
            return;
        }
    }
    doctor_find(doctor, "version", VERDICT_PROBLEM, "%s", message);
    doctor_advise(doctor, "%s", advice);
    doctor->findings[doctor->count - 1].verdict = VERDICT_PROBLEM; /* a driver that starts can be too old */
}

/* The GPUs by files: NVML is asked in a child only. The variables of this process are not those of another root.
 * Returns whether there is one. */
static bool report_gpus_of_files(struct doctor *doctor)
{
    static struct cushim_gpu gpus[MACHINE_GPUS];
    const struct cushim_gpus all = machine_gpus_find(doctor->options->load.root, CUSHIM_GPU_NVML_NEVER, gpus);
    bool is_this_machine = doctor->root[0] == '\0';
    for (int i = 0; i < all.count && i < MAX_BUS_GPUS; i++) {
        const struct cushim_gpu *gpu = &gpus[i];
        char number[16] = "A GPU";
        bool is_hidden =
            gpu->hider != CUSHIM_GPU_HIDER_NONE && (is_this_machine || gpu->hider != CUSHIM_GPU_HIDER_VARIABLE);
        if (is_this_machine && gpu->ordinal >= 0)
            snprintf(number, sizeof number, "GPU %d", gpu->ordinal);
        doctor_find(doctor, "gpu", is_hidden ? VERDICT_NOTE : VERDICT_OK, "%s: %s, compute capability %s, %s, %s%s%s.",
                    number, gpu->name[0] != '\0' ? gpu->name : "the name is not known",
                    gpu->capability != 0 ? text_version(gpu->capability).text : "not known", gpu->pci_bus_id,
                    gpu->uuid[0] != '\0' ? gpu->uuid : "the UUID is not known", is_hidden ? "; " : "",
                    is_hidden ? machine_gpu_hider_text(gpu) : "");
    }
    return all.count > 0;
}

static void check_gpu(struct doctor *doctor)
{
    if (report_gpus_of_files(doctor))
        return;
    if (doctor->system.has_gpu_on_bus) {
        doctor_find(doctor, "gpu", VERDICT_OK, "This machine has an NVIDIA GPU.");
    } else if (doctor->certain == CUSHIM_REASON_NO_GPU && !has_cause(doctor, "gpu")) {
        doctor_find(doctor, "gpu", VERDICT_NOTE, "No NVIDIA GPU was found on this machine.");
    }
}

static void report_started(struct doctor *doctor)
{
    const struct start *start = doctor->start;
    char names[512] = "";
    for (int i = 0; i < start->gpu_count; i++) {
        size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, "%s%s", i == 0 ? "" : ", ", start->gpus[i].name.text);
    }
    doctor_find(doctor, "start", VERDICT_OK, "The driver starts and reports %d GPU%s: %s.%s", start->gpu_count,
                start->gpu_count == 1 ? "" : "s", names,
                start->is_complete ? "" : " No context was made, because functions for it are hidden or missing.");
}

/* A GPU after the first on which a step failed. */
static void report_gpus(struct doctor *doctor)
{
    const struct start *start = doctor->start;
    for (int i = 0; i < start->gpu_count; i++) {
        const struct start_gpu *gpu = &start->gpus[i];
        if (gpu->code == CUDA_SUCCESS || (i == 0 && !doctor->started))
            continue;
        doctor_find(doctor, "start", VERDICT_NOTE, "GPU %d (%s) cannot be used: %s returns code %d, %s.", i,
                    gpu->name.text, start_call(gpu->step), (int)gpu->code, driver_code_name(gpu->code));
    }
}

/* The kernel writes addresses of the bus with small letters, and the driver may write large ones. */
static bool is_started(const struct start *start, const char *address)
{
    unsigned wanted[3], own[3];
    if (sscanf(address, "%x:%x:%x", &wanted[0], &wanted[1], &wanted[2]) != 3)
        return true;
    for (int i = 0; i < start->gpu_count; i++) {
        if (sscanf(start->gpus[i].bus_id, "%x:%x:%x", &own[0], &own[1], &own[2]) == 3
            && memcmp(own, wanted, sizeof own) == 0)
            return true;
    }
    return false;
}

/* GPUs on the PCI bus that a program does not see. */
static void report_gpus_not_started(struct doctor *doctor)
{
    const struct start *start = doctor->start;
    const struct bus *bus = &doctor->bus;
    char gpus[1024] = "", gpu[128];
    if (!doctor->started || getenv("CUDA_VISIBLE_DEVICES") != NULL || bus->count <= start->gpu_count)
        return;
    for (int i = 0; i < bus->count; i++) {
        size_t used = strlen(gpus);
        gpu_describe(doctor, &bus->gpus[i], gpu, sizeof gpu);
        if (!is_started(start, bus->gpus[i].address))
            snprintf(gpus + used, sizeof gpus - used, "%s%s", used == 0 ? "" : "; ", gpu);
    }
    doctor_find(doctor, "gpu", VERDICT_NOTE, "The PCI bus shows %d NVIDIA GPUs, and programs see %d. Not seen: %s.",
                bus->count, start->gpu_count, gpus);
    doctor_advise(doctor, "If programs need them, see whether the container was started with all GPUs, whether this "
                          "user may open /dev/nvidia0, /dev/nvidia1 and so on, and whether the kernel log (dmesg) has "
                          "lines with NVRM or Xid.");
}

/* What the driver, or a library that was loaded with it, has written. */
static void report_output(struct doctor *doctor)
{
    char output[sizeof doctor->start->child.output];
    snprintf(output, sizeof output, "%s", doctor->start->child.output);
    for (char *end = output + strlen(output); end > output && strchr(" \n", end[-1]) != NULL; end--)
        end[-1] = '\0';
    for (char *line = output; (line = strchr(line, '\n')) != NULL;)
        *line = ';';
    if (output[0] != '\0' && (!doctor->started || doctor->options->watch))
        doctor_find(doctor, "start", VERDICT_NOTE, "During its start, the driver wrote: %s", output);
}

static void check_start(struct doctor *doctor)
{
    const struct start *start = doctor->start;
    if (start->outcome == START_NOT_TRIED) {
        if (doctor->loaded)
            doctor_find(doctor, "start", VERDICT_NOTE, "The driver was not started, because --root was given.");
        return;
    }
    if (doctor->started)
        report_started(doctor);
    report_output(doctor);
    report_gpus(doctor);
    report_gpus_not_started(doctor);
    if (doctor->second_started)
        doctor_find(
            doctor, "start", VERDICT_NOTE,
            "The driver did not start the first time, but started the second time. A start can load kernel modules "
            "and create device files.");
    if (start->in_this_process && start->error != ENOSYS)
        doctor_find(doctor, "start", VERDICT_NOTE, "No child process could be created (%s).", strerror(start->error));
}

/* One line is for a library that was sought in many directories, and for those of a call that fail in every start. */
static bool is_same_operation(const struct operation *one, const struct operation *other)
{
    bool is_library = pattern_matches("*/lib*.so*", one->path) && one->error == ENOENT;
    return one->error == other->error && one->meaning == other->meaning && strcmp(one->call, other->call) == 0
           && (one->meaning == OPERATION_NORMAL || strcmp(one->path, other->path) == 0
               || (is_library && strcmp(path_name(one->path), path_name(other->path)) == 0));
}

static void report_operation(struct doctor *doctor, size_t index)
{
    const struct operations *operations = &doctor->watch.operations;
    const struct operation *operation = &operations->list[index];
    bool is_usual = operation->meaning == OPERATION_NORMAL;
    unsigned times = 0, paths = 0;
    char count[48] = "";
    for (size_t i = 0; i < operations->count; i++) {
        if (!is_same_operation(operation, &operations->list[i]))
            continue;
        if (i < index)
            return;
        times += operations->list[i].count;
        paths += strcmp(operation->path, operations->list[i].path) != 0;
    }
    if (is_usual && paths > 0)
        snprintf(count, sizeof count, ", %u such calls", times);
    else if (paths > 0)
        snprintf(count, sizeof count, ", in %u directories", paths + 1);
    else if (times > 1)
        snprintf(count, sizeof count, ", %u times", times);
    doctor_find(doctor, "operation", VERDICT_NOTE, "%s(%s) fails with %s (%s)%s%s.", operation->call,
                !is_usual && paths > 0 ? path_name(operation->path) : operation->path,
                calls_error_name(operation->error), strerror(operation->error), count,
                is_usual ? ", as in every start" : "");
}

/* Shows the operations that failed, with --watch, or why they are not known. */
void doctor_check_operations(struct doctor *doctor)
{
    const struct operations *operations = &doctor->watch.operations;
    if (doctor->watch.error != 0 && !doctor->start->in_this_process && (!doctor->started || doctor->options->watch)) {
        doctor_find(doctor, "start", VERDICT_NOTE, "The start could not be watched (ptrace: %s).",
                    strerror(doctor->watch.error));
        doctor_advise(doctor,
                      "A sandbox, kernel.yama.ptrace_scope, a debugger that already traces this program, or a kernel "
                      "before Linux 5.3 refuses it. Instead, this program tried the operations of a driver.");
    }
    for (int usual = 0; usual < 2 && doctor->options->watch; usual++) {
        for (size_t i = 0; i < operations->count; i++) {
            if ((operations->list[i].meaning == OPERATION_NORMAL) == (usual == 1))
                report_operation(doctor, i);
        }
    }
}

void doctor_check_start(struct doctor *doctor)
{
    check_visible_devices(doctor);
    check_version(doctor);
    check_gpu(doctor);
    check_start(doctor);
}
