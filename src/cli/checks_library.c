/* SPDX-License-Identifier: MIT */
#include "checks_library.h"

#include "requirement.h"
#include "text.h"

/* Returns the first attempt that failed for a reason, or NULL. */
static const struct cushim_attempt *find_attempt(const struct evidence *evidence, enum cushim_reason reason)
{
    for (size_t i = 0; i < evidence->load->attempt_count; i++) {
        if (evidence->load->attempts[i].reason == reason)
            return &evidence->load->attempts[i];
    }
    return NULL;
}

/* Whether a setting is the reason for which there is no driver. */
static bool is_setting(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_WANTED || reason == CUSHIM_REASON_BAD_OPTION
           || reason == CUSHIM_REASON_BAD_LAYER;
}

void check_settings(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_diagnosis *load = evidence->load;
    if (is_setting(load->reason)) {
        finding_add(findings, evidence, "settings", VERDICT_PROBLEM, "%s", load->message)->is_cause = true;
        finding_advise(findings, "%s", load->advice);
        return;
    }
    for (size_t i = 0; i < load->variable_count; i++) {
        const struct cushim_variable *variable = &load->variables[i];
        finding_add(findings, evidence, "settings", VERDICT_NOTE, "%s is set to \"%s\"%s.", variable->name,
                    variable->value, variable->used ? "" : ", and is not used");
        if (variable->used)
            finding_advise(findings, "Unset it unless cushim should behave as another driver.");
    }
}

/* Whether a file exists, but cannot be used. */
static bool is_broken(enum cushim_reason reason)
{
    return reason == CUSHIM_REASON_NOT_LOADABLE || reason == CUSHIM_REASON_NOT_A_DRIVER
           || reason == CUSHIM_REASON_UNREADABLE || reason == CUSHIM_REASON_NEEDS_LIBRARY
           || reason == CUSHIM_REASON_DAMAGED || reason == CUSHIM_REASON_EXECUTABLE_STACK;
}

static void report_loaded(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_diagnosis *load = evidence->load;
    const char *release = evidence->release.text;
    finding_add(findings, evidence, "library", VERDICT_OK, "NVIDIA's driver %s%sfor CUDA %s is at %s.", release,
                release[0] != '\0' ? " " : "", text_version(load->cuda_version).text,
                load->path != NULL ? load->path : "an unknown path");
    for (size_t i = 0; i < load->attempt_count; i++) {
        const struct cushim_attempt *attempt = &load->attempts[i];
        if (!is_broken(attempt->reason))
            continue;
        finding_add(findings, evidence, "library", VERDICT_NOTE, "%s was skipped: %s.", attempt->path, attempt->result);
        finding_advise(findings, "That file can make other programs fail. Remove it if nothing needs it.");
    }
}

static void advise_on_library(const struct evidence *evidence, struct findings *findings)
{
    if (evidence->load->reason == CUSHIM_REASON_NOT_FOUND && evidence->system.gpu_on_bus && !evidence->system.container)
        finding_advise(findings,
                       "Install NVIDIA's driver with the package manager of your system: there is an NVIDIA GPU.");
    else
        finding_advise(findings, "%s", evidence->load->advice);
}

void check_library(const struct evidence *evidence, struct findings *findings)
{
    enum cushim_reason reason = evidence->load->reason;
    if (evidence->loaded || reason == CUSHIM_REASON_TOO_OLD) {
        report_loaded(evidence, findings);
    } else if (is_setting(reason)) {
        finding_add(findings, evidence, "library", VERDICT_NOTE, "No driver library was loaded.");
    } else {
        /* An unusable file is a cause. That nothing was found has other causes. */
        finding_add(findings, evidence, "library", VERDICT_PROBLEM, "%s", evidence->load->message)->is_cause =
            reason != CUSHIM_REASON_NOT_FOUND && reason != CUSHIM_REASON_STUB;
        advise_on_library(evidence, findings);
    }
}

void check_stub(const struct evidence *evidence, struct findings *findings)
{
    const struct cushim_attempt *attempt = find_attempt(evidence, CUSHIM_REASON_STUB);
    if (attempt == NULL)
        return;
    bool is_cause = evidence->load->reason == CUSHIM_REASON_STUB;
    finding_add(findings, evidence, "stub", is_cause ? VERDICT_PROBLEM : VERDICT_NOTE,
                "%s leads to the stub library of the CUDA Toolkit (%s), which is for linking and cannot run programs.",
                attempt->path, attempt->file != NULL ? attempt->file : attempt->path)
        ->is_cause = is_cause;
    finding_advise(findings,
                   "%sRemove the \"stubs\" directory of the Toolkit from LD_LIBRARY_PATH and /etc/ld.so.conf.d. It "
                   "belongs only on the command line of the linker.",
                   is_cause ? "If NVIDIA's driver is not installed, install it. " : "");
}

void check_compat(const struct evidence *evidence, struct findings *findings)
{
    static const char check[] = "compat";
    const char *path = evidence->load->path;
    if (evidence->now->reason == CUSHIM_REASON_COMPAT_REFUSED) {
        finding_add(findings, evidence, check, VERDICT_PROBLEM, "%s", evidence->now->message)->is_cause = true;
        finding_advise(findings, "%s", evidence->now->advice);
    } else if (evidence->is_compat && evidence->now->reason == CUSHIM_REASON_MODULE_MISMATCH) {
        finding_add(
            findings, evidence, check, VERDICT_PROBLEM,
            "The driver library belongs to the cuda-compat package and does not match the driver of this machine: %s.",
            path)
            ->is_cause = true;
        finding_advise(findings,
                       "Remove its directory from LD_LIBRARY_PATH. The installed driver has a library of its own, "
                       "which may be newer by now.");
    } else if (evidence->is_compat) {
        finding_add(findings, evidence, check, VERDICT_NOTE,
                    "The driver library belongs to the cuda-compat package, which gives an older driver newer "
                    "functions: %s.",
                    path);
        finding_advise(findings,
                       "Remove its directory from LD_LIBRARY_PATH if the installed driver is new enough by now.");
    }
}

void check_version(const struct evidence *evidence, struct findings *findings)
{
    struct finding *finding = NULL;
    if (evidence->load->reason == CUSHIM_REASON_TOO_OLD) {
        finding = finding_add(findings, evidence, "version", VERDICT_PROBLEM, "%s", evidence->load->message);
        finding_advise(findings, "%s", evidence->load->advice);
    } else if (evidence->loaded && evidence->options->required_version != 0) {
        struct requirement requirement = requirement_check(evidence->options);
        if (requirement.met) {
            finding_add(findings, evidence, "version", VERDICT_OK, "The driver supports CUDA %s.",
                        text_version(evidence->options->required_version).text);
            return;
        }
        finding = finding_add(findings, evidence, "version", VERDICT_PROBLEM, "%s", requirement.message);
        finding_advise(findings, "%s", requirement.advice);
    }
    /* finding_add() turns a problem of a started driver into a note, but a started driver can be too old. */
    if (finding != NULL)
        finding->verdict = VERDICT_PROBLEM;
}
