/* SPDX-License-Identifier: MIT */
#include "candidates.h"

#include <string.h>

#include "os_file.h"
#include "os_library.h"
#include "system.h"

#if defined(__x86_64__)
#    define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#    define MULTIARCH "aarch64-linux-gnu"
#elif defined(__powerpc64__)
#    define MULTIARCH "powerpc64le-linux-gnu"
#elif defined(__i386__)
#    define MULTIARCH "i386-linux-gnu"
#elif defined(__arm__)
#    define MULTIARCH "arm-linux-gnueabihf"
#else
#    define MULTIARCH "lib"
#endif

/* "%" stands for the kernel module's version with dashes, 580-159-03. Windows has none: nvcuda.dll is in System32 or
 * nowhere. */
static const char *const directories[] = {
#if !defined(_WIN32)
    /* The ordinary library directories: the system's search may have led to a Toolkit's stub, or this may be a root
     * directory. */
    "/usr/lib/" MULTIARCH,
    "/lib/" MULTIARCH,
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/usr/local/lib",
    /* Debian's alternatives, which may be half-configured; Fedora's and older Ubuntu's directories of their own. */
    "/usr/lib/" MULTIARCH "/nvidia/current",
    "/usr/lib/" MULTIARCH "/nvidia",
    "/usr/lib64/nvidia",
    "/usr/lib/nvidia",
    /* Windows Subsystem for Linux mounts its host's. */
    "/usr/lib/wsl/lib",
    /* NixOS. */
    "/run/opengl-driver/lib",
    /* Container toolkits: Kubernetes device plug-ins, Singularity and Apptainer, the GPU operator's driver container.
     */
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/.singularity.d/libs",
    "/run/nvidia/driver/usr/lib/" MULTIARCH,
    "/run/nvidia/driver/usr/lib64",
    /* Jetson. */
    "/usr/lib/" MULTIARCH "/tegra",
    /* Flatpak's driver extension, inside the sandbox. */
    "/usr/lib/" MULTIARCH "/GL/nvidia-%/lib",
#endif
    NULL,
};

/* Text that is put together piece by piece; without snprintf, since a load that finds nothing makes many of them. */
struct text {
    char *end;
    size_t room;
};

static void text_append(struct text *text, const char *piece, size_t length)
{
    if (length > text->room - 1)
        length = text->room - 1;
    memcpy(text->end, piece, length);
    text->end += length;
    text->room -= length;
    *text->end = '\0';
}

/* "580.159.03" as "580-159-03"; false if there is no such kernel module. */
static bool text_append_kernel_module(struct text *text, const char *root)
{
    char version[32];
    cush_system_kernel_module(root, version, sizeof version);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
    text_append(text, version, strlen(version));
    return version[0] != '\0';
}

bool cush_candidates_path(size_t index, const char *root, char *path, size_t size)
{
    if (index >= sizeof directories / sizeof directories[0] || directories[index] == NULL)
        return false;
    const char *directory = directories[index];
    const char *mark = strchr(directory, '%');
    struct text text = {path, size};
    text_append(&text, root, strlen(root));
    if (mark != NULL) {
        /* Asked only where the directory of all versions is: the file in which the kernel tells is slow to open. */
        const char *parent_end = mark;
        while (*parent_end != '/')
            parent_end--;
        text_append(&text, directory, (size_t)(parent_end - directory));
        char parent[OS_PATH_SIZE];
        bool there = cush_os_path_below(root, path + strlen(root), parent, sizeof parent)
                     && cush_os_file_state(parent, false) != OS_FILE_ABSENT;
        text_append(&text, parent_end, (size_t)(mark - parent_end));
        if (!there || !text_append_kernel_module(&text, root)) {
            path[0] = '\0';
            return true;
        }
        directory = mark + 1;
    }
    text_append(&text, directory, strlen(directory));
    text_append(&text, "/", 1);
    text_append(&text, cush_os_library_driver_name, strlen(cush_os_library_driver_name));
    return true;
}
