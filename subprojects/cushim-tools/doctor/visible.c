/* SPDX-License-Identifier: MIT */
/* What is wrong with CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER, by the reader of the library. */
#include "doctor.h"

#include <stdlib.h>
#include <string.h>

#include "machine.h"

bool visible_explain(const struct doctor *doctor, struct visible_fault *out_fault)
{
    struct visible_shown *shown = calloc(1, sizeof *shown);
    *out_fault = (struct visible_fault){"", "", false};
    if (shown == NULL)
        return false;
    cush_visible_find(doctor->root, doctor->system.gpu_node_count, shown);
    const struct visible *visible = &shown->visible;
    /* The driver has found no GPU: a UUID that files do not show is that of none. */
    bool is_of_none =
        visible->remark == VISIBLE_UUID_UNKNOWN && visible->is_by_uuid && doctor->start->code == CUDA_ERROR_NO_DEVICE;
    if (is_of_none) {
        shown->visible.remark = VISIBLE_NOTHING;
        shown->visible.code = CUDA_ERROR_NO_DEVICE;
    }
    if (visible->code != CUDA_ERROR_UNKNOWN)
        cush_visible_explain(&shown->variables, visible, shown->count, out_fault->text, sizeof out_fault->text);
    out_fault->advice = cush_visible_advice(visible->remark);
    out_fault->hides_all = out_fault->text[0] != '\0' && visible->code != CUDA_SUCCESS;
    free(shown);
    return out_fault->text[0] != '\0';
}

/* Without the variable, the driver starts. */
bool evidence_visible_devices(const struct doctor *doctor)
{
    struct visible_fault fault;
    return (strstr(doctor->variables, "CUDA_VISIBLE_DEVICES") != NULL
            || strstr(doctor->variables, "CUDA_DEVICE_ORDER") != NULL)
           && visible_explain(doctor, &fault) && fault.hides_all;
}
