/* SPDX-License-Identifier: MIT */
#include "selected_driver.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"
#include "softcuda.h"
#include "in_child.h"
#include "machine.h"
#include "platform.h"

/* Why this process did not try to load the driver; NULL if it did. */
static const struct cushim_diagnosis *refusal;

bool softcuda_find(const char *driver, char *path, size_t size)
{
    static const char *const directories[] = {"../../softcuda", CUSHIM_SOFTCUDA_DIRECTORY};
    char own[PLATFORM_PATH_SIZE], file[PLATFORM_PATH_SIZE];
    if (driver[0] == '\0' || driver[strspn(driver, "0123456789")] != '\0' || !platform_own_directory(own, sizeof own))
        return false;
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        int length = snprintf(file, sizeof file, "%s/%s/%s/%s", own, directories[i], driver, CUSHIM_SOFTCUDA_FILE);
        if (length > 0 && (size_t)length < sizeof file && platform_exists(file) && platform_real_path(file, path, size))
            return true;
    }
    return false;
}

/* Whether an environment variable was invalid. Options are read first; after an invalid option no variable is used. */
static bool is_from_environment(const struct cushim_diagnosis *diagnosis)
{
    for (size_t i = 0; i < diagnosis->variable_count; i++) {
        if (diagnosis->variables[i].is_used)
            return true;
    }
    return false;
}

void driver_refuse(const char *message)
{
    static char text[256];
    static struct cushim_diagnosis diagnosis;
    snprintf(text, sizeof text, "%s", message);
    (void)cushim_load(&(struct cushim_load_options){.path = "none"});
    diagnosis = (struct cushim_diagnosis){
        .reason = CUSHIM_REASON_NO_ANSWER,
        .code = CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        .reason_name = cushim_reason_name(CUSHIM_REASON_NO_ANSWER),
        .message = text,
        .advice = cushim_reason_advice(CUSHIM_REASON_NO_ANSWER),
    };
    refusal = &diagnosis;
}

enum status driver_load(const struct options *options)
{
    if (refusal != NULL)
        return STATUS_UNUSABLE;
    refusal = load_in_child(&options->load, options->timeout_seconds);
    if (refusal != NULL)
        return STATUS_UNUSABLE;
    if (cushim_load(&options->load) == CUDA_SUCCESS)
        return STATUS_USABLE;
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (diagnosis->reason == CUSHIM_REASON_BAD_OPTION && !is_from_environment(diagnosis))
        return text_refuse("%s", diagnosis->message);
    return STATUS_UNUSABLE;
}

const struct cushim_diagnosis *driver_diagnosis(void)
{
    return refusal != NULL ? refusal : cushim_diagnosis_get();
}

void driver_complain(void)
{
    text_complain("%s %s", driver_diagnosis()->message, driver_diagnosis()->advice);
}

const struct softcuda_control *driver_softcuda(void)
{
    union {
        platform_fn found;
        softcuda_control_fn get;
    } control = {platform_symbol(driver_diagnosis()->path, SOFTCUDA_CONTROL_SYMBOL)};
    return control.get != NULL ? control.get(SOFTCUDA_CONTROL_VERSION) : NULL;
}

struct driver_name driver_name(void)
{
    const struct cushim_diagnosis *diagnosis = driver_diagnosis();
    const struct softcuda_control *softcuda = driver_softcuda();
    struct driver_name name;
    char limit[48] = "";
    if (cushim_driver_version() != 0 && cushim_driver_version() < diagnosis->cuda_version)
        snprintf(limit, sizeof limit, ", limited to CUDA %s", text_version(cushim_driver_version()).text);
    snprintf(name.text, sizeof name.text, "%s %s%sfor CUDA %s%s",
             softcuda != NULL ? "softcuda, a software driver, as driver" : "NVIDIA driver",
             softcuda != NULL ? softcuda->driver : cush_driver_release(diagnosis->path).text,
             softcuda != NULL || cush_driver_release(diagnosis->path).text[0] != '\0' ? " " : "",
             text_version(diagnosis->cuda_version).text, limit);
    return name;
}

struct driver_explanation driver_explanation(void)
{
    struct driver_explanation explanation = {""};
    const char *lines = cushim_error_last()->driver_message;
    size_t used = lines != NULL ? (size_t)snprintf(explanation.text, sizeof explanation.text, " The driver says: ") : 0;
    for (; lines != NULL && *lines != '\0' && used + 3 < sizeof explanation.text; lines++) {
        if (*lines == '\n')
            explanation.text[used++] = ';';
        explanation.text[used++] = *lines == '\n' ? ' ' : *lines;
    }
    if (lines != NULL)
        strcpy(explanation.text + used, ".");
    return explanation;
}

CUresult driver_start(void)
{
    fflush(NULL);
    return cushim_init();
}

const char *driver_code_name(CUresult code)
{
    const char *name = NULL;
    return cushim_table_legacy()->GetErrorName_v1(code, &name) == CUDA_SUCCESS && name != NULL ? name
                                                                                               : "an unknown code";
}

int driver_device_count(void)
{
    int count = 0;
    return cushim_table_legacy()->DeviceGetCount_v1(&count) == CUDA_SUCCESS ? count : 0;
}
