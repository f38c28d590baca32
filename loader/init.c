/* SPDX-License-Identifier: MIT */
#include "diagnosis.h"
#include "error.h"
#include "load.h"
#include "os.h"
#include "start.h"

static const char init_name[] = "cushim_init";

CUSHIM_COLD CUresult cushim_init(void)
{
    if (cush_os_load_lock_is_mine())
        return cush_error_set(CUDA_ERROR_NOT_READY, init_name, "This thread is already loading the driver.", NULL);
    (void)cush_load_has_driver();
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (!cush_load_has_succeeded()) /* in this order, since another thread may load in between */
        return cush_error_set(diagnosis->code, init_name, "%", diagnosis->message);
    (void)cush_start_take();
    CUresult code = cushim_table_legacy()->Init_v1(0);
    diagnosis = cush_start_take();
    const char *log = cush_error_get()->driver_message;
    /* A layer can answer in place of the driver, and differently. */
    bool is_of_driver = diagnosis != NULL && diagnosis->code == code;
    if (!is_of_driver && (code != CUDA_SUCCESS || cushim_diagnosis_get()->code != CUDA_SUCCESS))
        diagnosis = cush_start_report(code);
    if (code == CUDA_SUCCESS)
        return code;
    cush_error_set(code, init_name, "%", diagnosis->message);
    cush_error_add_driver_message(is_of_driver ? log : NULL);
    return code;
}
