/* SPDX-License-Identifier: MIT */
#include "companions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "child.h"
#include "companion_names.h"
#include "cushim/cushim.h"

#define COMPANION_PAIR(name, library) {#name, library},
static const struct companion_name {
    const char *name, *library;
} companion_names[CUSHIM_COMPANION_COUNT] = {COMPANION_LIST(COMPANION_PAIR)};

/* A companion and the process that opens it. */
struct opening {
    struct child_memory child;
    enum cushim_companion_id id;
    struct companion_found found;
};

/* NVENC reports it without a GPU. */
static void companion_read_api(enum cushim_companion_id id, char *api, size_t size)
{
    unsigned version = 0;
    int(CUDAAPI * get_version)(unsigned *) = NULL;
    bool is_open = id == CUSHIM_COMPANION_NVENC && cushim_companion_get(id)->handle != NULL;
    cushim_fn fn = is_open ? cushim_companion_symbol(id, "NvEncodeAPIGetMaxSupportedVersion") : NULL;
    memcpy(&get_version, &fn, sizeof get_version);
    if (get_version != NULL && get_version(&version) == 0)
        snprintf(api, size, "%u.%u", version >> 4, version & 15);
}

static void companion_open(void *memory)
{
    struct opening *opening = memory;
    struct companion_found *found = &opening->found;
    const struct cushim_companion *companion = cushim_companion_get(opening->id);
    companion_read_api(opening->id, found->api, sizeof found->api);
    found->reason = companion->reason;
    snprintf(found->name, sizeof found->name, "%s", companion->name);
    snprintf(found->library, sizeof found->library, "%s", companion->library);
    snprintf(found->path, sizeof found->path, "%s", companion->path);
    snprintf(found->version, sizeof found->version, "%s", companion->version);
    snprintf(found->message, sizeof found->message, "%s", companion->message);
    snprintf(found->advice, sizeof found->advice, "%s", companion->advice);
    found->has_answered = true;
}

static void companion_explain_end(struct companion_found *found, const struct child *child, int seconds)
{
    char end[160];
    if (!child->has_ended)
        snprintf(end, sizeof end, "takes over %d s", seconds);
    else
        snprintf(end, sizeof end, "ends the process%s%s%s", child->signal != 0 ? " (" : "",
                 child->signal != 0 ? child_signal_name(child->signal) : "", child->signal != 0 ? ")" : "");
    found->reason = CUSHIM_REASON_NOT_LOADABLE;
    snprintf(found->message, sizeof found->message, "%s cannot be used: opening %s %s.", found->name, found->library,
             end);
    snprintf(found->advice, sizeof found->advice,
             "Install the complete driver of NVIDIA again, and remove the library if it does not belong to the "
             "driver.");
}

/* Without a process of its own, a companion is opened in this one. */
static void companion_find(struct opening *opening, struct child *child, uint64_t end, int seconds)
{
    uint64_t now = cushim_clock_ns();
    if (child->error != 0) {
        companion_open(opening);
        return;
    }
    child_wait(child, end > now ? (int)((end - now) / 1000000) : 0);
    if (!opening->child.has_ended)
        companion_explain_end(&opening->found, child, seconds);
    if (!child->has_ended)
        child_stop(child);
}

void companions_find(struct companion_found found[CUSHIM_COMPANION_COUNT], int seconds)
{
    const uint64_t end = cushim_clock_ns() + (uint64_t)seconds * 1000000000;
    const size_t size = CUSHIM_COMPANION_COUNT * sizeof(struct opening);
    struct opening *openings = child_memory_create(size);
    struct child children[CUSHIM_COMPANION_COUNT];
    memset(found, 0, CUSHIM_COMPANION_COUNT * sizeof *found);
    for (int id = 0; id < CUSHIM_COMPANION_COUNT; id++) {
        struct companion_found *empty = openings != NULL ? &openings[id].found : &found[id];
        snprintf(empty->name, sizeof empty->name, "%s", companion_names[id].name);
        snprintf(empty->library, sizeof empty->library, "%s", companion_names[id].library);
        empty->reason = CUSHIM_REASON_UNKNOWN;
        snprintf(empty->message, sizeof empty->message, "It is not searched for, because memory is exhausted.");
        snprintf(empty->advice, sizeof empty->advice, "Free memory.");
        if (openings == NULL)
            continue;
        openings[id].child.may_begin = openings[id].child.is_quiet = true;
        openings[id].id = (enum cushim_companion_id)id;
        if (cushim_driver_version() != 0)
            children[id] = child_start(companion_open, &openings[id]);
        else
            children[id].error = ENOENT; /* nothing is opened */
    }
    for (int id = 0; openings != NULL && id < CUSHIM_COMPANION_COUNT; id++) {
        companion_find(&openings[id], &children[id], end, seconds);
        found[id] = openings[id].found;
    }
    if (openings != NULL)
        child_memory_destroy(openings, size);
}
