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

/* "%" stands for the version of the kernel module with dashes, 580-159-03. Windows has no known paths, because
 * nvcuda.dll is only in System32. */
static const char *const directories[] = {
#if !defined(_WIN32)
    /* The ordinary library directories, for two cases: the dynamic loader found the stub of a Toolkit instead, or the
     * search is below a root directory. */
    "/usr/lib/" MULTIARCH,
    "/lib/" MULTIARCH,
    "/usr/lib64",
    "/lib64",
    "/usr/lib",
    "/usr/local/lib",
    /* The alternatives of Debian, which may be half configured. Separate directories of Fedora and older Ubuntu. */
    "/usr/lib/" MULTIARCH "/nvidia/current",
    "/usr/lib/" MULTIARCH "/nvidia",
    "/usr/lib64/nvidia",
    "/usr/lib/nvidia",
    /* Windows Subsystem for Linux mounts the libraries of its host. */
    "/usr/lib/wsl/lib",
    /* NixOS. */
    "/run/opengl-driver/lib",
    /* Container toolkits: Kubernetes device plug-ins, Singularity and Apptainer, the driver container of the GPU
     * operator. */
    "/usr/local/nvidia/lib64",
    "/usr/local/nvidia/lib",
    "/.singularity.d/libs",
    "/run/nvidia/driver/usr/lib/" MULTIARCH,
    "/run/nvidia/driver/usr/lib64",
    /* Jetson. */
    "/usr/lib/" MULTIARCH "/tegra",
    /* The driver extension of Flatpak, inside the sandbox. */
    "/usr/lib/" MULTIARCH "/GL/nvidia-%/lib",
#endif
    NULL,
};

/* Writes the version of the kernel module with dashes, "580-159-03"; "" if the module is not loaded. */
static void candidates_read_version(const char *root, char *version, size_t size)
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
        candidates_read_version(root, version, sizeof version);
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
