/* SPDX-License-Identifier: MIT */
#include "candidates.h"

#include <stdio.h>
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

/* "580.159.03" as "580-159-03"; empty if there is no such kernel module. */
static void read_dashed_version(const char *root, char *version, size_t size)
{
    cush_system_kernel_module(root, version, size);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
}

bool cush_candidates_path(size_t index, const char *root, char *path, size_t size)
{
    if (index >= sizeof directories / sizeof directories[0] || directories[index] == NULL)
        return false;
    const char *directory = directories[index];
    const char *mark = strchr(directory, '%');
    char version[32] = "";
    if (mark != NULL) {
        read_dashed_version(root, version, sizeof version);
        if (version[0] == '\0') {
            path[0] = '\0';
            return true;
        }
    }
    int before = mark != NULL ? (int)(mark - directory) : 0;
    snprintf(path, size, "%s%.*s%s%s/%s", root, before, directory, version, mark != NULL ? mark + 1 : directory,
             cush_os_library_driver_name);
    return true;
}
