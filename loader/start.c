/* SPDX-License-Identifier: MIT */
#include "start.h"

#include <string.h>

#include "common/atomic.h"
#include "cause.h"
#include "diagnosis.h"
#include "driver.h"
#include "error.h"
#include "log.h"
#include "os.h"

/* Numbers of processes, 0: none. A child of fork() has those of its parent. That of this process is made without a
 * system call, because a seccomp filter can end the process for getpid(). */
static unsigned long started_process;  /* in which cuInit succeeded */
static unsigned long examined_process; /* whose first start was examined */
static unsigned long forked_process;   /* that inherited the device file of a start */

void (*cush_start_on_failure)(const struct cushim_diagnosis *diagnosis);

static CUSH_THREAD_LOCAL const struct cushim_diagnosis *last_start;

static unsigned long start_process(void)
{
    return cush_os_fork_count() + 1;
}

/* Only CUDA opens that file. A process that was not forked has opened it itself. */
static CUSHIM_COLD bool start_device_is_open(const char *root)
{
    char path[OS_PATH_SIZE];
    return cush_os_is_forked() && cush_os_path_below(root, "/dev/nvidia-uvm", path, sizeof path)
           && cush_os_file_is_open(path);
}

/* A start that fails can leave the file open, so only the first start of a process counts, and of several at the same
 * time, the one that was examined first. */
static CUSHIM_COLD bool start_inherits_device(unsigned long process)
{
    if (CUSHIM_LOAD_ACQUIRE(&examined_process) != process) {
        bool is_open = start_device_is_open(cush_loaded_driver.root);
        if (CUSHIM_LOAD_ACQUIRE(&examined_process) != process) {
            if (is_open)
                CUSHIM_STORE_RELEASE(&forked_process, process);
            CUSHIM_STORE_RELEASE(&examined_process, process);
        }
    }
    return CUSHIM_LOAD_ACQUIRE(&forked_process) == process;
}

static bool start_is_done(void)
{
    return CUSHIM_LOAD_ACQUIRE(&started_process) == start_process();
}

/* The variables of the load stay, and that of the driver comes first. */
static void start_add_variables(struct diagnosis_builder *builder, const struct cushim_diagnosis *before)
{
    static const char of_driver[] = "CUDA_VISIBLE_DEVICES";
    const char *visible = cush_os_environment(of_driver);
    if (visible != NULL)
        cush_diagnosis_add_variable(builder, of_driver, visible, true);
    for (size_t i = 0; i < before->variable_count; i++) {
        const struct cushim_variable *variable = &before->variables[i];
        if (strcmp(variable->name, of_driver) != 0)
            cush_diagnosis_add_variable(builder, variable->name, variable->value, variable->is_used);
    }
}

static CUSHIM_COLD const struct cushim_diagnosis *start_publish(CUresult code, enum cushim_reason reason,
                                                                const char *message)
{
    cush_os_load_lock();
    const struct cushim_diagnosis *before = cushim_diagnosis_get();
    struct diagnosis_builder *builder = cush_diagnosis_start_from(before);
    start_add_variables(builder, before);
    cush_diagnosis_set_outcome(builder, reason, code, message[0] != '\0' ? "%s" : NULL, message);
    const struct cushim_diagnosis *diagnosis = cush_diagnosis_publish(builder);
    cush_log_as_requested(diagnosis, true);
    cush_os_load_unlock();
    return diagnosis;
}

/* The cause is sought without the load lock, because a device that does not answer must not keep others from
 * loading. */
static CUSHIM_COLD const struct cushim_diagnosis *start_fail(CUresult code, bool is_forked)
{
    struct os_obstacle cause = cush_cause_find(cush_loaded_driver.root, cushim_diagnosis_get()->path, code, is_forked);
    return start_publish(code, cause.reason, cause.message);
}

static CUSHIM_COLD void start_set_error(CUresult code, const struct cushim_diagnosis *diagnosis)
{
    const char *log = cush_driver_log_take(code, CUSHIM_SLOT_Init_v1);
    cush_error_set(code, cush_symbols_symbol(ENTRY_Init_v1), "%", diagnosis->message);
    cush_error_add_driver_message(log);
}

CUSHIM_COLD CUresult CUDAAPI cush_start_Init(unsigned Flags)
{
    bool is_first = CUSHIM_LOAD_ACQUIRE(&started_process) == 0;
    bool is_forked = !is_first || start_inherits_device(start_process());
    CUresult code = cush_loaded_driver.init(Flags);
    if (code == CUDA_SUCCESS && is_first)
        CUSHIM_STORE_RELEASE(&started_process, start_process());
    /* A layer that is being installed calls cuInit during the load, which publishes its own result. A wrong argument is
     * an error of the program. */
    if (cush_os_load_lock_is_mine() || (code == CUDA_ERROR_INVALID_VALUE && Flags != 0))
        return code;
    last_start = cushim_diagnosis_get();
    if (code != CUDA_SUCCESS) {
        last_start = start_fail(code, is_forked);
        start_set_error(code, last_start);
        if (cush_start_on_failure != NULL)
            cush_start_on_failure(last_start);
    } else if (last_start->code != CUDA_SUCCESS) {
        last_start = start_publish(code, CUSHIM_REASON_NONE, "");
    }
    return code;
}

/* A diagnosis is never freed, and a program that does not know cushim prints this text. */
CUresult CUDAAPI cush_start_GetErrorString(CUresult error, const char **pStr)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    CUresult result = cush_loaded_driver.error_text(error, pStr);
    if (result == CUDA_SUCCESS && error != CUDA_SUCCESS && diagnosis->code == error && !start_is_done())
        *pStr = diagnosis->message;
    return result;
}

const struct cushim_diagnosis *cush_start_take(void)
{
    const struct cushim_diagnosis *taken = last_start;
    last_start = NULL;
    return taken;
}

bool cush_start_is_inherited(void)
{
    unsigned long started = CUSHIM_LOAD_ACQUIRE(&started_process);
    if (started != 0)
        return started != start_process();
    if (cush_loaded_driver.root == NULL) /* before a load, forks are not counted */
        return start_device_is_open("");
    return start_inherits_device(start_process());
}

void cush_start_reset(void)
{
    started_process = examined_process = forked_process = 0;
}

const struct cushim_diagnosis *cush_start_report(CUresult code)
{
    if (code == CUDA_SUCCESS)
        return start_publish(code, CUSHIM_REASON_NONE, "");
    if (cush_loaded_driver.init == NULL)
        return start_publish(code, CUSHIM_REASON_BAD_OPTION, "cuInit is hidden by CUSHIM_HIDE or the option hide.");
    return start_fail(code, false);
}
