/* SPDX-License-Identifier: MIT */
/* The companions of the loaded driver, for probe. */
#include "cli.h"

#include <stdio.h>
#include <string.h>

void companions_write(struct json *json, const struct companion_found *companions)
{
    json_open_array(json, "companions");
    for (int i = 0; companions != NULL && i < CUSHIM_COMPANION_COUNT; i++) {
        const struct companion_found *companion = &companions[i];
        json_open_object(json, NULL);
        json_string(json, "name", companion->name);
        json_string(json, "library", companion->library);
        json_string(json, "reason", cushim_reason_name(companion->reason));
        json_string(json, "path", companion->path[0] != '\0' ? companion->path : NULL);
        json_string(json, "driver_version", companion->version[0] != '\0' ? companion->version : NULL);
        json_string(json, "api_version", companion->api[0] != '\0' ? companion->api : NULL);
        json_string(json, "message", companion->message);
        json_string(json, "advice", companion->advice);
        json_close_object(json);
    }
    json_close_array(json);
}

void companions_print(const struct companion_found *companions)
{
    for (int i = 0; i < CUSHIM_COMPANION_COUNT; i++) {
        const struct companion_found *companion = &companions[i];
        char line[PLATFORM_PATH_SIZE + 32];
        snprintf(line, sizeof line, "%s%s%s", companion->api[0] != '\0' ? "API " : "", companion->api,
                 companion->api[0] != '\0' ? ", " : "");
        size_t length = strlen(line);
        snprintf(line + length, sizeof line - length, "%s",
                 companion->message[0] != '\0' ? companion->message : companion->path);
        text_field(companion->name, TONE_PLAIN, line);
    }
}
