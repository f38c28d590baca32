/* SPDX-License-Identifier: MIT */
/* What cushim answers on a system for which NVIDIA has no driver. An argument is a layer, which must be installed. */
#define _POSIX_C_SOURCE 200809L /* setenv, fork */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cushim.h"

static int failures;
static unsigned lines;

static void expect(bool is_met, const char *what)
{
    if (!is_met)
        printf("not so: %s\n", what);
    failures += !is_met;
}

#define EXPECT(condition) expect(condition, #condition)

static void count_line(void *user, const char *line)
{
    (void)user, (void)line;
    lines++;
}

int main(int count, char **words)
{
    static int any_object;
    int devices = -1, version = -1;
    if (count > 1) {
        setenv("CUSHIM_LAYERS", words[1], 1);
        setenv("MEMORY_LIMIT", "64", 1);
    }
    EXPECT(cushim_load(&(struct cushim_load_options){.log = count_line}) == CUDA_ERROR_FILE_NOT_FOUND && lines > 0);
    EXPECT(cushim_load(&(struct cushim_load_options){.path = "none"}) == CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cushim_diagnosis_get()->reason == CUSHIM_REASON_NOT_WANTED);
    EXPECT(cushim_load(&(struct cushim_load_options){.path = ""}) == CUDA_ERROR_INVALID_VALUE);
    EXPECT(cushim_load(&(struct cushim_load_options){.handle = &any_object}) == CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cushim_init() == CUDA_ERROR_FILE_NOT_FOUND);
    EXPECT(cushim_diagnosis_get()->reason == CUSHIM_REASON_NOT_FOUND && cushim_diagnosis_get()->advice[0] != '\0');
    EXPECT(cushim_table()->Init_v1(0) == CUDA_ERROR_NO_DEVICE);
    EXPECT(cushim_table()->DeviceGetCount_v1(&devices) == CUDA_SUCCESS && devices == 0);
    EXPECT(cushim_table()->DriverGetVersion_v1(&version) == CUDA_SUCCESS && version == 0);
    EXPECT(cushim_symbol_if_available("cuInit") == NULL && cushim_error_last()->message[0] != '\0');
    if (count > 1) {
        CUdeviceptr memory;
        EXPECT(cushim_table()->MemAlloc_v2(&memory, (size_t)1 << 40) == CUDA_ERROR_OUT_OF_MEMORY);
    }
    pid_t child = fork();
    if (child == 0)
        _exit(cushim_load(NULL) == CUDA_ERROR_FILE_NOT_FOUND ? 0 : 1);
    int status = -1;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
    uint64_t start = cushim_clock_ns();
    EXPECT(start > 0 && cushim_clock_ns() >= start);
    puts(cushim_diagnosis_get()->message);
    return failures;
}
