/* SPDX-License-Identifier: MIT */
/* Evidence about the limits, the sandbox and the environment of this process, and about the device files. */
#include "doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machine.h"

bool evidence_container(const struct doctor *doctor)
{
    return doctor->system.is_container;
}

bool evidence_container_without_devices(const struct doctor *doctor)
{
    return doctor->system.is_container && doctor->system.gpu_node == CUSHIM_NODE_ABSENT;
}

bool evidence_service(const struct doctor *doctor)
{
    char text[1024];
    const char *end = evidence_read(doctor, "/proc/self/cgroup", text, sizeof text) ? strstr(text, ".service") : NULL;
    return end != NULL && !doctor->system.is_container && strstr(text, "user@") == NULL;
}

/* "23 22 0:6 / /dev rw,nosuid - devtmpfs udev rw": the last mount on a directory is the one that is seen. */
static void mount_read(const char *line, void *out_is_own)
{
    const char *kind = strstr(line, " /dev ") != NULL ? strstr(line, " - ") : NULL;
    if (kind != NULL)
        *(bool *)out_is_own = strncmp(kind, " - devtmpfs ", 12) != 0;
}

bool evidence_service_with_own_dev(const struct doctor *doctor)
{
    char whole[OS_PATH_SIZE];
    bool is_own = false;
    if (evidence_service(doctor) && cush_os_path_below(doctor->root, "/proc/self/mountinfo", whole, sizeof whole))
        cush_os_file_each_line(whole, mount_read, &is_own);
    return is_own;
}

bool evidence_wsl(const struct doctor *doctor)
{
    return doctor->is_wsl && doctor->system.wsl_node == CUSHIM_NODE_READY;
}

bool evidence_flatpak(const struct doctor *doctor)
{
    return doctor->is_flatpak;
}

bool evidence_selinux(const struct doctor *doctor)
{
    return evidence_contains(doctor, "/sys/fs/selinux/enforce", "1");
}

bool evidence_strict_overcommit(const struct doctor *doctor)
{
    char text[16];
    return evidence_read(doctor, "/proc/sys/vm/overcommit_memory", text, sizeof text) && text[0] == '2';
}

bool evidence_intercepted(const struct doctor *doctor)
{
    return doctor->trials->intercepted[0] != '\0';
}

bool evidence_memfd_refused(const struct doctor *doctor)
{
    return doctor->operation == NULL
           && (operations_find(&doctor->watch.operations, "memfd_create") != NULL
               || operations_find(&doctor->trials->operations, "memfd_create") != NULL);
}

const struct operation *candidate_find(const struct doctor *doctor)
{
    const struct operation *candidate = operations_last_candidate(&doctor->watch.operations);
    return candidate != NULL ? candidate : operations_last_candidate(&doctor->trials->operations);
}

bool evidence_candidate(const struct doctor *doctor)
{
    return doctor->operation == NULL && candidate_find(doctor) != NULL;
}

#if defined(_WIN32)
int open_files_count(void)
{
    return 0;
}

#    define NEVER(name)                                                                                                \
        bool evidence_##name(const struct doctor *doctor)                                                              \
        {                                                                                                              \
            return doctor == NULL;                                                                                     \
        }
NEVER(limit_of_files)
NEVER(limit_of_processor_time)
NEVER(limit_of_address_space)
NEVER(limit_of_data)
NEVER(node_denied_by_mode)
NEVER(node_on_nodev)
NEVER(node_not_a_device)
NEVER(node_broken_link)
NEVER(node_with_other_number)

bool wrong_node_find(const struct doctor *doctor, char *path, size_t path_size, char *text, size_t size)
{
    snprintf(path, path_size, "%s", "");
    snprintf(text, size, "%s", "");
    return doctor == NULL;
}

bool process_exists(const struct doctor *doctor, const char *name)
{
    (void)name;
    return doctor == NULL;
}
#else
#    include <dirent.h>
#    include <sys/resource.h>
#    include <sys/stat.h>
#    include <sys/statvfs.h>
#    if defined(__linux__)
#        include <sys/sysmacros.h>
#    endif
#    include <unistd.h>

int open_files_count(void)
{
    int count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (directory != NULL && readdir(directory) != NULL)
        count++;
    if (directory != NULL)
        closedir(directory);
    return count > 3 ? count - 3 : 0; /* ".", ".." and the directory itself */
}

/* A system call that a filter makes fail with EMFILE is not a limit. */
bool evidence_limit_of_files(const struct doctor *doctor)
{
    enum { MANY = 512 };
    struct rlimit limit;
    (void)doctor;
    return getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < (rlim_t)open_files_count() + MANY;
}

#    define IS_LIMITED(name, resource)                                                                                 \
        bool evidence_##name(const struct doctor *doctor)                                                              \
        {                                                                                                              \
            struct rlimit limit;                                                                                       \
            (void)doctor;                                                                                              \
            return getrlimit(resource, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;                                \
        }
IS_LIMITED(limit_of_address_space, RLIMIT_AS)
IS_LIMITED(limit_of_processor_time, RLIMIT_CPU)
IS_LIMITED(limit_of_data, RLIMIT_DATA)

bool process_exists(const struct doctor *doctor, const char *name)
{
    char whole[OS_PATH_SIZE], path[64], text[64];
    DIR *directory = cush_os_path_below(doctor->root, "/proc", whole, sizeof whole) ? opendir(whole) : NULL;
    bool found = false;
    for (const struct dirent *entry; directory != NULL && !found && (entry = readdir(directory)) != NULL;) {
        if (!pattern_matches("#", entry->d_name))
            continue;
        snprintf(path, sizeof path, "/proc/%.20s/comm", entry->d_name);
        found = evidence_read(doctor, path, text, sizeof text) && strncmp(text, name, strlen(name)) == 0;
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

/* ---- The device file of the operation ---- */

static bool node_status(const struct doctor *doctor, struct stat *out_status)
{
    char whole[OS_PATH_SIZE];
    return doctor->operation != NULL && cush_os_path_below(doctor->root, doctor->operation->path, whole, sizeof whole)
           && stat(whole, out_status) == 0;
}

static bool has_group(gid_t wanted)
{
    enum { MAX_GROUPS = 1024 };
    static gid_t groups[MAX_GROUPS];
    int count = getgroups(MAX_GROUPS, groups);
    bool found = getegid() == wanted;
    for (int i = 0; i < count; i++)
        found = found || groups[i] == wanted;
    return found;
}

/* Whether this process ignores permissions (CAP_DAC_OVERRIDE). */
static bool ignores_modes(void)
{
    enum { DAC_OVERRIDE = 1 };
    char set[32];
    return cush_os_thread_status("CapEff", set, sizeof set) ? (strtoull(set, NULL, 16) >> DAC_OVERRIDE & 1) != 0
                                                            : geteuid() == 0;
}

bool evidence_node_denied_by_mode(const struct doctor *doctor)
{
    enum { NOBODY = 65534 }; /* also an owner whom a user namespace does not map */
    char directory[OS_PATH_SIZE];
    struct stat status;
    if (!node_status(doctor, &status))
        return cush_os_path_below(doctor->root, "/dev", directory, sizeof directory) && access(directory, X_OK) != 0;
    if (ignores_modes() && status.st_uid != NOBODY)
        return false;
    unsigned shift = status.st_uid == geteuid() ? 6 : has_group(status.st_gid) ? 3 : 0;
    return (status.st_mode >> shift & 6) != 6;
}

bool evidence_node_on_nodev(const struct doctor *doctor)
{
#    if defined(ST_NODEV)
    char whole[OS_PATH_SIZE];
    struct statvfs system;
    return doctor->operation != NULL && cush_os_path_below(doctor->root, doctor->operation->path, whole, sizeof whole)
           && statvfs(whole, &system) == 0 && (system.f_flag & ST_NODEV) != 0;
#    else
    (void)doctor;
    return false;
#    endif
}

bool evidence_node_not_a_device(const struct doctor *doctor)
{
    struct stat status;
    return node_status(doctor, &status) && !S_ISCHR(status.st_mode);
}

/* Below a root, links are resolved otherwise. */
bool evidence_node_broken_link(const struct doctor *doctor)
{
    struct stat status;
    const char *path = doctor->operation != NULL ? doctor->operation->path : NULL;
    return path != NULL && doctor->root[0] == '\0' && !node_status(doctor, &status) && lstat(path, &status) == 0
           && S_ISLNK(status.st_mode);
}

/* The number under which /proc/devices lists the driver of a device file; 0 if it does not. */
static unsigned long registered_major(const struct doctor *doctor, const char *path)
{
    char text[4096], line_end[32];
    bool is_uvm = strcmp(path, "/dev/nvidia-uvm") == 0;
    snprintf(line_end, sizeof line_end, " %s\n", is_uvm ? "nvidia-uvm" : "nvidia");
    if (!evidence_read(doctor, "/proc/devices", text, sizeof text))
        return 0;
    const char *found = strstr(text, line_end);
    if (found == NULL && !is_uvm)
        found = strstr(text, " nvidia-frontend\n"); /* of drivers before 530 */
    while (found != NULL && found > text && found[-1] != '\n')
        found--;
    return found != NULL ? strtoul(found, NULL, 10) : 0;
}

/* Whether /proc/devices lists drivers, but none with this number. */
static bool is_unregistered(const struct doctor *doctor, unsigned number)
{
    char text[4096], line[32];
    if (!evidence_read(doctor, "/proc/devices", text, sizeof text) || strlen(text) + 1 == sizeof text)
        return false;
    text[strcspn(text, "B")] = '\0'; /* the block devices */
    snprintf(line, sizeof line, "\n%3u ", number);
    return strstr(text, "\n  1 ") != NULL && strstr(text, line) == NULL;
}

static unsigned expected_minor(const char *path)
{
    enum { CONTROL = 255 };
    if (strcmp(path, "/dev/nvidiactl") == 0)
        return CONTROL;
    return pattern_matches("/dev/nvidia#", path) ? (unsigned)atoi(path + strlen("/dev/nvidia")) : 0;
}

/* Whether a device file is not the one of NVIDIA's driver; if so, writes what it is. */
static bool node_is_wrong(const struct doctor *doctor, const char *path, char *text, size_t size)
{
    char whole[OS_PATH_SIZE];
    struct stat status;
    unsigned long wanted = registered_major(doctor, path);
    if (!cush_os_path_below(doctor->root, path, whole, sizeof whole) || stat(whole, &status) != 0)
        return false;
    unsigned own = (unsigned)major(status.st_rdev), own_minor = (unsigned)minor(status.st_rdev);
    if (!S_ISCHR(status.st_mode)) {
        snprintf(text, size, "it is not a device file");
        /* A tree need not have device files. After an operation, node_not_a_device is the cause. */
        return doctor->root[0] == '\0' && doctor->operation == NULL;
    }
    if (wanted == 0) {
        snprintf(text, size, "its number is %u:%u, and the kernel has no driver of that number", own, own_minor);
        return is_unregistered(doctor, own);
    }
    snprintf(text, size, "its number is %u:%u, and that of the driver is %lu:%u", own, own_minor, wanted,
             expected_minor(path));
    return wanted != own || own_minor != expected_minor(path);
}

bool evidence_node_with_other_number(const struct doctor *doctor)
{
    char text[96];
    return doctor->operation != NULL && node_is_wrong(doctor, doctor->operation->path, text, sizeof text);
}

bool wrong_node_find(const struct doctor *doctor, char *path, size_t path_size, char *text, size_t size)
{
    static const char *const others[] = {"/dev/nvidiactl", "/dev/nvidia-uvm"};
    if (doctor->operation != NULL) {
        snprintf(path, path_size, "%s", doctor->operation->path);
        return node_is_wrong(doctor, path, text, size);
    }
    for (int i = -2; i < MAX_BUS_GPUS; i++) {
        if (i < 0)
            snprintf(path, path_size, "%s", others[i + 2]);
        else
            snprintf(path, path_size, "/dev/nvidia%d", i);
        if (node_is_wrong(doctor, path, text, size))
            return true;
    }
    return false;
}
#endif

bool evidence_wrong_node(const struct doctor *doctor)
{
    char path[32], text[96];
    return doctor->operation == NULL && wrong_node_find(doctor, path, sizeof path, text, sizeof text);
}
