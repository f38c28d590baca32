/* SPDX-License-Identifier: MIT */
#include "exports.h"

#include <stdint.h>
#include <string.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* A mapped DLL. Offsets are relative to the base, and nothing beyond `size` is read. */
struct image {
    const unsigned char *base;
    size_t size;
};

/* Returns `count` items of `size` bytes at an offset, or NULL if they are not within the image. */
static const void *image_at(const struct image *image, size_t offset, size_t count, size_t size)
{
    return offset <= image->size && count <= (image->size - offset) / size ? image->base + offset : NULL;
}

/* The headers come first, in at least one page, and contain the size of the image. */
static const IMAGE_DATA_DIRECTORY *image_find_directory(struct image *image)
{
    image->size = 4096;
    const IMAGE_DOS_HEADER *dos = image_at(image, 0, 1, sizeof *dos);
    if (dos->e_magic != IMAGE_DOS_SIGNATURE || dos->e_lfanew < 0)
        return NULL;
    const IMAGE_NT_HEADERS *headers = image_at(image, (size_t)dos->e_lfanew, 1, sizeof *headers);
    if (headers == NULL || headers->Signature != IMAGE_NT_SIGNATURE
        || headers->OptionalHeader.Magic != IMAGE_NT_OPTIONAL_HDR_MAGIC
        || headers->OptionalHeader.NumberOfRvaAndSizes <= IMAGE_DIRECTORY_ENTRY_EXPORT)
        return NULL;
    image->size = headers->OptionalHeader.SizeOfImage;
    return &headers->OptionalHeader.DataDirectory[IMAGE_DIRECTORY_ENTRY_EXPORT];
}

/* Returns the name at an offset if it ends within the image, else NULL. */
static const char *image_read_name(const struct image *image, size_t offset)
{
    const char *name = image_at(image, offset, 1, 1);
    return name != NULL && memchr(name, '\0', image->size - offset) != NULL ? name : NULL;
}

const char *cush_exports_name(const void *module, cushim_fn address)
{
    struct image image = {module, 0};
    const IMAGE_DATA_DIRECTORY *where = image_find_directory(&image);
    const IMAGE_EXPORT_DIRECTORY *list =
        where != NULL ? image_at(&image, where->VirtualAddress, 1, sizeof *list) : NULL;
    if (list == NULL || where->VirtualAddress == 0)
        return NULL;
    const DWORD *functions = image_at(&image, list->AddressOfFunctions, list->NumberOfFunctions, sizeof *functions);
    const DWORD *names = image_at(&image, list->AddressOfNames, list->NumberOfNames, sizeof *names);
    const WORD *numbers = image_at(&image, list->AddressOfNameOrdinals, list->NumberOfNames, sizeof *numbers);
    if (functions == NULL || names == NULL || numbers == NULL)
        return NULL;
    uintptr_t offset = (uintptr_t)address - (uintptr_t)image.base;
    for (DWORD i = 0; i < list->NumberOfNames; i++) {
        /* An export that forwards to another library points into the export directory, where no code is. */
        if (numbers[i] < list->NumberOfFunctions && functions[numbers[i]] == offset)
            return image_read_name(&image, names[i]);
    }
    return NULL;
}
