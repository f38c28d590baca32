/* SPDX-License-Identifier: MIT */
#include "candidates.h"

#include <stdio.h>
#include <string.h>

#include "os_library.h"

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
static const char *const folders[] = {
#if !defined(_WIN32)
    /* The ordinary library folders: the system's search may have led to a Toolkit's stub, or this may be a root
     * folder. */
    "/usr/lib/" MULTIARCH,
    "/lib/" MULTIARCH,
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/usr/local/lib",
    /* Debian's alternatives, which may be half-configured; Fedora's and older Ubuntu's folders of their own. */
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

bool candidates_path(size_t index, const char *root, const char *kernel_module, char *path, size_t size)
{
    if (index >= sizeof folders / sizeof folders[0] || folders[index] == NULL)
        return false;
    const char *folder = folders[index];
    const char *mark = strchr(folder, '%');
    path[0] = '\0';
    if (mark == NULL) {
        snprintf(path, size, "%s%s/%s", root, folder, os_library_driver_name);
    } else if (kernel_module[0] != '\0') {
        char version[32];
        snprintf(version, sizeof version, "%s", kernel_module);
        for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
            *dot = '-';
        snprintf(path, size, "%s%.*s%s%s/%s", root, (int)(mark - folder), folder, version, mark + 1,
                 os_library_driver_name);
    }
    return true;
}
