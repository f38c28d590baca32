/* SPDX-License-Identifier: MIT */
/* cushim_gpu_find() by files. POSIX only. */
#include "machine.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "child.h"

GPU_TEST(test_find_when_two_gpus_work_then_all_is_known_by_files)
{
    put_two();
    find();
    assert_shown(A, B);
    assert_string_equal(all.message, "");
    assert_string_equal(all.advice, "");
    assert_string_equal(gpus[1].name, "NVIDIA H200");
    assert_string_equal(gpus[1].pci_bus_id, "0000:00:07.0");
    assert_int_equal(gpus[1].capability, 9000);
    assert_int_equal(gpus[1].minor, 1);
    assert_int_equal(gpus[1].nvml_index, 1);
    assert_int_equal(gpus[1].mig, CUSHIM_GPU_MIG_NOT_KNOWN);
    assert_false(gpus[1].is_asleep);
}

GPU_TEST(test_find_when_the_variables_change_then_the_next_call_sees_it)
{
    put_two();
    unit_set_variable("CUDA_VISIBLE_DEVICES", "1");
    find();
    assert_shown(B, NULL);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_VARIABLE);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "1,0");
    find();
    assert_shown(B, A);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "0-1");
    find();
    assert_shown(A, NULL);
    assert_string_equal(all.message, "CUDA_VISIBLE_DEVICES=0-1 shows 1 of 2 GPUs: what follows a number is ignored.");
    unit_set_variable("CUDA_VISIBLE_DEVICES", "");
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "it is empty");
    unit_set_variable("CUDA_VISIBLE_DEVICES", "0,0");
    find();
    assert_none(CUDA_ERROR_INVALID_DEVICE, "names a GPU twice");
    unit_set_variable("CUDA_VISIBLE_DEVICES", NULL);
    unit_set_variable("CUDA_DEVICE_ORDER", "pci_bus_id");
    find();
    assert_none(CUDA_ERROR_INVALID_DEVICE, "CUDA_DEVICE_ORDER=pci_bus_id");
}

GPU_TEST(test_find_when_the_list_is_longer_than_4095_bytes_then_not_known)
{
    static char list[2 * VISIBLE_SIZE];
    memset(list, '0', sizeof list - 1);
    put_two();
    unit_set_variable("CUDA_VISIBLE_DEVICES", list);
    find();
    assert_not_known("4095 bytes");
    list[VISIBLE_SIZE - 1] = '\0';
    unit_set_variable("CUDA_VISIBLE_DEVICES", list);
    find();
    assert_shown(A, NULL);
}

GPU_TEST(test_find_when_the_array_is_small_then_filled_and_the_count_is_whole)
{
    struct cushim_gpu_options options = {.root = directory_machine(), .nvml = CUSHIM_GPU_NVML_NEVER};
    struct cushim_gpu one[2];
    put_two();
    memset(one, 255, sizeof one);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "1");
    assert_int_equal(cushim_gpu_find(&options, one, 1, &all), CUDA_SUCCESS);
    assert_int_equal(all.count, 2);
    assert_string_equal(one[0].uuid, A);
    assert_int_equal(one[1].ordinal, -1);
    assert_int_equal(one[1].uuid[0], (char)255);
    assert_int_equal(cushim_gpu_find(&options, NULL, 0, &all), CUDA_SUCCESS);
    assert_int_equal(all.visible_count, 1);
}

GPU_TEST(test_find_when_arguments_are_wrong_then_refused)
{
    struct cushim_gpu one;
    struct cushim_gpu_options wrong[] = {{.reserved = {NULL, &one}}, {.nvml = (enum cushim_gpu_nvml)3}};
    assert_int_equal(cushim_gpu_find(NULL, &one, 1, NULL), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_gpu_find(NULL, NULL, 1, &all), CUDA_ERROR_INVALID_VALUE);
    assert_int_equal(cushim_gpu_find(NULL, &one, -1, &all), CUDA_ERROR_INVALID_VALUE);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(cushim_gpu_find(&wrong[i], &one, 1, &all), CUDA_ERROR_INVALID_VALUE);
        assert_string_equal(cushim_error_last()->function, "cushim_gpu_find");
        assert_string_not_equal(cushim_error_last()->message, "");
    }
    assert_int_equal(cushim_gpu_find(NULL, &one, 1, &all), CUDA_SUCCESS); /* this machine, whatever it is */
}

/* A container can see every GPU in /proc. */
GPU_TEST(test_find_when_a_container_has_one_of_two_nodes_then_the_node_decides)
{
    put_gpu("0000:00:06.0", A, 0, (struct part){.lacks_node = true});
    put_gpu("0000:00:07.0", B, 1, USUAL);
    put("", "/.dockerenv");
    find();
    assert_shown(B, NULL);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_NODE);
    assert_int_equal(gpus[1].nvml_index, CUSHIM_GPU_NOT_KNOWN);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "0");
    find();
    assert_shown(B, NULL);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "1");
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "it names GPU 1, but this process can use 1 GPU,");
    unit_set_variable("CUDA_VISIBLE_DEVICES", A);
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "no GPU here has the UUID");
}

/* A container of NVIDIA's toolkit has its GPUs in /proc, and the whole bus. */
GPU_TEST(test_find_when_the_bus_has_more_than_the_kernel_lists_then_those_of_others_are_left_out)
{
    put_gpu("0000:00:06.0", A, 0, (struct part){.is_of_bus_only = true});
    put_gpu("0000:00:07.0", B, 1, USUAL);
    find();
    assert_shown(B, NULL);
    assert_int_equal(all.count, 1);
    put_gpu("0000:00:01.0", A, 0, (struct part){.is_of_bus_only = true, .kernel_driver = "vfio-pci"});
    put_gpu("0000:00:02.0", A, 0, (struct part){.is_of_bus_only = true, .kernel_driver = "-"});
    find();
    assert_shown(B, NULL);
    assert_int_equal(all.count, 3);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_DRIVER);
    assert_int_equal(gpus[1].hider, CUSHIM_GPU_HIDER_DRIVER);
}

GPU_TEST(test_find_when_no_node_exists_then_a_start_may_create_it_but_not_in_a_container)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.lacks_node = true});
    find();
    assert_not_known("may create it");
    assert_int_equal(gpus[0].ordinal, CUSHIM_GPU_NOT_KNOWN);
    put("", "/.dockerenv");
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "no NVIDIA device nodes");
}

static bool find_is_denied(void)
{
    struct cushim_gpu_options options = {.root = directory_machine(), .nvml = CUSHIM_GPU_NVML_NEVER};
    return cushim_gpu_find(&options, gpus, GPU_MAX, &all) == CUDA_SUCCESS && all.code == CUDA_ERROR_NO_DEVICE
           && gpus[0].hider == CUSHIM_GPU_HIDER_PERMISSION && strstr(all.message, "may not open") != NULL;
}

GPU_TEST(test_find_when_a_node_may_not_be_opened_then_hidden_by_permission)
{
    static const char *const nodes[] = {"root/dev/nvidia0", "root/dev/nvidiactl"};
    put_gpu("0000:01:00.0", A, 0, USUAL);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chmod(directory_path(nodes[i]), 0444), 0);
        assert_int_equal(chmod(directory_path(nodes[1 - i]), 0666), 0);
        if (!child_check(child_give_up_rights, find_is_denied))
            unit_skip("root may open everything, and cannot become another user here");
    }
}

/* In a private /dev, plain files can stand where nodes were. Below a root they stand for nodes: this needs devices. */
GPU_TEST(test_find_when_a_node_is_not_that_of_the_gpu_then_hidden_by_it)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.lacks_node = true});
    const char *path = directory_path("root/dev/nvidia0");
    static const struct {
        unsigned major, minor;
        enum cushim_gpu_hider hider;
    } nodes[] = {
        {195, 0, CUSHIM_GPU_HIDER_NONE}, {195, 1, CUSHIM_GPU_HIDER_WRONG_NODE}, {1, 3, CUSHIM_GPU_HIDER_WRONG_NODE}};
    for (size_t i = 0; i < sizeof nodes / sizeof nodes[0]; i++) {
        unlink(path);
        if (mknod(path, S_IFCHR | 0666, makedev(nodes[i].major, nodes[i].minor)) != 0) {
            unit_skip("this user may not create devices");
            return;
        }
        assert_int_equal(chmod(path, 0666), 0);
        find();
        assert_int_equal(gpus[0].hider, nodes[i].hider);
        assert_int_equal(all.code, i == 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE);
    }
    unit_assert_contains(all.message, "does not lead to NVIDIA's driver");
}

GPU_TEST(test_find_when_the_module_excludes_a_gpu_then_hidden)
{
    put_gpu("0000:00:06.0", A, 0, (struct part){.is_excluded = true});
    put_gpu("0000:00:07.0", B, 1, USUAL);
    find();
    assert_shown(B, NULL);
    assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_EXCLUSION);
}

GPU_TEST(test_find_when_nobody_has_used_a_gpu_then_its_uuid_is_not_known)
{
    put_gpu("0000:00:06.0", UNUSED_UUID, 0, USUAL);
    put_gpu("0000:00:07.0", UNUSED_UUID, 1, USUAL);
    find();
    assert_shown("", "");
    unit_set_variable("CUDA_VISIBLE_DEVICES", A);
    find();
    assert_not_known("known only after its first use");
    unit_set_variable("CUDA_VISIBLE_DEVICES", "1");
    find();
    assert_int_equal(gpus[1].ordinal, 0);
}

/* Reading its file in /proc would wake it. */
GPU_TEST(test_find_when_a_gpu_sleeps_then_its_file_is_not_read_unless_it_may_be_woken)
{
    put_gpu("0000:01:00.0", A, 0,
            (struct part){.device = "0x2520", .name = "NVIDIA GeForce RTX 3060 Laptop GPU", .is_asleep = true});
    find();
    assert_shown("", NULL);
    assert_true(gpus[0].is_asleep);
    assert_string_equal(gpus[0].name, "");
    assert_int_equal(gpus[0].capability, 8060);
    assert_int_equal(gpus[0].mig, CUSHIM_GPU_MIG_OFF);
    find_with((struct cushim_gpu_options){.nvml = CUSHIM_GPU_NVML_NEVER, .is_wake_allowed = true});
    assert_shown(A, NULL);
    unit_assert_contains(gpus[0].name, "3060");
    put_gpu("0000:02:00.0", B, 1, (struct part){.lacks_node = true});
    find();
    assert_not_known("asleep");
}

GPU_TEST(test_find_when_the_kernel_gives_the_gpu_to_another_driver_then_none)
{
    static const char *const drivers[][2] = {{"nouveau", "nouveau"}, {"vfio-pci", "vfio-pci"}};
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(gpu_end(state), 0);
        assert_int_equal(gpu_reset(state), 0);
        put_gpu("0000:01:00.0", A, 0, (struct part){.is_of_bus_only = true, .kernel_driver = drivers[i][0]});
        find();
        assert_none(CUDA_ERROR_NO_DEVICE, drivers[i][1]);
        assert_int_equal(gpus[0].hider, CUSHIM_GPU_HIDER_DRIVER);
        assert_int_equal(gpus[0].capability, 9000);
    }
}

GPU_TEST(test_find_when_no_module_is_loaded_then_a_start_may_load_it)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.is_of_bus_only = true, .kernel_driver = "-"});
    find();
    assert_not_known("may load it");
    unit_assert_contains(all.advice, "modprobe nvidia");
}

GPU_TEST(test_find_when_the_files_of_the_driver_are_hidden_then_not_known)
{
    put_gpu("0000:01:00.0", A, 0, (struct part){.is_of_bus_only = true});
    put("", "/sys/module/nvidia/x");
    find();
    assert_not_known("/proc/driver/nvidia/gpus");
}

GPU_TEST(test_find_when_the_bus_has_no_gpu_then_none)
{
    put("0x8086\n", BUS "/0000:00:00.0/vendor");
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "No NVIDIA GPU was found");
    assert_int_equal(all.count, 0);
}

GPU_TEST(test_find_when_nothing_can_be_seen_then_not_known)
{
    find();
    assert_not_known("neither the bus nor");
}

GPU_TEST(test_find_when_the_system_is_not_usual_then_not_known)
{
    static const char *const files[][2] = {{"/dev/dxg", "Windows Subsystem"},
                                           {"/dev/nvmap", "Jetson"},
                                           {"/etc/nv_tegra_release", "Jetson"},
                                           {"/tmp/nvidia-mps/control", "MPS"},
                                           {"/proc/driver/nvidia/capabilities/gpu0/mig/gi1/access", "MIG"}};
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        assert_int_equal(gpu_end(state), 0);
        assert_int_equal(gpu_reset(state), 0);
        put_two();
        find();
        assert_shown(A, B);
        put("", "%s", files[i][0]);
        find();
        assert_not_known(files[i][1]);
    }
    assert_int_equal(gpus[0].mig, CUSHIM_GPU_MIG_ON);
}

GPU_TEST(test_find_when_gpus_are_unlike_then_the_count_is_known_and_the_order_is_not)
{
    put_gpu("0000:00:06.0", A, 0, USUAL);
    put_gpu("0000:00:07.0", B, 1, (struct part){.device = "0x2520", .name = "NVIDIA RTX 3060"});
    find();
    assert_int_equal(all.code, CUDA_SUCCESS);
    assert_int_equal(all.visible_count, 2);
    assert_int_equal(gpus[0].ordinal, CUSHIM_GPU_NOT_KNOWN);
    unit_assert_contains(all.message, "unlike");
    unit_assert_contains(all.advice, "PCI_BUS_ID");
    unit_set_variable("CUDA_DEVICE_ORDER", "PCI_BUS_ID");
    find();
    assert_shown(A, B);
    unit_set_variable("CUDA_DEVICE_ORDER", NULL);
    unit_set_variable("CUDA_VISIBLE_DEVICES", B "," A);
    find();
    assert_shown(B, A);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "7");
    find();
    assert_none(CUDA_ERROR_NO_DEVICE, "GPU 7");
}

GPU_TEST(test_find_when_a_domain_has_five_digits_then_sorted_by_its_number)
{
    put_gpu("10000:01:00.0", A, 0, USUAL);
    put_gpu("0000:02:00.0", B, 1, USUAL);
    find();
    assert_shown(B, A);
}

GPU_TEST(test_find_when_a_uuid_begins_two_then_not_known)
{
    put_gpu("0000:00:06.0", A, 0, USUAL);
    put_gpu("0000:00:07.0", "GPU-88913974-b729-bde5-cec9-7908a6baaae3", 1, USUAL);
    unit_set_variable("CUDA_VISIBLE_DEVICES", "GPU-8891");
    find();
    assert_not_known("several UUIDs");
}

GPU_TEST(test_find_when_the_machine_has_more_than_64_gpus_then_not_known)
{
    for (int i = 0; i < GPU_MAX + 1; i++) {
        char address[24], uuid[48];
        snprintf(address, sizeof address, "0000:%02x:00.0", i);
        snprintf(uuid, sizeof uuid, "GPU-%08x-b729-bde5-cec9-7908a6baaae2", i);
        put_gpu(address, uuid, i, USUAL);
        if (i == GPU_MAX - 1) {
            find();
            assert_int_equal(all.visible_count, GPU_MAX);
        }
    }
    find();
    assert_not_known("more than 64");
    assert_int_equal(all.count, GPU_MAX);
}

/* Odd content is of no harm. */
GPU_TEST(test_find_when_files_are_odd_then_nothing_breaks)
{
    static char wide[4096];
    memset(wide, 'x', sizeof wide - 1);
    put_two();
    put(wide, "/proc/driver/nvidia/gpus/0000:00:06.0/information");
    put("Model:", "/proc/driver/nvidia/gpus/0000:00:07.0/information");
    put("", "/proc/driver/nvidia/gpus/a-name-that-is-longer-than-an-address/information");
    put("zz", BUS "/0000:00:07.0/device");
    find();
    assert_int_equal(all.count, 2);
    assert_string_equal(gpus[0].uuid, "");
    assert_string_equal(gpus[1].name, "");
}
