/* SPDX-License-Identifier: MIT */
/* The rules are those of driver 580, as observed on one and on two GPUs: tests/devices/settings.inc. */
#include "gpu_visible.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os.h"

static const char visible_list_name[] = "CUDA_VISIBLE_DEVICES";
static const char visible_order_name[] = "CUDA_DEVICE_ORDER";

enum { NAMES_NOTHING = -1, NAMES_SEVERAL = -2, NAMES_UNKNOWN = -3, NAMES_PART = -4, UUID_PREFIX = 4 };

void cush_visible_get(struct visible_variables *out_variables)
{
    int length = cush_os_environment_copy(visible_list_name, out_variables->list, sizeof out_variables->list);
    out_variables->has_list = length >= 0;
    out_variables->is_too_long = length >= (int)sizeof out_variables->list;
    length = cush_os_environment_copy(visible_order_name, out_variables->order, sizeof out_variables->order);
    out_variables->has_order = length >= 0;
}

/* ---- One entry ---- */

static bool entry_is_part(const char *entry)
{
    return strncmp(entry, "MIG-", UUID_PREFIX) == 0;
}

static bool entry_is_uuid(const char *entry)
{
    return strncmp(entry, "GPU-", UUID_PREFIX) == 0 || entry_is_part(entry);
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

static char to_lower(char letter)
{
    return letter >= 'A' && letter <= 'Z' ? (char)(letter - 'A' + 'a') : letter;
}

/* Whether the entry is the beginning of a UUID, with one digit at least. Digits can be of any case. Hyphens are ignored
 * wherever they are, and so is what follows a whole UUID. */
static bool entry_begins_uuid(const char *entry, size_t length, const char *uuid, bool *out_is_whole)
{
    const char *digit = entry + UUID_PREFIX, *end = entry + length;
    bool has_digit = false;
    *out_is_whole = false;
    for (const char *own = uuid + UUID_PREFIX; *own != '\0'; own++) {
        if (*own == '-')
            continue;
        while (digit < end && *digit == '-')
            digit++;
        if (digit >= end)
            return has_digit;
        if (to_lower(*digit++) != to_lower(*own))
            return false;
        has_digit = true;
    }
    *out_is_whole = true;
    return true;
}

/* "MIG-" in front of the whole UUID of a GPU names that GPU. What it names in front of a beginning was not observed. */
static int entry_by_uuid(const char *entry, size_t length, const char *const *uuids, int count)
{
    int found = NAMES_NOTHING;
    bool has_unknown = count < 0;
    if (!entry_is_uuid(entry) || strspn(entry + UUID_PREFIX, "-") + UUID_PREFIX >= length)
        return NAMES_NOTHING;
    for (int i = 0; i < count; i++) {
        bool is_whole = false;
        has_unknown |= uuids[i][0] == '\0';
        if (uuids[i][0] == '\0' || !entry_begins_uuid(entry, length, uuids[i], &is_whole))
            continue;
        if (is_whole)
            return i;
        found = entry_is_part(entry) ? NAMES_PART : found == NAMES_NOTHING ? i : NAMES_SEVERAL;
    }
    return has_unknown ? NAMES_UNKNOWN : found;
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
    bool is_other_kind = entry_is_uuid(entry) != visible->is_by_uuid && length > 0
                         && (entry_is_uuid(entry) || (entry[0] >= '0' && entry[0] <= '9'));
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
    visible->is_by_uuid = entry_is_uuid(list);
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

/* ---- Sentences ---- */

/* The value in a sentence; a long one is shortened. */
struct visible_text {
    char text[72];
};

static struct visible_text text_of(const char *value, size_t length)
{
    enum { MOST = 64 };
    struct visible_text result;
    snprintf(result.text, sizeof result.text, "%.*s%s", length > MOST ? MOST : (int)length, value,
             length > MOST ? "..." : "");
    return result;
}

/* Writes why the first entry names no GPU. */
static void explain_nothing(const char *list, const char *entry, size_t length, int count, char *text, size_t size)
{
    struct visible_text name = text_of(entry, length);
    const char *word = name.text + strspn(name.text, " \t\n\v\f\r");
    size_t digits = strspn(word, "0123456789");
    if (list[0] == '\0')
        snprintf(text, size, "it is empty");
    else if (length == 0)
        snprintf(text, size, "its first entry is empty");
    else if (strpbrk(name.text, "\"'") != NULL)
        snprintf(text, size, "quotation marks belong to its value, and no GPU has such a name");
    else if (entry_is_part(word))
        snprintf(text, size, "\"%s\" names a part of a GPU (MIG), and no GPU here has parts", name.text);
    else if (entry_is_uuid(entry))
        snprintf(text, size, "no GPU here has the UUID \"%s\"", name.text);
    else if (entry_is_uuid(word))
        snprintf(text, size, "white space precedes the UUID");
    else if (strncmp(word, "gpu-", 4) == 0 || (word[digits] != '\0' && strspn(word, "0123456789abcdefABCDEF-") > 8))
        snprintf(text, size, "the name of a GPU begins with GPU- in capitals");
    else if (digits > 0 && count > 0)
        snprintf(text, size, "it names GPU %.*s, but this process can use %d GPU%s, and the first one is GPU 0",
                 (int)digits, word, count, count == 1 ? "" : "s");
    else
        snprintf(text, size, "\"%s\" is neither the number nor the UUID of a GPU", name.text);
}

void cush_visible_explain(const struct visible_variables *variables, const struct visible *visible, int count,
                          char *text, size_t size)
{
    struct visible_text list = text_of(variables->list, strlen(variables->list));
    struct visible_text entry = text_of(visible->entry, visible->length);
    char why[160] = "";
    text[0] = '\0';
    switch (visible->remark) {
    case VISIBLE_FINE:
        return;
    case VISIBLE_TAIL:
        snprintf(why, sizeof why, "what follows a number is ignored");
        break;
    case VISIBLE_ENDS:
        if (visible->length == 0)
            snprintf(why, sizeof why, "the list ends at an empty entry");
        else
            snprintf(why, sizeof why, "the list ends before \"%s\", which names no GPU", entry.text);
        break;
    case VISIBLE_OTHER_KIND:
        snprintf(why, sizeof why, "the list ends before \"%s\", because its first entry is a %s", entry.text,
                 visible->is_by_uuid ? "UUID" : "number");
        break;
    case VISIBLE_NOTHING:
        explain_nothing(variables->list, visible->entry, visible->length, count, why, sizeof why);
        snprintf(text, size, "%s hides every GPU from this program: %s.", visible_list_name, why);
        return;
    case VISIBLE_TWICE:
        snprintf(text, size, "%s=%s names a GPU twice (\"%s\"), and CUDA does not start with such a list (error 101).",
                 visible_list_name, list.text, entry.text);
        return;
    case VISIBLE_BAD_ORDER:
        snprintf(
            text, size,
            "%s=%s is neither PCI_BUS_ID nor FASTEST_FIRST, and CUDA does not start with another value (error 101).",
            visible_order_name, entry.text);
        return;
    case VISIBLE_AMBIGUOUS:
        snprintf(text, size, "It is not known which GPUs CUDA shows: \"%s\" in %s is the beginning of several UUIDs.",
                 entry.text, visible_list_name);
        return;
    case VISIBLE_PART:
        snprintf(text, size,
                 "It is not known which GPUs CUDA shows: \"%s\" in %s has only the beginning of the UUID of a GPU.",
                 entry.text, visible_list_name);
        return;
    case VISIBLE_UUID_UNKNOWN:
        snprintf(text, size, "It is not known which GPUs CUDA shows: %s %s.", visible_list_name,
                 variables->is_too_long ? "is longer than 4095 bytes"
                                        : "has a UUID, and that of a GPU is known only after its first use");
        return;
    }
    snprintf(text, size, "%s=%s shows %d of %d GPU%s: %s.", visible_list_name, list.text, visible->count, count,
             count == 1 ? "" : "s", why);
}

const char *cush_visible_advice(enum visible_remark remark)
{
    switch (remark) {
    case VISIBLE_FINE:
        return "";
    case VISIBLE_TAIL:
        return "Separate the numbers of the GPUs by commas, such as 0,1.";
    case VISIBLE_BAD_ORDER:
        return "Unset CUDA_DEVICE_ORDER, or set it to PCI_BUS_ID.";
    case VISIBLE_AMBIGUOUS:
        return "Write more digits of the UUID.";
    case VISIBLE_PART:
        return "Name a GPU by GPU- and its UUID.";
    case VISIBLE_UUID_UNKNOWN:
        return "Name the GPUs by their numbers, or start CUDA once (\"cushim probe --devices\").";
    case VISIBLE_TWICE:
        return "Name each GPU once in CUDA_VISIBLE_DEVICES.";
    default:
        return cushim_reason_advice(CUSHIM_REASON_HIDDEN);
    }
}
