/* SPDX-License-Identifier: MIT */
/*
 * Uses each feature that is reported as usable, and expects the others to fail as reported.
 *
 *   features [--executed FILE] [--device ORDINAL] [FEATURE]...
 *
 * With --executed, features with a slot that FILE does not name are skipped: a software driver executes only those.
 * Each feature has a process of its own. It prints a line for each: the name; "usable" or the obstacle; the result of
 * the use. The exit status is 1 if a result is not as reported, and 77 without a GPU.
 */
#include "use.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int use_other_process;

enum { SECONDS = 60, PASSED = 0, FAILED = 1, NO_GPU = 77 };

static const char *executed; /* the text of FILE, or NULL */
static int ordinal;

use_function use_of(enum cushim_feature feature)
{
    static const use_function functions[CUSHIM_FEATURE_COUNT] = {
#define CUSHIM_FEATURE(id, name, description, source) use_##id,
#include "cushim/features.h"
    };
    bool is_state = feature == CUSHIM_FEATURE_MPS || feature == CUSHIM_FEATURE_MIG
                    || feature == CUSHIM_FEATURE_CONFIDENTIAL_COMPUTING;
    return is_state ? NULL : functions[feature];
}

/* States of a device, which nothing uses. */
CUresult use_MPS(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult use_MIG(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult use_CONFIDENTIAL_COMPUTING(void)
{
    return CUDA_ERROR_NOT_SUPPORTED;
}

static const struct {
    enum cushim_feature feature;
    const char *slot;
} needs[] = {
#define CUSHIM_FEATURE_SLOT(id, slot) {CUSHIM_FEATURE_##id, #slot},
#include "cushim/features.h"
};

/* Whether the software driver executes every slot that the feature needs. */
static bool is_executed(enum cushim_feature feature)
{
    char line[128];
    /* Their uses need more than the slots. */
    if (executed != NULL && (feature == CUSHIM_FEATURE_NATIVE_CODE || feature == CUSHIM_FEATURE_GRAPH_DEVICE_LAUNCH))
        return false;
    for (size_t i = 0; i < sizeof needs / sizeof needs[0] && executed != NULL; i++) {
        snprintf(line, sizeof line, "\n%s\n", needs[i].slot);
        if (needs[i].feature == feature && strstr(executed, line) == NULL)
            return false;
    }
    return true;
}

/* A process with a context, which waits until it is ended. */
static int start_other(void)
{
    int ready[2];
    char byte = 0;
    if (pipe(ready) != 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        byte = use_start(ordinal) == CUDA_SUCCESS;
        if (write(ready[1], &byte, 1) == 1)
            pause();
        _exit(0);
    }
    return child > 0 && read(ready[0], &byte, 1) == 1 && byte == 1 ? child : 0;
}

static void end_other(void)
{
    if (use_other_process > 0)
        kill(use_other_process, SIGKILL);
}

/* A missing function must return CUDA_ERROR_NOT_SUPPORTED. What the device does not support may return any error. A
 * version that no slot shows is visible neither under a version limit nor on a software driver, whose functions are the
 * same in every version. */
static bool is_as_reported(const struct cushim_feature_info *info, CUresult result)
{
    bool shows_versions = cushim_driver_version() == cushim_diagnosis_get()->cuda_version && executed == NULL;
    switch (info->obstacle) {
    case CUSHIM_OBSTACLE_NONE:
        return result == CUDA_SUCCESS;
    case CUSHIM_OBSTACLE_VERSION:
        return result == CUDA_ERROR_NOT_SUPPORTED
               || (!shows_versions && strstr(info->message, "it needs CUDA") != NULL);
    case CUSHIM_OBSTACLE_FUNCTION:
        return result == CUDA_ERROR_NOT_SUPPORTED;
    default: /* a software driver can do more than its device reports */
        return result != CUDA_SUCCESS || executed != NULL;
    }
}

static int use(enum cushim_feature feature)
{
    struct cushim_feature_info info;
    const char *name = "CUDA_SUCCESS";
    alarm(SECONDS);
    if (feature == CUSHIM_FEATURE_CHECKPOINTS)
        use_other_process = start_other();
    CUresult result = use_start(ordinal);
    if (result != CUDA_SUCCESS)
        end_other();
    if (result == CUDA_ERROR_NO_DEVICE || result == CUDA_ERROR_FILE_NOT_FOUND)
        return NO_GPU;
    if (result != CUDA_SUCCESS || cushim_feature_get_info(feature, use_device, &info) != CUDA_SUCCESS) {
        printf("cannot start: %s\n", cushim_error_last()->message);
        return FAILED;
    }
    printf("%-28s %-10s ", info.name, info.is_usable ? "usable" : cushim_obstacle_name(info.obstacle));
    fflush(stdout);
    if (use_of(feature) == NULL || (info.is_usable && !is_executed(feature))) {
        printf("not used: %s\n", use_of(feature) == NULL ? "it is a state" : "this driver does not execute it");
        end_other();
        return PASSED;
    }
    if (!use_is_permitted(feature)) {
        puts(USE_NOT_PERMITTED);
        return PASSED;
    }
    result = use_of(feature)();
    bool passed = is_as_reported(&info, result);
    (void)cu->GetErrorName_v1(result, &name);
    printf("%s%s%s\n", name, passed ? "" : "  NOT AS REPORTED: ", passed ? "" : info.message);
    end_other();
    return passed ? PASSED : FAILED;
}

static int use_in_child(enum cushim_feature feature)
{
    int status = 0;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        status = use(feature);
        fflush(stdout);
        _exit(status);
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return FAILED;
    if (WIFSIGNALED(status))
        printf("signal %d\n", WTERMSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static char *file_read(const char *path)
{
    static char text[32768];
    FILE *file = fopen(path, "r");
    size_t length = file != NULL ? fread(text, 1, sizeof text - 1, file) : 0;
    text[length] = '\0';
    if (file != NULL)
        fclose(file);
    return length > 0 ? text : NULL;
}

int main(int argc, char **argv)
{
    int failed = 0, first = 1;
    for (; first + 1 < argc && strncmp(argv[first], "--", 2) == 0; first += 2) {
        if (strcmp(argv[first], "--device") == 0)
            ordinal = atoi(argv[first + 1]);
        else if (strcmp(argv[first], "--executed") != 0 || (executed = file_read(argv[first + 1])) == NULL)
            return FAILED;
    }
    for (int i = 0; i < CUSHIM_FEATURE_COUNT; i++) {
        enum cushim_feature named = CUSHIM_FEATURE_COUNT;
        bool wanted = first >= argc;
        for (int word = first; word < argc; word++)
            wanted |= cushim_feature_find(argv[word], &named) == CUDA_SUCCESS && (int)named == i;
        int status = wanted ? use_in_child((enum cushim_feature)i) : PASSED;
        if (status == NO_GPU) {
            puts("skipped: there is no GPU");
            return NO_GPU;
        }
        failed += status != PASSED;
    }
    printf("%d features are not as reported\n", failed);
    return failed == 0 ? PASSED : FAILED;
}
