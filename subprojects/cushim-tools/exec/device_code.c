/* SPDX-License-Identifier: MIT */
/* What the device code is for that a program loads. A file can have several fat binaries, so only the load tells. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "exec.h"

#include <elf.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cushim/layer.h"

enum { PTX = 1, CUBIN = 2, ACCELERATED = 0x100000, FAMILY = 0x200000 };
static const char fatbin_magic[] = "\x50\xed\x55\xba", wrapper_magic[] = "\xb1\x43\x62\x46";

/* __cudaFatFormat; the container; and its entries. */
struct wrapper {
    uint32_t magic, version;
    const void *data, *more;
};
struct fatbin {
    uint32_t magic;
    uint16_t version, header_size;
    uint64_t size;
};
struct entry {
    uint16_t kind, version;
    uint32_t header_size;
    uint64_t size;
    uint32_t compressed_size, options;
    uint16_t minor, major;
    uint32_t architecture, name, name_size;
    uint64_t flags;
};

struct codes {
    char text[400];
    size_t length;
};

/* Code that occurs several times is named once. */
static void codes_add(struct codes *codes, bool is_ptx, const struct entry *entry)
{
    char name[48], version[24] = "";
    const char *suffix = (entry->flags & ACCELERATED) != 0 ? "a" : (entry->flags & FAMILY) != 0 ? "f" : "";
    if (is_ptx)
        snprintf(version, sizeof version, "PTX %u.%u of ", entry->major, entry->minor);
    snprintf(name, sizeof name, "%s%u.%u%s", version, entry->architecture / 10, entry->architecture % 10, suffix);
    const char *found = strstr(codes->text, name);
    if ((found != NULL && strchr(",", found[strlen(name)]) != NULL)
        || codes->length + strlen(name) + 3 > sizeof codes->text)
        return;
    codes->length += (size_t)snprintf(codes->text + codes->length, sizeof codes->text - codes->length, "%s%s",
                                      codes->length > 0 ? ", " : "", name);
}

static void codes_add_fatbin(struct codes *codes, const char *image)
{
    struct fatbin fatbin;
    struct entry entry;
    memcpy(&fatbin, image, sizeof fatbin);
    for (uint64_t at = 0; at + sizeof entry <= fatbin.size; at += entry.header_size + entry.size) {
        memcpy(&entry, image + fatbin.header_size + at, sizeof entry);
        if (entry.header_size < sizeof entry || entry.size > fatbin.size - at)
            return;
        if (entry.kind == PTX || entry.kind == CUBIN)
            codes_add(codes, entry.kind == PTX, &entry);
    }
}

/* Before version 8 of the ABI, the architecture is elsewhere. */
static void codes_add_cubin(struct codes *codes, const char *image)
{
    Elf64_Ehdr header;
    memcpy(&header, image, sizeof header);
    uint32_t flags = header.e_flags;
    codes_add(codes, false,
              &(struct entry){.architecture = header.e_ident[EI_ABIVERSION] < 8 ? flags & 0xff : flags >> 8 & 0xff});
}

static void codes_add_ptx(struct codes *codes, const char *image)
{
    struct entry entry = {.kind = PTX};
    const char *version = strstr(image, ".version"), *target = strstr(image, ".target");
    if (version != NULL && target != NULL && sscanf(version, ".version %hu.%hu", &entry.major, &entry.minor) == 2
        && sscanf(target, ".target sm_%u", &entry.architecture) == 1)
        codes_add(codes, true, &entry);
}

/* Reads no further than to the first difference. */
static bool begins_with(const char *bytes, const char *magic)
{
    size_t i = 0;
    while (i < 4 && bytes[i] == magic[i])
        i++;
    return i == 4;
}

/* The driver reads the same bytes. */
static void note(const void *image, const void *handle)
{
    struct codes codes = {.length = 0};
    struct wrapper wrapper = {.data = image};
    char addresses[48];
    if (image != NULL && begins_with(image, wrapper_magic))
        memcpy(&wrapper, image, sizeof wrapper);
    const char *bytes = wrapper.data;
    if (bytes == NULL)
        return;
    if (begins_with(bytes, fatbin_magic))
        codes_add_fatbin(&codes, bytes);
    else if (begins_with(bytes, ELFMAG))
        codes_add_cubin(&codes, bytes);
    else if (bytes[0] != '\0' && strchr("./ \t\r\n", bytes[0]) != NULL)
        codes_add_ptx(&codes, bytes);
    snprintf(addresses, sizeof addresses, "%llx %llx", (unsigned long long)(uintptr_t)image,
             (unsigned long long)(uintptr_t)handle);
    exec_note(getpid(), EXEC_NOTE_CODE, addresses, codes.text);
}

/* Below the other layers, for both default streams. */
static struct cushim_layer device_code_layer;
static const struct cushim_dispatch_table *next_table(void)
{
    return cushim_layer_next(&device_code_layer, CUSHIM_DEFAULT_STREAM_LEGACY);
}

static CUresult CUDAAPI exec_ModuleLoadData_v1(CUmodule *module, const void *image)
{
    CUresult result = next_table()->ModuleLoadData_v1(module, image);
    note(image, result == CUDA_SUCCESS ? *module : NULL);
    return result;
}

static CUresult CUDAAPI exec_ModuleLoadDataEx_v1(CUmodule *module, const void *image, unsigned count,
                                                 CUjit_option *options, void **values)
{
    CUresult result = next_table()->ModuleLoadDataEx_v1(module, image, count, options, values);
    note(image, result == CUDA_SUCCESS ? *module : NULL);
    return result;
}

static CUresult CUDAAPI exec_ModuleLoadFatBinary_v1(CUmodule *module, const void *image)
{
    CUresult result = next_table()->ModuleLoadFatBinary_v1(module, image);
    note(image, result == CUDA_SUCCESS ? *module : NULL);
    return result;
}

static CUresult CUDAAPI exec_LibraryLoadData_v1(CUlibrary *library, const void *image, CUjit_option *options,
                                                void **values, unsigned count, CUlibraryOption *library_options,
                                                void **library_values, unsigned library_count)
{
    CUresult result = next_table()->LibraryLoadData_v1(library, image, options, values, count, library_options,
                                                       library_values, library_count);
    note(image, result == CUDA_SUCCESS ? *library : NULL);
    return result;
}

static CUresult replace_loads(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                              const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    table->ModuleLoadData_v1 = exec_ModuleLoadData_v1;
    table->ModuleLoadDataEx_v1 = exec_ModuleLoadDataEx_v1;
    table->ModuleLoadFatBinary_v1 = exec_ModuleLoadFatBinary_v1;
    table->LibraryLoadData_v1 = exec_LibraryLoadData_v1;
    return CUDA_SUCCESS;
}

static struct cushim_layer device_code_layer = CUSHIM_LAYER("device code", replace_loads, NULL);

CUresult exec_device_code_install(void)
{
    return exec_notes_are_taken() ? cushim_layer_add(&device_code_layer) : CUDA_SUCCESS;
}
