/* SPDX-License-Identifier: MIT */
/* The rules are those of driver 580, as observed on one and on two GPUs: tests/devices/settings.inc. */
#include "gpu_visible.h"

#include <stdlib.h>
#include <string.h>

#include "os.h"

const char cush_visible_list_name[] = "CUDA_VISIBLE_DEVICES";
const char cush_visible_order_name[] = "CUDA_DEVICE_ORDER";

void cush_visible_get(struct visible_variables *out_variables)
{
    int length = cush_os_environment_copy(cush_visible_list_name, out_variables->list, sizeof out_variables->list);
    out_variables->has_list = length >= 0;
    out_variables->is_too_long = length >= (int)sizeof out_variables->list;
    length = cush_os_environment_copy(cush_visible_order_name, out_variables->order, sizeof out_variables->order);
    out_variables->has_order = length >= 0;
}

/* ---- One entry ---- */

bool cush_visible_is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", UUID_PREFIX) == 0 || strncmp(entry, "MIG-", UUID_PREFIX) == 0;
}

/* As strtoul() reads a number with base 10, of which the driver takes the lower 32 bits. Writes where it ends. */
static int entry_by_number(const char *entry, int count, const char **out_end)
{
    char *end;
    unsigned long long value = strtoull(entry, &end, 10);
    unsigned bits = (unsigned)(value & 0xffffffffu);
    *out_end = end;
    if (end == entry || bits > 0x7fffffffu)
        return NAMES_NOTHING;
    if (count < 0)
        return NAMES_UNKNOWN;
    return bits < (unsigned)count ? (int)bits : NAMES_NOTHING;
}

static int entry_by_uuid(const char *entry, size_t length, const char *const *uuids, int count)
{
    bool has_digit = cush_visible_is_uuid(entry) && strspn(entry + UUID_PREFIX, "-") + UUID_PREFIX < length;
    return has_digit ? cush_gpu_list_find(entry, length, uuids, count) : NAMES_NOTHING;
}

/* ---- The list ---- */

static void visible_note(struct visible *visible, enum visible_remark remark, const char *entry, size_t length)
{
    if (visible->remark != VISIBLE_FINE && remark < VISIBLE_NOTHING)
        return; /* the first one counts, unless one ends everything */
    visible->remark = remark;
    visible->entry = entry;
    visible->length = length;
}

static bool visible_has(const struct visible *visible, int gpu)
{
    bool found = false;
    for (int i = 0; i < visible->count; i++)
        found |= visible->gpus[i] == gpu;
    return found;
}

static void visible_fail(struct visible *visible, CUresult code, enum visible_remark remark, const char *entry,
                         size_t length)
{
    visible->code = code;
    visible->count = 0;
    visible_note(visible, remark, entry, length);
}

/* The entry names no GPU, and ends the list without an error. */
static void visible_end(struct visible *visible, const char *entry, size_t length)
{
    bool is_other_kind = cush_visible_is_uuid(entry) != visible->is_by_uuid && length > 0
                         && (cush_visible_is_uuid(entry) || (entry[0] >= '0' && entry[0] <= '9'));
    if (visible->count == 0)
        visible_fail(visible, CUDA_ERROR_NO_DEVICE, VISIBLE_NOTHING, entry, length);
    else
        visible_note(visible, is_other_kind ? VISIBLE_OTHER_KIND : VISIBLE_ENDS, entry, length);
}

static enum visible_remark remark_of(int gpu)
{
    return gpu == NAMES_SEVERAL ? VISIBLE_AMBIGUOUS : gpu == NAMES_PART ? VISIBLE_PART : VISIBLE_UUID_UNKNOWN;
}

/* Adds the GPU of one entry. Returns whether the list goes on. */
static bool visible_add(struct visible *visible, const char *entry, size_t length, int gpu)
{
    if (gpu == NAMES_NOTHING)
        visible_end(visible, entry, length);
    else if (gpu < 0)
        visible_fail(visible, CUDA_ERROR_UNKNOWN, remark_of(gpu), entry, length);
    else if (visible_has(visible, gpu))
        visible_fail(visible, CUDA_ERROR_INVALID_DEVICE, VISIBLE_TWICE, entry, length);
    else if (visible->count < GPU_MAX)
        visible->gpus[visible->count++] = gpu;
    return gpu >= 0 && visible->code == CUDA_SUCCESS;
}

static void visible_read_list(const char *list, const char *const *uuids, int count, struct visible *visible)
{
    visible->is_by_uuid = cush_visible_is_uuid(list);
    if (list[0] == '\0')
        visible_end(visible, list, 0);
    for (const char *entry = list; *entry != '\0';) {
        size_t length = strcspn(entry, ",");
        const char *end = entry + length;
        int gpu =
            visible->is_by_uuid ? entry_by_uuid(entry, length, uuids, count) : entry_by_number(entry, count, &end);
        if (!visible_add(visible, entry, length, gpu))
            return;
        if (end + strspn(end, " \t\n\v\f\r") < entry + length)
            visible_note(visible, VISIBLE_TAIL, entry, length);
        entry += length + (entry[length] == ',');
    }
}

void cush_visible_read(const struct visible_variables *variables, const char *const *uuids, int count,
                       struct visible *out_visible)
{
    const char *order = variables->order;
    *out_visible = (struct visible){.code = CUDA_SUCCESS, .entry = ""};
    if (count == 0) { /* then even a wrong order is not seen */
        out_visible->code = CUDA_ERROR_NO_DEVICE;
        return;
    }
    if (variables->has_order && strcmp(order, "PCI_BUS_ID") != 0 && strcmp(order, "FASTEST_FIRST") != 0) {
        visible_fail(out_visible, CUDA_ERROR_INVALID_DEVICE, VISIBLE_BAD_ORDER, order, strlen(order));
    } else if (variables->is_too_long) {
        visible_fail(out_visible, CUDA_ERROR_UNKNOWN, VISIBLE_UUID_UNKNOWN, variables->list, 0);
    } else if (variables->has_list) {
        visible_read_list(variables->list, uuids, count, out_visible);
    } else {
        for (int i = 0; i < count; i++)
            out_visible->gpus[out_visible->count++] = i;
    }
}

void cush_visible_find(const char *root, int nodes, struct visible_shown *out_shown)
{
    enum { KNOWN_NODES = 16 }; /* cushim_system_get_info() looks for no more */
    const char *uuids[GPU_MAX];
    int count = cush_gpu_list_uuids(root, out_shown->uuids);
    if (count < 0 && nodes > 0 && nodes < KNOWN_NODES) {
        count = nodes;
        memset(out_shown->uuids, 0, sizeof out_shown->uuids);
    }
    for (int i = 0; i < count; i++)
        uuids[i] = out_shown->uuids[i];
    out_shown->count = count;
    cush_visible_get(&out_shown->variables);
    cush_visible_read(&out_shown->variables, uuids, count, &out_shown->visible);
}
