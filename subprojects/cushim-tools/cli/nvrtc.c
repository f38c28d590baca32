/* SPDX-License-Identifier: MIT */
/* probe --nvrtc. A file that is searched for may be anything, so it is opened in a process of its own. */
#include "cli.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "child.h"

struct nvrtc_finding {
    struct child_memory child;
    struct cushim_nvrtc_options options;
    struct cushim_nvrtc found;
    bool has_memory;
};

static void nvrtc_work(void *memory)
{
    struct nvrtc_finding *finding = memory;
    finding->has_memory = cushim_nvrtc_find(&finding->options, &finding->found) == CUDA_SUCCESS;
}

static void nvrtc_fail(struct cushim_nvrtc *found, enum cushim_reason reason, const char *message, const char *advice)
{
    *found = (struct cushim_nvrtc){.reason = reason, .place = ""};
    snprintf(found->message, sizeof found->message, "%s", message);
    snprintf(found->advice, sizeof found->advice, "%s", advice);
}

void nvrtc_find(const char *root, int seconds, struct cushim_nvrtc *out_found)
{
    struct nvrtc_finding *finding = child_memory_create(sizeof *finding);
    nvrtc_fail(out_found, CUSHIM_REASON_UNKNOWN, "NVRTC is not searched for, because memory is exhausted.",
               "Free memory.");
    if (finding == NULL)
        return;
    finding->child.may_begin = finding->child.is_quiet = true;
    finding->options.root = root;
    struct child child = child_start(nvrtc_work, finding);
    bool has_ended = child.error != 0 || child_wait(&child, seconds * 1000);
    if (child.error != 0)
        nvrtc_work(finding);
    if (finding->has_memory)
        *out_found = finding->found;
    else if (child.error == 0 && !finding->child.has_ended)
        nvrtc_fail(out_found, CUSHIM_REASON_NOT_LOADABLE,
                   has_ended ? "A file that has the name of NVRTC ends the process that opens it."
                             : "A file that has the name of NVRTC does not return to the process that opens it.",
                   "Remove or repair the copies of NVRTC in CUDA_PATH, LD_LIBRARY_PATH and the Python environment.");
    if (!has_ended)
        child_stop(&child);
    child_memory_destroy(finding, sizeof *finding);
}

void nvrtc_write(struct json *json, const struct cushim_nvrtc *found)
{
    if (found == NULL) {
        json_null(json, "nvrtc");
        return;
    }
    bool is_open = found->reason == CUSHIM_REASON_NONE;
    json_open_object(json, "nvrtc");
    json_string(json, "reason", cushim_reason_name(found->reason));
    json_string(json, "path", is_open ? found->path : NULL);
    json_string(json, "place", is_open ? found->place : NULL);
    json_known(json, "cuda_version", found->version);
    json_string(json, "target", found->target[0] != '\0' ? found->target : NULL);
    json_boolean(json, "is_ptx_usable", found->is_ptx_usable);
    json_string(json, "message", found->message);
    json_string(json, "advice", found->advice);
    json_close_object(json);
}

void nvrtc_print(const struct cushim_nvrtc *found)
{
    char line[sizeof found->path + 256];
    if (found->reason != CUSHIM_REASON_NONE) {
        text_field("NVRTC", TONE_PLAIN, found->message);
        return;
    }
    snprintf(line, sizeof line, "%s, %s (%s)%s%s", text_version(found->version).text, found->path, found->place,
             found->target[0] != '\0' ? ", compile for " : "", found->target);
    text_field("NVRTC", TONE_PLAIN, line);
    if (found->message[0] != '\0')
        text_field("", TONE_PLAIN, found->message);
}
