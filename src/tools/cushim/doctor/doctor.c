/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdio.h>
#include <string.h>

#include "os.h"

static const struct {
    const char *word;
    enum tone tone;
} verdicts[] = {{"problem", TONE_BAD}, {"problem", TONE_BAD}, {"note", TONE_DOUBTFUL}, {"ok", TONE_GOOD}};

/* Whether a path exists below the root directory. */
static bool has_file(const struct doctor *doctor, const char *path)
{
    char whole[OS_PATH_SIZE];
    return platform_has_system_files() && cush_os_path_below(doctor->root, path, whole, sizeof whole)
           && platform_exists(whole);
}

/* Whether a library belongs to the cuda-compat package. */
static bool is_compat(const char *path)
{
    char real[PLATFORM_PATH_SIZE];
    if (path == NULL)
        return false;
    if (!platform_real_path(path, real, sizeof real))
        real[0] = '\0';
    return strstr(path, "/compat/") != NULL || strstr(real, "/compat/") != NULL || strstr(real, "/cuda-compat") != NULL;
}

/* Whether the first bytes of a file below the root directory contain a word. */
static bool file_contains(const struct doctor *doctor, const char *path, const char *word)
{
    char whole[OS_PATH_SIZE];
    char text[512];
    return cush_os_path_below(doctor->root, path, whole, sizeof whole) && cush_os_file_read(whole, text, sizeof text)
           && strstr(text, word) != NULL;
}

/* Examines the machine first and then starts the driver, because a start can create device files. */
static enum status doctor_examine(struct doctor *doctor, const struct options *options)
{
    doctor->options = options;
    doctor->root = options->load.root != NULL ? options->load.root : "";
    cushim_system_get_info(options->load.root, &doctor->system);
    doctor->is_wsl =
        doctor->system.wsl_node != CUSHIM_NODE_ABSENT || file_contains(doctor, "/proc/version", "icrosoft");
    /* The device exists also in containers, and in systems that were built without NVIDIA's packages. */
    doctor->is_jetson = has_file(doctor, "/etc/nv_tegra_release") || has_file(doctor, "/dev/nvmap");
    doctor->is_nixos = has_file(doctor, "/etc/NIXOS");
    doctor->is_flatpak = has_file(doctor, "/.flatpak-info");
    doctor->sees_bus = has_file(doctor, "/sys/bus/pci/devices");
    doctor->nouveau = has_file(doctor, "/sys/module/nouveau");

    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    doctor->loaded = status == STATUS_USABLE;
    doctor->load = driver_diagnosis();
    doctor->release = driver_release_of(doctor->load->path);
    doctor->is_compat = is_compat(doctor->load->path);
    doctor->tried_to_start = doctor->loaded && options->load.root == NULL;
    if (doctor->tried_to_start) {
        doctor->start_code = driver_start();
        if (doctor->start_code != CUDA_SUCCESS)
            doctor->start_words = driver_words();
        doctor->started = doctor->start_code == CUDA_SUCCESS && driver_device_count() > 0;
    }
    doctor->now = driver_diagnosis();
    return STATUS_USABLE;
}

/* Sorts by the verdict; findings of one verdict keep the order of the checks. */
static void doctor_sort(struct doctor *doctor)
{
    for (size_t i = 1; i < doctor->count; i++) {
        struct finding finding = doctor->findings[i];
        size_t to = i;
        for (; to > 0 && doctor->findings[to - 1].verdict > finding.verdict; to--)
            doctor->findings[to] = doctor->findings[to - 1];
        doctor->findings[to] = finding;
    }
}

static void doctor_write(const struct doctor *doctor)
{
    struct json json = {0};
    json_open_array(&json, NULL);
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        json_open_object(&json, NULL);
        json_string(&json, "check", finding->check);
        json_string(&json, "verdict", verdicts[finding->verdict].word);
        json_string(&json, "message", finding->message);
        json_string(&json, "advice", finding->advice);
        json_close_object(&json);
    }
    json_close_array(&json);
}

static void doctor_print(const struct doctor *doctor, enum status status)
{
    size_t width = 0;
    for (size_t i = 0; i < doctor->count; i++)
        width = text_wider(width, doctor->findings[i].check);
    size_t indent = text_mark_width() + width + 2;
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        text_mark(verdicts[finding->verdict].tone);
        text_put(TONE_PLAIN, finding->check, width + 2);
        text_paragraph(TONE_PLAIN, indent, finding->message);
        if (finding->advice[0] != '\0') {
            text_put(TONE_PLAIN, "", indent);
            text_paragraph(finding->verdict <= VERDICT_PROBLEM ? TONE_STRONG : TONE_FAINT, indent, finding->advice);
        }
    }
    puts("");
    if (status == STATUS_USABLE && doctor->root[0] != '\0')
        puts("No problem was found.");
    else if (status == STATUS_USABLE)
        puts("CUDA can be used.");
    else if (doctor->started)
        puts("CUDA can be used, but not as required. Begin with the first problem above.");
    else
        puts("CUDA cannot be used. Begin with the first problem above.");
}

enum status command_doctor(const struct options *options)
{
    static struct doctor doctor;
    enum status status = doctor_examine(&doctor, options);
    if (status == STATUS_USAGE)
        return status;
    doctor_check_driver(&doctor);
    doctor_check_platform(&doctor);
    doctor_check_start(&doctor);
    doctor_sort(&doctor);
    status = doctor.findings[0].verdict <= VERDICT_PROBLEM ? STATUS_UNUSABLE : STATUS_USABLE;
    if (options->json)
        doctor_write(&doctor);
    else
        doctor_print(&doctor, status);
    return status;
}
