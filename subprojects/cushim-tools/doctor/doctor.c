/* SPDX-License-Identifier: MIT */
#include "doctor.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "machine.h"

static const struct {
    const char *word;
    enum tone tone;
} verdicts[] = {{"problem", TONE_BAD},      {"problem", TONE_BAD},   {"problem", TONE_BAD},
                {"follows", TONE_DOUBTFUL}, {"note", TONE_DOUBTFUL}, {"ok", TONE_GOOD}};

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

/* Starts the driver once more and watches it, or watches the only start. */
static void doctor_watch(struct doctor *doctor)
{
    struct start *start = start_create(doctor->root);
    if (start == NULL)
        return;
    bool is_second = doctor->start->outcome != START_NOT_TRIED;
    watch_start(start, &doctor->watch, doctor->seconds);
    doctor->watched = doctor->watch.error == 0;
    if (!doctor->watched && !is_second)
        start_run(start, doctor->seconds);
    doctor->second_started = is_second && doctor->watched && start->outcome == START_WORKS;
    bool is_better = !is_second || doctor->second_started;
    start_destroy(is_better ? doctor->start : start);
    if (is_better)
        doctor->start = start;
}

/* Finds the operation that makes the start fail. A start that was watched shows what the system refused. */
static void doctor_find_operation(struct doctor *doctor)
{
    if (doctor->start->outcome != START_FAILED)
        return;
    doctor->operation = doctor->watched ? operations_last_cause(&doctor->watch.operations) : NULL;
    if (doctor->operation != NULL)
        return;
    trials_run(doctor->trials, doctor->root, doctor->step_seconds);
    if (!doctor->watched || doctor->trials->intercepted[0] != '\0')
        doctor->operation = operations_first_cause(&doctor->trials->operations);
}

/* A refusal can make a driver crash or wait for ever. Opening a device can wait for the same reason as the driver. */
static void doctor_find_operation_before(struct doctor *doctor)
{
    doctor->before = doctor->watched ? operations_last_cause(&doctor->watch.operations) : NULL;
    if (doctor->before != NULL || doctor->start->outcome != START_CRASHED)
        return;
    trials_run(doctor->trials, doctor->root, doctor->step_seconds);
    doctor->before = operations_first_cause(&doctor->trials->operations);
}

/* The parent of the child counts, too: where one process more is too many, the driver is started in this one. */
static void doctor_start_here(struct doctor *doctor)
{
    if (doctor->operation == NULL || doctor->operation->error != EAGAIN
        || !pattern_matches("clone* fork", doctor->operation->call))
        return;
    struct start *start = start_create(doctor->root);
    if (start == NULL)
        return;
    start_work(start);
    doctor->started = start->outcome == START_WORKS;
    start_destroy(doctor->started ? doctor->start : start);
    if (doctor->started)
        doctor->start = start;
}

static void doctor_start(struct doctor *doctor)
{
    enum { SECONDS = 60, STEP_SECONDS = 10 }; /* a GPU without persistence mode needs long */
    const struct options *options = doctor->options;
    doctor->seconds = options->timeout_seconds != 0 ? options->timeout_seconds : SECONDS;
    doctor->step_seconds = options->timeout_seconds > STEP_SECONDS ? options->timeout_seconds : STEP_SECONDS;
    if (!doctor->loaded || (options->load.root != NULL && !options->watch))
        return;
    if (!options->watch)
        start_run(doctor->start, doctor->seconds);
    if (options->watch || doctor->start->outcome == START_FAILED)
        doctor_watch(doctor);
    const struct start *start = doctor->start;
    doctor->started =
        start->outcome == START_WORKS
        || (start->outcome == START_FAILED && start->gpu_count > 0 && start->gpus[0].code == CUDA_SUCCESS);
    if (doctor->started)
        return;
    if (start->outcome == START_CRASHED || start->outcome == START_STUCK)
        doctor_find_operation_before(doctor);
    doctor_find_operation(doctor);
    doctor_start_here(doctor);
    if (doctor->started)
        return;
    if (start->outcome != START_FAILED || doctor->root[0] != '\0' || doctor->operation != NULL)
        return;
    variables_try(doctor);
    if (doctor->variables[0] == '\0')
        evidence_ask_nvml(doctor->nvml, start, doctor->step_seconds);
}

/* Examines the machine first and then starts the driver, because a start can create device files. */
static enum status doctor_examine(struct doctor *doctor, const struct options *options)
{
    doctor->options = options;
    doctor->root = options->load.root != NULL ? options->load.root : "";
    cushim_system_get_info(options->load.root, &doctor->system);
    evidence_read_bus(doctor);
    doctor->is_wsl =
        doctor->system.wsl_node != CUSHIM_NODE_ABSENT || evidence_contains(doctor, "/proc/version", "icrosoft");
    /* The device exists also in containers, and in systems that were built without NVIDIA's packages. */
    doctor->is_jetson = evidence_exists(doctor, "/etc/nv_tegra_release") || evidence_exists(doctor, "/dev/nvmap");
    doctor->is_nixos = evidence_exists(doctor, "/etc/NIXOS");
    doctor->is_flatpak = evidence_exists(doctor, "/.flatpak-info");
    doctor->sees_bus = evidence_exists(doctor, "/sys/bus/pci/devices");

    enum status status = driver_load(options);
    if (status == STATUS_USAGE)
        return status;
    doctor->loaded = status == STATUS_USABLE;
    doctor->load = driver_diagnosis();
    doctor->release = cush_driver_release(doctor->load->path);
    doctor->is_compat = is_compat(doctor->load->path);
    doctor->variant = gpus_read_variant(doctor);
    doctor->certain = cush_cause_find(doctor->root, doctor->load->path, CUDA_SUCCESS, false).reason;
    doctor_start(doctor);
    doctor->reason = doctor->start->outcome == START_NOT_TRIED ? doctor->certain : doctor->start->reason;
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

/* One cause leads. The other problems follow from it, so what would correct them is not said. A requirement of the
 * command line, a stub that cushim skips and a companion that ends the process are problems of their own. */
static void doctor_order(struct doctor *doctor)
{
    doctor_sort(doctor);
    if (doctor->findings[0].verdict > VERDICT_CAUSE)
        return;
    for (size_t i = 1; i < doctor->count; i++) {
        struct finding *finding = &doctor->findings[i];
        if (finding->verdict > VERDICT_PROBLEM || pattern_matches("version stub companions", finding->check))
            continue;
        finding->verdict = VERDICT_FOLLOWS;
        finding->advice = "";
    }
}

void doctor_write_findings(struct json *json, const char *key, const struct doctor *doctor)
{
    json_open_array(json, key);
    for (size_t i = 0; i < doctor->count; i++) {
        const struct finding *finding = &doctor->findings[i];
        json_open_object(json, NULL);
        json_string(json, "check", finding->check);
        json_string(json, "verdict", verdicts[finding->verdict].word);
        json_string(json, "cause", doctor_cause_of(doctor, finding));
        json_string(json, "message", finding->message);
        json_string(json, "advice", finding->advice);
        json_string(json, "evidence", finding->evidence);
        json_close_object(json);
    }
    json_close_array(json);
}

static void doctor_write(const struct doctor *doctor)
{
    struct json json = {0};
    json_open_object(&json, NULL);
    json_integer(&json, "version", 1);
    doctor_write_findings(&json, "findings", doctor);
    doctor_write_system(&json, doctor);
    json_close_object(&json);
}

static void put_paragraph(enum tone tone, size_t indent, const char *text)
{
    text_put(TONE_PLAIN, "", indent);
    text_paragraph(tone, indent, text);
}

/* What leads: the cause on one line, what to do, and how that is known. */
static void finding_lead(const struct finding *finding)
{
    size_t indent = text_mark_width();
    text_mark(TONE_BAD);
    text_paragraph(TONE_STRONG, indent, finding->message);
    put_paragraph(TONE_PLAIN, indent, finding->advice);
    if (finding->evidence[0] == '\0')
        return;
    puts("");
    put_paragraph(TONE_FAINT, indent, finding->evidence);
}

static void finding_print(const struct finding *finding, size_t width)
{
    size_t indent = text_mark_width() + width + 2;
    /* The evidence of a long message begins with it. */
    bool is_whole = strncmp(finding->evidence, finding->message, strcspn(finding->message, ".")) == 0;
    text_mark(verdicts[finding->verdict].tone);
    text_put(TONE_PLAIN, finding->check, width + 2);
    text_paragraph(TONE_PLAIN, indent, is_whole ? finding->evidence : finding->message);
    if (!is_whole && finding->evidence[0] != '\0')
        put_paragraph(TONE_PLAIN, indent, finding->evidence);
    if (finding->advice[0] != '\0')
        put_paragraph(finding->verdict <= VERDICT_PROBLEM ? TONE_STRONG : TONE_FAINT, indent, finding->advice);
}

static void doctor_print(const struct doctor *doctor, enum status status)
{
    size_t width = 0;
    size_t first = status == STATUS_UNUSABLE;
    text_break_lines();
    for (size_t i = first; i < doctor->count; i++)
        width = text_wider(width, doctor->findings[i].check);
    if (first == 1)
        finding_lead(&doctor->findings[0]);
    for (size_t i = first; i < doctor->count; i++) {
        enum verdict verdict = doctor->findings[i].verdict, before = i > 0 ? doctor->findings[i - 1].verdict : verdict;
        if (verdict == VERDICT_FOLLOWS && before != VERDICT_FOLLOWS)
            puts("\nThis follows from it, or comes next:");
        else if (i > 0 && (i == first || (before == VERDICT_FOLLOWS && verdict != VERDICT_FOLLOWS)))
            puts("");
        finding_print(&doctor->findings[i], width);
    }
    puts("");
    const char *result = "CUDA cannot be used. Begin with the first problem above.";
    if (status == STATUS_USABLE)
        result = doctor->root[0] == '\0' && doctor->start->is_complete ? "CUDA can be used." : "No problem was found.";
    else if (doctor->started && strcmp(doctor->findings[0].check, "stub") == 0)
        result = "CUDA can be used with cushim, but not by every program. Begin with the first problem above.";
    else if (doctor->started && strcmp(doctor->findings[0].check, "companions") == 0)
        result = "CUDA can be used, but not every library of the driver. Begin with the first problem above.";
    else if (doctor->started)
        result = "CUDA can be used, but not as required. Begin with the first problem above.";
    else if (doctor->start->outcome == START_FAILED && doctor->start->step >= START_CONTEXT)
        result = "The driver starts, but programs cannot use the GPU now. Begin with the first problem above.";
    text_paragraph(TONE_PLAIN, 0, result);
}

enum status doctor_find_problems(struct doctor *doctor, const struct options *options)
{
    doctor->start = start_create(options->load.root != NULL ? options->load.root : "");
    doctor->trials = trials_create();
    doctor->nvml = child_memory_create(sizeof *doctor->nvml);
    if (doctor->start == NULL || doctor->trials == NULL || doctor->nvml == NULL) {
        text_complain("there is not enough memory");
        return STATUS_UNUSABLE;
    }
    enum status status = doctor_examine(doctor, options);
    if (status == STATUS_USAGE)
        return status;
    doctor_check_preload(doctor);
    /* A library that cannot be loaded is found by the checks of the driver. */
    if (doctor->start->outcome != START_NOT_TRIED)
        doctor_find_cause(doctor);
    doctor_check_library(doctor);
    doctor_check_driver(doctor);
    if (doctor->start->outcome == START_NOT_TRIED)
        doctor_find_cause(doctor);
    doctor_check_platform(doctor);
    doctor_check_start(doctor);
    doctor_check_operations(doctor);
    doctor_order(doctor);
    return STATUS_USABLE;
}

void doctor_end(struct doctor *doctor)
{
    start_destroy(doctor->start);
    trials_destroy(doctor->trials);
    child_memory_destroy(doctor->nvml, sizeof *doctor->nvml);
}

enum status command_doctor(const struct options *options)
{
    static struct doctor doctor;
    enum status status = doctor_find_problems(&doctor, options);
    if (status != STATUS_USABLE)
        return status;
#if defined(SIGXFSZ)
    signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files must not end this program without a message */
#endif
    status = doctor.findings[0].verdict <= VERDICT_PROBLEM ? STATUS_UNUSABLE : STATUS_USABLE;
    if (options->json)
        doctor_write(&doctor);
    else
        doctor_print(&doctor, status);
    doctor_end(&doctor);
    return status;
}
