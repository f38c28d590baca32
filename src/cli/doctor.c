/* SPDX-License-Identifier: MIT */
#include "commands.h"

#include <stdio.h>
#include <string.h>

#include "checks_library.h"
#include "checks_place.h"
#include "checks_system.h"
#include "devices.h"
#include "finding.h"
#include "json.h"
#include "os_file.h"
#include "text.h"

static const struct {
    const char *word;
    enum tone tone;
} verdicts[] = {{"problem", TONE_BAD}, {"note", TONE_DOUBTFUL}, {"ok", TONE_GOOD}};

/* Whether the first bytes of a file below the root directory contain a word. */
static bool file_contains(const struct evidence *evidence, const char *path, const char *word)
{
    char whole[OS_PATH_SIZE];
    char text[512];
    return cush_os_path_below(evidence->root, path, whole, sizeof whole) && cush_os_file_read(whole, text, sizeof text)
           && strstr(text, word) != NULL;
}

/* Examines the machine first and then starts the driver, because a start can create device files. */
static enum status evidence_gather(const struct options *options, struct evidence *evidence)
{
    *evidence = (struct evidence){.options = options, .root = options->load.root != NULL ? options->load.root : ""};
    cushim_query_system(options->load.root, &evidence->system);
    evidence->is_wsl =
        evidence->system.wsl_node != CUSHIM_NODE_ABSENT || file_contains(evidence, "/proc/version", "icrosoft");
    evidence->is_jetson = evidence_has(evidence, "/etc/nv_tegra_release");
    evidence->is_nixos = evidence_has(evidence, "/etc/NIXOS");
    evidence->is_flatpak = evidence_has(evidence, "/.flatpak-info");
    evidence->sees_bus = evidence_has(evidence, "/sys/bus/pci/devices");
    evidence->nouveau = evidence_has(evidence, "/sys/module/nouveau");

    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    evidence->loaded = status == STATUS_USABLE;
    evidence->load = driver_diagnosis();
    evidence->release = driver_release_of(evidence->load->path);
    evidence->is_compat = evidence_is_compat(evidence->load->path);
    evidence->tried_to_start = evidence->loaded && options->load.root == NULL;
    if (evidence->tried_to_start) {
        evidence->start_code = driver_start();
        evidence->started = evidence->start_code == CUDA_SUCCESS && devices_count() > 0;
    }
    evidence->now = driver_diagnosis();
    return STATUS_USABLE;
}

static void evidence_examine(const struct evidence *evidence, struct findings *findings)
{
    check_settings(evidence, findings);
    check_library(evidence, findings);
    check_stub(evidence, findings);
    check_compat(evidence, findings);
    check_kernel_module(evidence, findings);
    check_device_nodes(evidence, findings);
    check_container(evidence, findings);
    check_wsl(evidence, findings);
    check_jetson(evidence, findings);
    check_nixos(evidence, findings);
    check_flatpak(evidence, findings);
    check_visible_devices(evidence, findings);
    check_version(evidence, findings);
    check_gpu(evidence, findings);
    check_start(evidence, findings);
}

static int finding_rank(const struct finding *finding)
{
    return finding->verdict == VERDICT_PROBLEM && finding->is_cause ? -1 : (int)finding->verdict;
}

/* Causes come first, then other problems, notes and good findings; each group keeps the order of the checks. */
static void findings_sort(struct findings *findings)
{
    for (size_t i = 1; i < findings->count; i++) {
        struct finding finding = findings->list[i];
        size_t to = i;
        for (; to > 0 && finding_rank(&findings->list[to - 1]) > finding_rank(&finding); to--)
            findings->list[to] = findings->list[to - 1];
        findings->list[to] = finding;
    }
}

static void write_json(const struct findings *findings)
{
    struct json json = {0};
    json_open_array(&json, NULL);
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        json_open_object(&json, NULL);
        json_string(&json, "check", finding->check);
        json_string(&json, "verdict", verdicts[finding->verdict].word);
        json_string(&json, "message", finding->message);
        json_string(&json, "advice", finding->advice);
        json_close_object(&json);
    }
    json_close_array(&json);
}

static void print_text(const struct evidence *evidence, const struct findings *findings, enum status status)
{
    size_t width = 0;
    for (size_t i = 0; i < findings->count; i++)
        width = text_wider(width, findings->list[i].check);
    size_t indent = text_mark_width() + width + 2;
    for (size_t i = 0; i < findings->count; i++) {
        const struct finding *finding = &findings->list[i];
        text_mark(verdicts[finding->verdict].tone);
        text_put(TONE_PLAIN, finding->check, width + 2);
        text_paragraph(TONE_PLAIN, indent, finding->message);
        if (finding->advice[0] != '\0') {
            text_put(TONE_PLAIN, "", indent);
            text_paragraph(finding->verdict == VERDICT_PROBLEM ? TONE_STRONG : TONE_FAINT, indent, finding->advice);
        }
    }
    puts("");
    if (status == STATUS_USABLE && evidence->root[0] != '\0')
        puts("No problem was found.");
    else if (status == STATUS_USABLE)
        puts("CUDA can be used.");
    else if (evidence->started)
        puts("CUDA can be used, but not as required. Begin with the first problem above.");
    else
        puts("CUDA cannot be used. Begin with the first problem above.");
}

enum status command_doctor(const struct options *options)
{
    static struct findings findings;
    struct evidence evidence;
    enum status status = evidence_gather(options, &evidence);
    if (status == STATUS_USAGE)
        return status;
    evidence_examine(&evidence, &findings);
    findings_sort(&findings);
    bool has_problem = findings.list[0].verdict == VERDICT_PROBLEM;
    status = has_problem ? STATUS_UNUSABLE : STATUS_USABLE;
    if (options->json)
        write_json(&findings);
    else
        print_text(&evidence, &findings, status);
    return status;
}
