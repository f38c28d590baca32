/* SPDX-License-Identifier: MIT */
/* What is wrong with CUDA_VISIBLE_DEVICES. Its first entry decides: the list ends at an entry that names no GPU. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if !defined(_WIN32)
#    include <dirent.h>

#    include "machine.h"

/* Calls `found` with the description of each GPU in /proc/driver/nvidia/gpus. Returns their number. */
static int each_gpu(const struct doctor *doctor, bool (*found)(const char *information, const char *name),
                    const char *name, bool *out_found)
{
    static const char gpus[] = "/proc/driver/nvidia/gpus";
    char whole[OS_PATH_SIZE], path[128], text[1024];
    int count = 0;
    DIR *directory = cush_os_path_below(doctor->root, gpus, whole, sizeof whole) ? opendir(whole) : NULL;
    for (const struct dirent *entry; directory != NULL && (entry = readdir(directory)) != NULL;) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%.32s/information", gpus, entry->d_name);
        count++;
        *out_found = (evidence_read(doctor, path, text, sizeof text) && found(text, name)) || *out_found;
    }
    if (directory != NULL)
        closedir(directory);
    return count;
}
#else
static int each_gpu(const struct doctor *doctor, bool (*found)(const char *information, const char *name),
                    const char *name, bool *out_found)
{
    *out_found = doctor == NULL && found(name, name);
    return 0;
}
#endif

/* The beginning of a UUID is enough. */
static bool has_uuid(const char *information, const char *name)
{
    return strstr(information, name) != NULL;
}

static bool has_entry_twice(const char *visible)
{
    const char *rest = visible;
    char one[64], other[64];
    while (text_next_item(&rest, ",", one, sizeof one)) {
        const char *after = rest;
        while (after != NULL && text_next_item(&after, ",", other, sizeof other)) {
            if (strcmp(one, other) == 0)
                return true;
        }
    }
    return false;
}

/* Writes why the first entry names no GPU. Returns false if it names one. */
static bool explain_entry(const struct doctor *doctor, const char *entry, char *text, size_t size)
{
    bool found = false;
    int count = each_gpu(doctor, has_uuid, entry, &found);
    count = count > 0 ? count : doctor->system.gpu_node_count;
    size_t digits = strspn(entry, "0123456789");
    if (entry[0] == '\0')
        snprintf(text, size, "its first entry is empty");
    else if (strpbrk(entry, "\"'") != NULL)
        snprintf(text, size, "quotation marks belong to its value, and no GPU has such a name");
    else if (entry[0] == '-')
        snprintf(text, size, "\"%s\" does not name a GPU", entry);
    else if (strncmp(entry, "MIG-", 4) == 0)
        snprintf(text, size, "\"%s\" names a part of a GPU (MIG) that does not exist or is not available here", entry);
    else if (strncmp(entry, "GPU-", 4) == 0 && !found)
        snprintf(text, size, "no GPU of this machine has the UUID \"%s\"", entry);
    else if (digits > 0 && entry[digits] == '\0' && count > 0 && strtoull(entry, NULL, 10) >= (unsigned)count)
        snprintf(text, size, "it names GPU %s, but this machine has %d GPU%s, and the first one is GPU 0", entry, count,
                 count == 1 ? "" : "s");
    else if (strncmp(entry, "GPU-", 4) != 0 && entry[digits] != '\0')
        snprintf(text, size, "\"%s\" is neither a number nor the UUID of a GPU", entry);
    else
        return false;
    return true;
}

/* Writes what is wrong with the variable. Returns false if nothing is, or it is not set. */
bool visible_explain(const struct doctor *doctor, char *text, size_t size)
{
    const char *visible = getenv("CUDA_VISIBLE_DEVICES");
    char entry[64] = "";
    if (visible == NULL)
        return false;
    const char *rest = visible + strspn(visible, " ");
    (void)text_next_item(&rest, ",", entry, sizeof entry);
    if (explain_entry(doctor, entry, text, size))
        return true;
    if (doctor->start->code != CUDA_ERROR_INVALID_DEVICE || !has_entry_twice(visible))
        return false;
    snprintf(text, size, "it names a GPU twice");
    return true;
}

/* Without the variable, the driver starts. */
bool evidence_visible_devices(const struct doctor *doctor)
{
    char text[256];
    return strstr(doctor->variables, "CUDA_VISIBLE_DEVICES") != NULL && visible_explain(doctor, text, sizeof text);
}
