/* SPDX-License-Identifier: MIT */
/* cushim_system_get_info(): the signs of a GPU on a machine, on machines built from a few files. POSIX only. */
#include "unit.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "directory.h"
#include "os.h"

static struct cushim_system query_system(void)
{
    struct cushim_system system;
    memset(&system, 255, sizeof system);
    cushim_system_get_info(directory_machine(), &system);
    return system;
}

static void assert_nothing(const struct cushim_system *system)
{
    assert_string_equal(system->kernel_module, "");
    assert_int_equal(system->control_node, CUSHIM_NODE_ABSENT);
    assert_int_equal(system->uvm_node, CUSHIM_NODE_ABSENT);
    assert_int_equal(system->gpu_node, CUSHIM_NODE_ABSENT);
    assert_int_equal(system->gpu_node_count, 0);
    assert_int_equal(system->wsl_node, CUSHIM_NODE_ABSENT);
    assert_false(system->has_gpu_on_bus);
    assert_false(system->is_container);
}

DIRECTORY_TEST(test_system_when_nothing_exists_then_empty)
{
    struct cushim_system system = query_system();
    assert_nothing(&system);
    memset(&system, 255, sizeof system);
    cushim_system_get_info("/no/such/root", &system);
    assert_nothing(&system);
}

DIRECTORY_TEST(test_system_when_arguments_are_odd_then_nothing_breaks)
{
    struct cushim_system system;
    static char deep[100000];
    memset(deep, 'x', sizeof deep - 1);
    cushim_system_get_info(NULL, NULL);
    cushim_system_get_info(deep, &system);
    assert_nothing(&system);
    cushim_system_get_info(NULL, &system); /* this machine, whatever it is */
    assert_in_range(system.gpu_node_count, 0, 16);
}

DIRECTORY_TEST(test_path_when_a_link_makes_it_too_long_then_nothing_is_written_past_its_end)
{
    char path[OS_PATH_SIZE];
    size_t size = strlen(directory_machine()) + sizeof "/link";
    directory_link("root/link", "/longer");
    memset(path, 'x', sizeof path);
    assert_false(cush_os_path_below(directory_machine(), "/link", path, size));
    assert_int_equal(path[size], 'x');
}

DIRECTORY_TEST(test_system_when_the_nodes_are_there_then_they_are_ready)
{
    directory_machine_file("dev/nvidiactl", "");
    directory_machine_file("dev/nvidia-uvm", "");
    directory_machine_file("dev/nvidia3", "");
    directory_machine_file("dev/nvidia15", "");
    directory_machine_file("dev/nvidia16", ""); /* more than it counts */
    directory_machine_file("dev/nvidia-modeset", "");
    struct cushim_system system = query_system();
    assert_int_equal(system.control_node, CUSHIM_NODE_READY);
    assert_int_equal(system.uvm_node, CUSHIM_NODE_READY);
    assert_int_equal(system.gpu_node, CUSHIM_NODE_READY);
    assert_int_equal(system.gpu_node_count, 2);
    assert_int_equal(system.wsl_node, CUSHIM_NODE_ABSENT);
}

DIRECTORY_TEST(test_system_when_on_wsl_then_reports_its_node)
{
    directory_machine_file("dev/dxg", "");
    struct cushim_system system = query_system();
    assert_int_equal(system.jetson_node, CUSHIM_NODE_ABSENT);
    assert_int_equal(system.wsl_node, CUSHIM_NODE_READY);
    assert_int_equal(system.gpu_node, CUSHIM_NODE_ABSENT);
}

DIRECTORY_TEST(test_system_when_on_jetson_then_reports_its_node)
{
    directory_machine_file("dev/nvmap", "");
    struct cushim_system system = query_system();
    assert_int_equal(system.jetson_node, CUSHIM_NODE_READY);
    assert_int_equal(system.control_node, CUSHIM_NODE_ABSENT);
}

DIRECTORY_TEST(test_kernel_module_when_it_tells_its_version_then_that_is_found)
{
    static const char *const texts[][2] = {
        {"NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Wed Jul  3\nGCC version:  gcc 12.2.0\n",
         "580.159.03"},
        {"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  550.163.01  Release Build\n", "550.163.01"},
        {"340.108", "340.108"},
        {"  390.157\n", "390.157"},
        {"", ""},
        {"no version at all", ""},
        {"1234 5678", ""},
        {"v580.1 580.1b", ""},
        {"1.11111111111111111111111111111111111111111111111", ""},
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        directory_machine_file("proc/driver/nvidia/version", texts[i][0]);
        assert_string_equal(query_system().kernel_module, texts[i][1]);
    }
}

DIRECTORY_TEST(test_kernel_module_when_only_sysfs_tells_then_that_is_found)
{
    directory_machine_file("sys/module/nvidia/version", "580.159.03\n");
    assert_string_equal(query_system().kernel_module, "580.159.03");
}

DIRECTORY_TEST(test_bus_when_a_display_device_is_nvidias_then_there_is_a_gpu)
{
    static const struct {
        const char *vendor, *class;
        bool is_gpu;
    } devices[] = {
        {"0x8086\n", "0x030000\n", false},                                   /* a display of another vendor */
        {"0x10de\n", "0x0c0330\n", false},                                   /* the USB controller of NVIDIA */
        {"0x10de\n", "0x040300\n", false},                                   /* the sound of NVIDIA */
        {"0x10de\n", "0x030000\n", true},  {"0x10de\n", "0x030200\n", true}, /* without a display */
    };
    for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
        directory_machine_file("sys/bus/pci/devices/0000:01:00.0/vendor", devices[i].vendor);
        directory_machine_file("sys/bus/pci/devices/0000:01:00.0/class", devices[i].class);
        assert_int_equal(query_system().has_gpu_on_bus, devices[i].is_gpu);
    }
    directory_machine_file("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n"); /* one of several */
    assert_true(query_system().has_gpu_on_bus);
}

DIRECTORY_TEST(test_system_when_files_are_links_then_they_are_followed_below_the_root)
{
    directory_machine_file("data/version", "580.159.03\n");
    directory_machine_file("data/gpu/vendor", "0x10de\n");
    directory_machine_file("data/gpu/class", "0x030200\n");
    directory_machine_file("data/node", "");
    directory_link("root/sys/module/nvidia/version", "/data/version");
    directory_link("root/sys/bus/pci/devices/0000:01:00.0", "../../../../../../../../../data/gpu");
    directory_link("root/dev/nvidia0", "/data/node");
    struct cushim_system system = query_system();
    assert_string_equal(system.kernel_module, "580.159.03");
    assert_true(system.has_gpu_on_bus);
    assert_int_equal(system.gpu_node, CUSHIM_NODE_READY);
}

DIRECTORY_TEST(test_system_when_links_lead_out_of_the_root_then_empty)
{
    const char *version = directory_write("host/version", "580.159.03\n", 11);
    directory_write("host/pci/0000:01:00.0/vendor", "0x10de\n", 7);
    directory_write("host/pci/0000:01:00.0/class", "0x030200\n", 9);
    directory_link("root/proc/driver/nvidia/version", version);
    directory_link("root/sys/module/nvidia/version", "../../../../host/version");
    directory_link("root/sys/bus/pci/devices", directory_path("host/pci"));
    directory_link("root/dev/nvidiactl", "/dev/null");
    directory_link("root/.dockerenv", version);
    struct cushim_system system = query_system();
    assert_nothing(&system);
}

DIRECTORY_TEST(test_system_when_fifos_are_there_then_they_are_not_read)
{
    static const char *const names[] = {"root/proc/driver/nvidia/version", "root/sys/module/nvidia/version",
                                        "root/.dockerenv", "root/proc/1/cgroup", "root/sys/bus/pci/devices"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        assert_int_equal(mkfifo(directory_path(names[i]), 0644), 0);
    struct cushim_system system = query_system();
    assert_nothing(&system);
}

DIRECTORY_TEST(test_container_when_a_mark_exists_then_detected)
{
    static const char *const marks[][2] = {
        {".dockerenv", ""},
        {"run/.containerenv", ""},
        {"run/systemd/container", "podman"},
        {"proc/1/cgroup", "12:devices:/docker/0123456789abcdef\n"},
        {"proc/1/cgroup", "0::/kubepods/besteffort/pod1\n"},
    };
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        assert_int_equal(directory_remove(state), 0);
        assert_int_equal(directory_create(state), 0);
        assert_false(query_system().is_container);
        directory_machine_file(marks[i][0], marks[i][1]);
        assert_true(query_system().is_container);
    }
    directory_machine_file("proc/1/cgroup", "0::/init.scope\n");
    assert_false(query_system().is_container);
}
