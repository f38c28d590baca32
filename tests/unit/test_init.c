/* SPDX-License-Identifier: MIT */
/* cushim_init(): the cause that it reports when cuInit fails, on machines built from a few files. POSIX only. */
#include "mock.h"

#include <sys/stat.h>
#include <unistd.h>

#include "cause.h"
#include "child.h"
#include "directory.h"

static void add_gpu_to_bus(void)
{
    directory_machine_file("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    directory_machine_file("sys/bus/pci/devices/0000:01:00.0/vendor", "0x10de\n");
    directory_machine_file("sys/bus/pci/devices/0000:01:00.0/class", "0x030200\n");
}

static void add_nodes(int gpu_count)
{
    directory_machine_file("dev/nvidiactl", "");
    directory_machine_file("dev/nvidia-uvm", "");
    for (int i = 0; i < gpu_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "dev/nvidia%d", i);
        directory_machine_file(name, "");
    }
}

static void make_whole_machine(void)
{
    directory_machine_file("proc/driver/nvidia/version",
                           "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Wed\n");
    add_gpu_to_bus();
    add_nodes(2);
}

static CUresult answer;
static unsigned init_flags;

static CUresult CUDAAPI init(unsigned flags)
{
    init_flags = flags;
    return answer;
}

static int begin(void **state)
{
    mock_reset(state);
    return directory_create(state);
}

#define INIT_TEST(name) TEST_WITH(name, begin, directory_remove)

static void load(void)
{
    mock_load("fake_12040", (struct cushim_load_options){.root = directory_machine()})->Init_v1 = init;
    init_flags = 77;
}

static CUresult init_with(CUresult code)
{
    answer = code;
    return cushim_init();
}

static void assert_cause(CUresult code, enum cushim_reason reason)
{
    if (cushim_driver_version() == 0)
        load();
    assert_int_equal(init_with(code), code);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (diagnosis->reason != reason)
        fail_msg("%d is put down to %s", (int)code, diagnosis->reason_name);
    assert_int_equal(diagnosis->code, code);
    assert_string_not_equal(diagnosis->message, "");
    assert_string_not_equal(diagnosis->advice, "");
    assert_string_equal(cushim_error_last()->function, "cushim_init");
    assert_int_equal(cushim_error_last()->code, code);
    assert_string_equal(cushim_error_last()->message, diagnosis->message);
    /* The results of the load are kept. */
    assert_string_equal(diagnosis->path, unit_fake("fake_12040"));
    assert_int_equal(diagnosis->cuda_version, 12040);
    assert_int_equal(diagnosis->attempt_count, 1);
    assert_int_equal(diagnosis->attempts[0].reason, CUSHIM_REASON_NONE);
}

INIT_TEST(test_init_when_it_succeeds_then_nothing_is_wrong)
{
    load();
    const struct cushim_diagnosis *loaded = cushim_diagnosis_get();
    assert_int_equal(init_with(CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(init_flags, 0);
    assert_ptr_equal(cushim_diagnosis_get(), loaded);
    assert_int_equal(loaded->reason, CUSHIM_REASON_NONE);
}

INIT_TEST(test_init_when_no_driver_exists_then_reports_the_failed_load)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("not_stub"));
    assert_int_equal(cushim_init(), CUDA_ERROR_STUB_LIBRARY);
    assert_string_equal(cushim_error_last()->function, "cushim_init");
    assert_string_equal(cushim_error_last()->message, cushim_diagnosis_get()->message);
    assert_int_equal(cushim_init(), CUDA_ERROR_STUB_LIBRARY);
}

INIT_TEST(test_init_when_it_succeeds_after_a_failure_then_nothing_is_wrong_any_more)
{
    make_whole_machine();
    assert_cause(CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_NO_DEVICE);
    assert_int_equal(init_with(CUDA_SUCCESS), CUDA_SUCCESS);
    assert_int_equal(cushim_diagnosis_get()->reason, CUSHIM_REASON_NONE);
    assert_int_equal(cushim_diagnosis_get()->code, CUDA_SUCCESS);
    assert_int_equal(cushim_load(NULL), CUDA_SUCCESS);
}

INIT_TEST(test_init_when_the_code_tells_the_cause_then_that_is_it)
{
    assert_cause(CUDA_ERROR_SYSTEM_DRIVER_MISMATCH, CUSHIM_REASON_MODULE_MISMATCH);
    assert_cause(CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE, CUSHIM_REASON_MODULE_MISMATCH);
    assert_cause(CUDA_ERROR_SYSTEM_NOT_READY, CUSHIM_REASON_NOT_READY);
    assert_cause(CUDA_ERROR_DEVICE_UNAVAILABLE, CUSHIM_REASON_IN_USE);
    for (int code = CUDA_ERROR_MPS_CONNECTION_FAILED; code <= (int)CUDA_ERROR_MPS_CLIENT_TERMINATED; code++)
        assert_cause((CUresult)code, CUSHIM_REASON_MPS);
}

INIT_TEST(test_init_when_the_code_is_unknown_then_it_is_kept_raw)
{
    make_whole_machine();
    assert_cause((CUresult)999, CUSHIM_REASON_UNKNOWN);
    assert_cause((CUresult)4711, CUSHIM_REASON_UNKNOWN);
    assert_cause(CUDA_ERROR_OPERATING_SYSTEM, CUSHIM_REASON_UNKNOWN);
    assert_cause(CUDA_ERROR_OUT_OF_MEMORY, CUSHIM_REASON_UNKNOWN);
    /* Without a fork, as with some kernels. */
    assert_cause(CUDA_ERROR_NOT_INITIALIZED, CUSHIM_REASON_UNKNOWN);
    unit_assert_contains(cushim_diagnosis_get()->advice, "cushim doctor");
}

#define MODULE "proc/driver/nvidia/version"
#define NOUVEAU "sys/module/nouveau/version"
enum bus { HIDDEN_BUS, EMPTY_BUS, BUS_WITH_GPU };

/* `certain`: what is known without a start. */
static const struct machine {
    enum bus bus;
    const char *driver; /* to which the GPU is bound, or NULL */
    const char *files[3];
    CUresult code;
    enum cushim_reason reason, certain;
} machines[] = {
#define MACHINE(bus, driver, code, reason, certain, ...)                                                               \
    {                                                                                                                  \
        bus, driver, {__VA_ARGS__}, (CUresult)(code), CUSHIM_REASON_##reason, CUSHIM_REASON_##certain                  \
    }
    MACHINE(HIDDEN_BUS, NULL, 100, NO_DEVICE, NONE, NULL),
    MACHINE(EMPTY_BUS, NULL, 100, NO_GPU, NO_GPU, NULL),
    MACHINE(EMPTY_BUS, NULL, 101, NO_GPU, NO_GPU, "dev/nvidiactl"), /* a driver creates it without a GPU */
    MACHINE(EMPTY_BUS, NULL, 100, NO_GPU, NO_GPU, ".dockerenv"),
    MACHINE(EMPTY_BUS, NULL, 999, UNKNOWN, NO_GPU, NULL), /* a software driver */
    MACHINE(EMPTY_BUS, NULL, 100, NO_DEVICE, NONE, MODULE),
    MACHINE(EMPTY_BUS, NULL, 100, NO_DEVICE, NONE, "dev/dxg"),      /* WSL */
    MACHINE(EMPTY_BUS, NULL, 100, NO_DEVICE, NONE, "proc/version"), /* the first WSL */
    MACHINE(EMPTY_BUS, NULL, 100, NO_DEVICE, NONE, "dev/nvmap"),    /* Jetson */
    MACHINE(EMPTY_BUS, NULL, 100, NO_DEVICE, NONE, "etc/nv_tegra_release"),
    MACHINE(BUS_WITH_GPU, NULL, 100, MODULE_NOT_LOADED, NONE, NULL), /* a start can load it */
    MACHINE(BUS_WITH_GPU, NULL, 100, NO_DEVICE_NODES, NONE, MODULE),
    MACHINE(BUS_WITH_GPU, NULL, 999, NO_DEVICE_NODES, NONE, "dev/nvidiactl"),
    MACHINE(BUS_WITH_GPU, NULL, 100, NO_DEVICE_NODES, NONE, "dev/nvidia0"),
    MACHINE(BUS_WITH_GPU, NULL, 100, NO_DEVICE, NONE, "dev/nvidiactl", "dev/nvidia0"),
    MACHINE(BUS_WITH_GPU, NULL, 100, NO_DEVICE_NODES, NO_DEVICE_NODES, MODULE, ".dockerenv"),
    MACHINE(HIDDEN_BUS, NULL, 100, NO_DEVICE_NODES, NO_DEVICE_NODES, ".dockerenv"),
    MACHINE(HIDDEN_BUS, NULL, 100, NO_DEVICE, NONE, ".dockerenv", "dev/dxg"),
    MACHINE(BUS_WITH_GPU, "vfio-pci", 100, GPU_OF_VFIO, GPU_OF_VFIO, NULL),
    MACHINE(BUS_WITH_GPU, "vfio-pci", 100, NO_DEVICE, NONE, "dev/nvidiactl", "dev/nvidia0"),
    MACHINE(BUS_WITH_GPU, "nouveau", 100, GPU_OF_NOUVEAU, GPU_OF_NOUVEAU, NULL),
    MACHINE(BUS_WITH_GPU, "nova-core", 100, GPU_OF_NOUVEAU, GPU_OF_NOUVEAU, MODULE),
    MACHINE(BUS_WITH_GPU, "", 100, GPU_OF_NOUVEAU, GPU_OF_NOUVEAU, NOUVEAU),
    MACHINE(BUS_WITH_GPU, "nvidia", 100, NO_DEVICE_NODES, NONE, NOUVEAU, MODULE),
};

static void make_machine(const struct machine *machine, bool has_list)
{
    static const char host[] = "0000\t80860d57\t0\t0\n";
    static const char gpu[] = "0000\t80860d57\t0\t0\n0100\t10de2330\t0\t0\tnvidia\n";
    if (machine->bus != HIDDEN_BUS && has_list)
        directory_machine_file("proc/bus/pci/devices", machine->bus == EMPTY_BUS ? host : gpu);
    if (machine->bus == EMPTY_BUS)
        directory_machine_file("sys/bus/pci/devices/0000:00:00.0/vendor", "0x8086\n");
    if (machine->bus == BUS_WITH_GPU)
        add_gpu_to_bus();
    if (machine->driver != NULL) {
        char target[64];
        snprintf(target, sizeof target, "../../../bus/pci/drivers/%s", machine->driver);
        directory_link("root/sys/bus/pci/devices/0000:01:00.0/driver", target);
    }
    for (size_t i = 0; i < 3 && machine->files[i] != NULL; i++)
        directory_machine_file(machine->files[i],
                               strcmp(machine->files[i], MODULE) == 0 ? "Module 550.54.14 \n" : "Microsoft");
}

INIT_TEST(test_no_device_when_the_machine_shows_the_reason_then_it_is_that)
{
    for (size_t i = 0; i < 2 * sizeof machines / sizeof machines[0]; i++) {
        const struct machine *machine = &machines[i / 2];
        assert_int_equal(directory_remove(state), 0);
        assert_int_equal(begin(state), 0);
        make_machine(machine, i % 2 == 0);
        enum cushim_reason certain = cush_cause_find(directory_machine(), NULL, CUDA_SUCCESS, false).reason;
        if (certain != machine->certain)
            fail_msg("machine %zu: %s is certain", i / 2, cushim_reason_name(certain));
        assert_cause(machine->code, machine->reason);
    }
}

static void assert_message_of_nodes(const char *file, const char *words)
{
    directory_machine_file("proc/driver/nvidia/version", "Module 550.54.14 \n");
    add_gpu_to_bus();
    directory_machine_file(file, "");
    assert_cause(CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_NO_DEVICE_NODES);
    unit_assert_contains(cushim_diagnosis_get()->message, words);
}

INIT_TEST(test_no_device_when_one_device_file_is_missing_then_only_that_one_is_named)
{
    assert_message_of_nodes("dev/nvidiactl", "no NVIDIA device node of a GPU (/dev/nvidia0), so");
    assert_null(strstr(cushim_diagnosis_get()->message, "nvidiactl"));
    assert_int_equal(directory_remove(state), 0);
    assert_int_equal(begin(state), 0);
    assert_message_of_nodes("dev/nvidia0", "no NVIDIA device node /dev/nvidiactl, so");
}

/* Of the fake driver, the file does not have NVIDIA's name. */
INIT_TEST(test_unknown_code_when_nvidias_driver_finds_no_gpu_then_that_is_the_reason)
{
    make_machine(&(struct machine){.bus = EMPTY_BUS}, true);
    const struct os_obstacle cause =
        cush_cause_find(directory_machine(), "/usr/lib/libcuda.so.390.157", CUDA_ERROR_UNKNOWN, false);
    assert_int_equal(cause.reason, CUSHIM_REASON_NO_GPU);
    assert_string_equal(cause.message, "");
}

/* Of a server, only the devices of NVIDIA are read. */
INIT_TEST(test_bus_when_the_list_of_the_kernel_is_long_then_finds_the_gpu)
{
    char text[32768];
    size_t used = 0;
    for (int i = 0; i < 300; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%02x%02x\t%s\t0\t       fe000000\tdriver\n", i / 8,
                                 i % 8 << 3, i == 299 ? "10de2330" : "80860d57");
    directory_machine_file("proc/bus/pci/devices", text);
    directory_machine_file("sys/bus/pci/devices/0001:25:04.0/vendor", "0x10de\n"); /* not in the list */
    directory_machine_file("sys/bus/pci/devices/0001:25:04.0/class", "0x030200\n");
    struct cushim_system system;
    cushim_system_get_info(directory_machine(), &system);
    assert_false(system.has_gpu_on_bus);
    directory_machine_file("sys/bus/pci/devices/0001:25:03.0/vendor", "0x10de\n");
    directory_machine_file("sys/bus/pci/devices/0001:25:03.0/class", "0x030200\n");
    cushim_system_get_info(directory_machine(), &system);
    assert_true(system.has_gpu_on_bus);
    assert_cause(CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_MODULE_NOT_LOADED);
}

static void assert_visible(const char *devices, enum cushim_reason reason)
{
    unit_set_variable("CUDA_VISIBLE_DEVICES", devices);
    assert_cause(CUDA_ERROR_NO_DEVICE, reason);
    assert_int_equal(cushim_diagnosis_get()->variable_count, 1);
    assert_string_equal(cushim_diagnosis_get()->variables[0].name, "CUDA_VISIBLE_DEVICES");
    assert_string_equal(cushim_diagnosis_get()->variables[0].value, devices);
    assert_true(cushim_diagnosis_get()->variables[0].is_used);
}

INIT_TEST(test_no_device_when_the_variable_hides_all_then_reason_is_hidden)
{
    make_whole_machine(); /* two GPUs */
    assert_visible("", CUSHIM_REASON_HIDDEN);
    assert_visible("-1", CUSHIM_REASON_HIDDEN);
    assert_visible("2", CUSHIM_REASON_HIDDEN);
    assert_visible("7,0", CUSHIM_REASON_HIDDEN);
    assert_visible("none", CUSHIM_REASON_HIDDEN);
    assert_visible("GPU-00000000-0000-0000-0000-000000000000", CUSHIM_REASON_HIDDEN);
    assert_visible("0", CUSHIM_REASON_NO_DEVICE);
    assert_visible("1", CUSHIM_REASON_NO_DEVICE);
    assert_visible("0,7", CUSHIM_REASON_NO_DEVICE);
}

static bool nodes_are_denied(void)
{
    return init_with(CUDA_ERROR_NO_DEVICE) == CUDA_ERROR_NO_DEVICE
           && cushim_diagnosis_get()->reason == CUSHIM_REASON_NODES_DENIED;
}

INIT_TEST(test_no_device_when_device_nodes_are_denied_then_reason_is_device_nodes_denied)
{
    static const char *const nodes[] = {"root/dev/nvidiactl", "root/dev/nvidia0"};
    make_whole_machine();
    assert_int_equal(unlink(directory_path("root/dev/nvidia1")), 0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(chmod(directory_path(nodes[i]), 0444), 0); /* may be read, but not written */
        assert_int_equal(chmod(directory_path(nodes[1 - i]), 0666), 0);
        load();
        if (!child_check(child_give_up_rights, nodes_are_denied))
            unit_skip("root may open everything, and cannot become another user here");
    }
}

/* The cause of the same code may change: the diagnosis is that of the last call. */
INIT_TEST(test_no_device_when_the_cause_changes_then_reports_the_last_one)
{
    make_whole_machine();
    assert_visible("", CUSHIM_REASON_HIDDEN);
    unit_set_variable("CUDA_VISIBLE_DEVICES", NULL);
    assert_cause(CUDA_ERROR_NO_DEVICE, CUSHIM_REASON_NO_DEVICE);
    assert_int_equal(cushim_diagnosis_get()->variable_count, 0);
}
