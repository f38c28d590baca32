/* SPDX-License-Identifier: MIT */
/* The sentences about CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER. */
#include <stdio.h>
#include <string.h>

#include "gpu_visible.h"

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
    else if (strncmp(word, "MIG-", 4) == 0)
        snprintf(text, size, "\"%s\" names a part of a GPU (MIG), and no GPU here has parts", name.text);
    else if (cush_visible_is_uuid(entry))
        snprintf(text, size, "no GPU here has the UUID \"%s\"", name.text);
    else if (cush_visible_is_uuid(word))
        snprintf(text, size, "white space precedes the UUID");
    else if (strncmp(word, "gpu-", 4) == 0 || (word[digits] != '\0' && strspn(word, "0123456789abcdefABCDEF-") > 8))
        snprintf(text, size, "\"%s\" does not begin with GPU- in capitals, as the UUID of a GPU does", name.text);
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
        snprintf(text, size, "%s hides every GPU from this program: %s.", cush_visible_list_name, why);
        return;
    case VISIBLE_TWICE:
        snprintf(text, size, "%s=%s names a GPU twice (\"%s\"), and CUDA does not start with such a list (error 101).",
                 cush_visible_list_name, list.text, entry.text);
        return;
    case VISIBLE_BAD_ORDER:
        snprintf(
            text, size,
            "%s=%s is neither PCI_BUS_ID nor FASTEST_FIRST, and CUDA does not start with another value (error 101).",
            cush_visible_order_name, entry.text);
        return;
    case VISIBLE_AMBIGUOUS:
        snprintf(text, size, "It is not known which GPUs CUDA shows: \"%s\" in %s is the beginning of several UUIDs.",
                 entry.text, cush_visible_list_name);
        return;
    case VISIBLE_PART:
        snprintf(text, size,
                 "It is not known which GPUs CUDA shows: \"%s\" in %s has only the beginning of the UUID of a GPU.",
                 entry.text, cush_visible_list_name);
        return;
    case VISIBLE_UUID_UNKNOWN:
        snprintf(text, size, "It is not known which GPUs CUDA shows: %s %s.", cush_visible_list_name,
                 variables->is_too_long ? "is longer than 4095 bytes"
                                        : "has a UUID, and that of a GPU is known only after its first use");
        return;
    }
    snprintf(text, size, "%s=%s shows %d of %d GPU%s: %s.", cush_visible_list_name, list.text, visible->count, count,
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
