/* SPDX-License-Identifier: MIT */
/* The companions of the loaded driver, for probe. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "cushim/cushim.h"

/* The newest version of NVENC's API that its library has, which it reports without a GPU; "" for another companion. */
struct companion_api {
    char text[16];
};

static struct companion_api companion_api(enum cushim_companion_id id)
{
    struct companion_api api = {""};
    unsigned version = 0;
    int(CUDAAPI * get_version)(unsigned *) = NULL;
    bool is_open = id == CUSHIM_COMPANION_NVENC && cushim_companion_get(id)->handle != NULL;
    cushim_fn fn = is_open ? cushim_companion_symbol(id, "NvEncodeAPIGetMaxSupportedVersion") : NULL;
    memcpy(&get_version, &fn, sizeof get_version);
    if (get_version != NULL && get_version(&version) == 0)
        snprintf(api.text, sizeof api.text, "%u.%u", version >> 4, version & 15);
    return api;
}

const struct cushim_companion *companions_find_unknown(void)
{
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++) {
        const struct cushim_companion *companion = cushim_companion_get((enum cushim_companion_id)id);
        if (companion->reason == CUSHIM_REASON_UNKNOWN)
            return companion;
    }
    return NULL;
}

void companions_write(struct json *json, bool may_load)
{
    json_open_array(json, "companions");
    for (int i = 0; may_load && i < CUSHIM_COMPANION_COUNT; i++) {
        enum cushim_companion_id id = (enum cushim_companion_id)i;
        const struct cushim_companion *companion = cushim_companion_get(id);
        struct companion_api api = companion_api(id);
        json_open_object(json, NULL);
        json_string(json, "name", companion->name);
        json_string(json, "library", companion->library);
        json_string(json, "reason", cushim_reason_name(companion->reason));
        json_string(json, "path", companion->path[0] != '\0' ? companion->path : NULL);
        json_string(json, "driver_version", companion->version[0] != '\0' ? companion->version : NULL);
        json_string(json, "api_version", api.text[0] != '\0' ? api.text : NULL);
        json_string(json, "message", companion->message);
        json_string(json, "advice", companion->advice);
        json_close_object(json);
    }
    json_close_array(json);
}

void companions_print(void)
{
    for (int i = 0; i < CUSHIM_COMPANION_COUNT; i++) {
        enum cushim_companion_id id = (enum cushim_companion_id)i;
        const struct cushim_companion *companion = cushim_companion_get(id);
        struct companion_api api = companion_api(id);
        char line[4096 + 32];
        snprintf(line, sizeof line, "%s%s%s", api.text[0] != '\0' ? "API " : "", api.text,
                 api.text[0] != '\0' ? ", " : "");
        size_t length = strlen(line);
        snprintf(line + length, sizeof line - length, "%s",
                 companion->message[0] != '\0' ? companion->message : companion->path);
        text_field(companion->name, TONE_PLAIN, line);
    }
}
