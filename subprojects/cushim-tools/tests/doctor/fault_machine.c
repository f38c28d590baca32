/* SPDX-License-Identifier: MIT */
/*
 * The fault "machine": one that seems to have a GPU with driver 550.163.01. The kernel module, the GPU on the PCI bus
 * and the device files are mounted in a namespace of the command. The device files are those of /dev/random.
 */
#define _GNU_SOURCE
#include "fault.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { NO_MACHINE = 77 };

static char place[] = "/tmp/fault-machine-XXXXXX";

static bool leave_place(void)
{
    return umount2(place, MNT_DETACH) == 0 && rmdir(place) == 0;
}

/* What a test cannot ask of each system that runs it. */
static void need(bool holds, const char *lacking)
{
    if (holds)
        return;
    printf("skipped: %s\n", lacking);
    fflush(stdout);
    leave_place();
    _exit(NO_MACHINE);
}

void make_machine(const char *fault)
{
    static const char *const directories[] = {
        "module", "module/nvidia", "module/nvidia_uvm", "devices", "devices/0000:00:06.0", "dev", "dev/pts", "dev/shm"};
    static const char *const files[][2] = {
        {"module/nvidia/version", "550.163.01\n"},
        {"devices/0000:00:06.0/vendor", "0x10de\n"},
        {"devices/0000:00:06.0/class", "0x030200\n"},
        {"devices/0000:00:06.0/device", "0x2335\n"},
        {"list", "0030\t10de2335\t0\n"},
    };
    static const struct {
        const char *name;
        unsigned major_number, minor_number;
    } nodes[] = {{"nvidiactl", 1, 8}, {"nvidia0", 1, 8}, {"nvidia-uvm", 1, 8}, {"null", 1, 3}, {"zero", 1, 5},
                 {"full", 1, 7},      {"random", 1, 8},  {"urandom", 1, 9},    {"tty", 5, 0}};
    static const struct {
        const char *from, *to, *lacking;
        bool may_lack;
    } mounts[] = {{"module", "/sys/module", "nothing can be mounted at /sys/module", false},
                  {"devices", "/sys/bus/pci/devices", "nothing can be mounted at /sys/bus/pci/devices", false},
                  {"list", "/proc/bus/pci/devices", "nothing can be mounted at /proc/bus/pci/devices", true},
                  {"dev", "/dev", "nothing can be mounted at /dev", false}};
    int from = open(".", O_PATH | O_CLOEXEC);
    need(geteuid() == 0, "device files can be made by root only");
    need(unshare(CLONE_NEWNS) == 0 && mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0,
         "no mount namespace can be made here");
    check(from >= 0 && mkdtemp(place) != NULL, place, fault);
    if (mount("machine", place, "tmpfs", 0, "mode=755") != 0) {
        rmdir(place);
        need(false, "no file system can be mounted here");
    }
    check(chdir(place) == 0, place, fault);
    umask(0);
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++)
        check(mkdir(directories[i], 0755) == 0, directories[i], fault);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        int file = open(files[i][0], O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        ssize_t length = (ssize_t)strlen(files[i][1]);
        check(file >= 0 && write(file, files[i][1], (size_t)length) == length && close(file) == 0, files[i][0], fault);
    }
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        char path[32];
        snprintf(path, sizeof path, "dev/%s", nodes[i].name);
        need(mknod(path, S_IFCHR | 0666, makedev(nodes[i].major_number, nodes[i].minor_number)) == 0,
             "no device file can be made here");
    }
    int node = open("dev/nvidiactl", O_RDONLY | O_CLOEXEC);
    need(node >= 0, "device files cannot be opened here");
    close(node);
    check(symlink("/proc/self/fd", "dev/fd") == 0, "dev/fd", fault);
    check(mount("machine", "dev/shm", "tmpfs", 0, "mode=1777") == 0, "dev/shm", fault);
    for (size_t i = 0; i < sizeof mounts / sizeof mounts[0]; i++) {
        if (!mounts[i].may_lack || access(mounts[i].to, F_OK) == 0)
            need(mount(mounts[i].from, mounts[i].to, NULL, MS_BIND | MS_REC, NULL) == 0, mounts[i].lacking);
    }
    umask(022);
    check(fchdir(from) == 0 && leave_place(), place, fault);
    close(from);
}
