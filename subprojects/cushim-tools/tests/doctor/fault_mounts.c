/* SPDX-License-Identifier: MIT */
/* The faults that are files: mounts in a namespace of the command, and control groups. */
#define _GNU_SOURCE
#include "fault.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* ---- Mounts ---- */

static void unshare_mounts(const char *fault)
{
    static bool done;
    unsigned user = geteuid(), group = getegid();
    if (done)
        return;
    if (unshare(CLONE_NEWNS) != 0) {
        check(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0, "unshare", fault);
        (void)write_file("/proc/self/setgroups", "deny");
        check(write_file("/proc/self/uid_map", "0 %u 1", user) && write_file("/proc/self/gid_map", "0 %u 1", group),
              "uid_map", fault);
    }
    check(mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0, "mount", fault);
    done = true;
}

/* A /dev without the names that begin with `without`. */
static void mount_dev(const char *without, const char *fault)
{
    char from[512], to[512], target[512], place[] = "/tmp/fault-dev-XXXXXX";
    struct dirent *entry;
    unshare_mounts(fault);
    check(mkdtemp(place) != NULL && mount("none", place, "tmpfs", 0, "mode=755") == 0, "mount", fault);
    DIR *directory = opendir("/dev");
    check(directory != NULL, "/dev", fault);
    while ((entry = readdir(directory)) != NULL) {
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0
            || strncmp(entry->d_name, without, strlen(without)) == 0)
            continue;
        snprintf(from, sizeof from, "/dev/%.250s", entry->d_name);
        snprintf(to, sizeof to, "%s/%.250s", place, entry->d_name);
        ssize_t length;
        if (lstat(from, &status) != 0)
            continue;
        if (S_ISLNK(status.st_mode)) {
            if ((length = readlink(from, target, sizeof target - 1)) > 0) {
                target[length] = '\0';
                check(symlink(target, to) == 0, to, fault);
            }
            continue;
        }
        if (S_ISDIR(status.st_mode))
            mkdir(to, 0755);
        else
            close(open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
        mount(from, to, NULL, MS_BIND | MS_REC, NULL);
    }
    closedir(directory);
    check(mount(place, "/dev", NULL, MS_MOVE, NULL) == 0 && rmdir(place) == 0, "mount", fault);
}

static void mount_over(const char *path, const char *from, unsigned long flags, const char *fault)
{
    unshare_mounts(fault);
    check(mount(from, path, NULL, MS_BIND, NULL) == 0, path, fault);
    if (flags != 0)
        check(mount("none", path, NULL, MS_REMOUNT | MS_BIND | flags, NULL) == 0, path, fault);
}

void mount_proc(const char *options, const char *fault)
{
    unshare_mounts(fault);
    check(mount("proc", "/proc", "proc", 0, options) == 0, "/proc", fault);
}

static void mount_empty(const char *path, const char *fault)
{
    unshare_mounts(fault);
    check(mount("none", path, "tmpfs", 0, NULL) == 0, path, fault);
}

/* A copy of a device file with another owner and mode, or with another number. */
static void mount_node(const char *path, int mode, unsigned major_number, unsigned minor_bits, const char *fault)
{
    struct stat status;
    char copy[64];
    check(stat(path, &status) == 0, path, fault);
    unshare_mounts(fault);
    snprintf(copy, sizeof copy, "/tmp/fault-node-%d", (int)getpid());
    dev_t number =
        makedev(major_number != 0 ? major_number : major(status.st_rdev), minor(status.st_rdev) ^ minor_bits);
    check(mknod(copy, S_IFCHR | 0600, number) == 0, "mknod", fault);
    chmod(copy, (mode_t)mode);
    check(mount(copy, path, NULL, MS_BIND, NULL) == 0, path, fault);
    unlink(copy);
}

/* A file system without any room. */
static void mount_full(const char *path, const char *fault)
{
    static const char zeros[4096];
    char file[300];
    unshare_mounts(fault);
    check(mount("none", path, "tmpfs", 0, "size=64k,mode=1777") == 0, path, fault);
    snprintf(file, sizeof file, "%.250s/full", path);
    int full = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
    check(full >= 0, file, fault);
    while (write(full, zeros, sizeof zeros) > 0)
        continue;
    check(errno == ENOSPC, "write", fault);
    close(full);
}

/* ---- Control groups ---- */

/* A control group of its own for the command, with one setting. This process waits for the command and removes the
 * group. `places`: where groups with this controller can be, of version 1 and 2, and the file of the setting there. */
static void group_enter(const char *const places[][2], const char *value, const char *fault)
{
    char group[128] = "", path[192];
    errno = ENOENT;
    for (size_t i = 0; places[i][0] != NULL && group[0] == '\0'; i++) {
        snprintf(group, sizeof group, "%s/fault-%d", places[i][0], (int)getpid());
        snprintf(path, sizeof path, "%s/%s", group, places[i][1]);
        if (access(places[i][0], W_OK) == 0 && mkdir(group, 0755) == 0 && write_file(path, "%s", value))
            break;
        (void)rmdir(group);
        group[0] = '\0';
    }
    check(group[0] != '\0', "no control group", fault);
    pid_t child = fork();
    check(child >= 0, "fork", fault);
    if (child > 0) {
        int status = wait_for(child);
        for (int i = 0; i < 100 && rmdir(group) != 0; i++) /* a process that was killed leaves it a little later */
            usleep(10000);
        _exit(status);
    }
    snprintf(path, sizeof path, "%s/cgroup.procs", group);
    check(write_file(path, "%d", (int)getpid()), path, fault);
}

static void group_limit_memory(const char *mebibytes, const char *fault)
{
    static const char *const places[][2] = {
        {"/sys/fs/cgroup/memory", "memory.limit_in_bytes"}, {"/sys/fs/cgroup", "memory.max"}, {NULL, NULL}};
    char bytes[32];
    snprintf(bytes, sizeof bytes, "%llu", strtoull(mebibytes, NULL, 10) << 20);
    group_enter(places, bytes, fault);
}

static void group_limit_processes(const char *count, const char *fault)
{
    static const char *const places[][2] = {
        {"/sys/fs/cgroup/pids", "pids.max"}, {"/sys/fs/cgroup", "pids.max"}, {NULL, NULL}};
    group_enter(places, count, fault);
}

/* Version 2 needs a program for this. */
static void group_deny_devices(const char *devices, const char *fault)
{
    static const char *const places[][2] = {{"/sys/fs/cgroup/devices", "devices.deny"}, {NULL, NULL}};
    group_enter(places, devices, fault);
}

bool make_mount(const char *fault)
{
    const char *value;
    if ((value = value_of(fault, "dev-without")) != NULL)
        mount_dev(value, fault);
    else if ((value = value_of(fault, "null")) != NULL)
        mount_over(value, "/dev/null", 0, fault);
    else if ((value = value_of(fault, "file")) != NULL)
        mount_over(value, "/etc/passwd", 0, fault);
    else if ((value = value_of(fault, "nodev")) != NULL)
        mount_over(value, value, MS_NODEV, fault);
    else if ((value = value_of(fault, "proc")) != NULL)
        mount_proc(value, fault);
    else if ((value = value_of(fault, "noexec")) != NULL)
        mount_over(value, value, MS_NOEXEC, fault);
    else if ((value = value_of(fault, "read-only")) != NULL)
        mount_over(value, value, MS_RDONLY, fault);
    else if ((value = value_of(fault, "empty")) != NULL)
        mount_empty(value, fault);
    else if ((value = value_of(fault, "full")) != NULL)
        mount_full(value, fault);
    else if ((value = value_of(fault, "memory")) != NULL)
        group_limit_memory(value, fault);
    else if ((value = value_of(fault, "tasks")) != NULL)
        group_limit_processes(value, fault);
    else if ((value = value_of(fault, "device")) != NULL)
        group_deny_devices(value, fault);
    else if ((value = value_of(fault, "private")) != NULL)
        mount_node(value, 0600, 0, 0, fault);
    else if ((value = value_of(fault, "stale")) != NULL)
        mount_node(value, 0666, 250, 0, fault);
    else if ((value = value_of(fault, "minor")) != NULL)
        mount_node(value, 0666, 0, 1, fault);
    return value != NULL;
}
