/* SPDX-License-Identifier: MIT */
/*
 * Prints what a copy of cushim answers about a driver: the diagnosis, and for each named slot its state and lookups.
 * A subset must print the same as the whole library.
 *
 *   answers SLOT...
 */
#include <stdio.h>
#include <string.h>

#include "cushim.h"

static const char *text(const char *string)
{
    return string != NULL ? string : "NULL";
}

static void print_diagnosis(void)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("%s %d %d %s\n%s\n%s\n", diagnosis->reason_name, (int)diagnosis->code, diagnosis->cuda_version,
           text(diagnosis->path), diagnosis->message, diagnosis->advice);
    for (size_t i = 0; i < diagnosis->attempt_count; i++)
        printf("  %s: %s\n", diagnosis->attempts[i].path, diagnosis->attempts[i].result);
    for (size_t i = 0; i < diagnosis->variable_count; i++)
        printf("  %s=%s %d\n", diagnosis->variables[i].name, diagnosis->variables[i].value,
               diagnosis->variables[i].is_used);
}

static void print_slot(const char *name, enum cushim_slot slot, enum cushim_default_stream kind)
{
    struct cushim_slot_info info;
    const char *unmet = NULL;
    CUresult result = cushim_slot_get_info(slot, kind, &info);
    printf("%s %d: %d %s %s %d, state %d, symbol %s, via", name, (int)kind, (int)result, info.name, info.function,
           info.since, (int)info.state, text(info.symbol));
    for (size_t i = 0; i < info.via_count; i++) {
        struct cushim_slot_info via;
        cushim_slot_get_info(info.via[i], kind, &via);
        printf(" %s", via.name);
    }
    result = cushim_require(&name, 1, kind, &unmet);
    printf("; require %d %s\n", (int)result, result != CUDA_SUCCESS ? cushim_error_last()->message : "");
}

static void print_lookups(const char *function, enum cushim_default_stream kind)
{
    static const int versions[] = {0, 2000, 3020, 6050, 7000, 9000, 10000, 11030, 12000, 12030, 13000, 13050};
    for (size_t i = 0; i < sizeof versions / sizeof versions[0]; i++) {
        struct cushim_lookup_answer answer;
        cushim_fn fn = NULL;
        CUresult result = cushim_lookup(function, versions[i], kind, &fn);
        printf("  look up %s %d: %d %s %s", function, versions[i], (int)result, text(cushim_symbol_name(fn)),
               result != CUDA_SUCCESS ? cushim_error_last()->message : "");
        result = cushim_lookup_explain(function, versions[i], kind, &answer);
        printf(" (%d, %d, %s, %d)\n", (int)result, (int)answer.status, text(answer.function), answer.since);
    }
}

static void print_proc_address(const char *function, int version)
{
    void *found = NULL;
    cushim_fn fn;
    CUresult result = cushim_table()->GetProcAddress_v1(function, &found, version, 0);
    memcpy(&fn, &found, sizeof fn);
    printf("  cuGetProcAddress %s %d: %d %s\n", function, version, (int)result, text(cushim_symbol_name(fn)));
}

/* A subset has the texts of the codes that cushim returns. Those of other codes come from the driver. */
static void print_codes(void)
{
    static const CUresult own[] = {
        CUDA_SUCCESS,         CUDA_ERROR_INVALID_VALUE,  CUDA_ERROR_NOT_INITIALIZED,
        CUDA_ERROR_NO_DEVICE, CUDA_ERROR_FILE_NOT_FOUND, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
        CUDA_ERROR_NOT_FOUND, CUDA_ERROR_NOT_PERMITTED,  CUDA_ERROR_NOT_SUPPORTED,
        CUDA_ERROR_UNKNOWN};
    const char *name = NULL;
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        CUresult result = cushim_table()->GetErrorName_v1(own[i], &name);
        printf("%d: %d %s, %s\n", (int)own[i], (int)result, text(name), cushim_error_string(own[i]));
    }
    for (int code = 0; code < 1100 && cushim_driver_version() != 0; code++) {
        CUresult result = cushim_table()->GetErrorName_v1((CUresult)code, &name);
        printf("%d: %d %s\n", code, (int)result, result == CUDA_SUCCESS ? name : "");
    }
}

int main(int count, char **names)
{
    int version = -1, devices = -1;
    printf("load %d\n", (int)cushim_load(NULL));
    print_diagnosis();
    CUresult result = cushim_table()->DriverGetVersion_v1(&version);
    printf("version %d %d %d\n", (int)result, version, cushim_driver_version());
    for (int i = 1; i < count; i++) {
        enum cushim_slot slot;
        struct cushim_slot_info info;
        if (cushim_slot_find(names[i], &slot) != CUDA_SUCCESS)
            return 1;
        cushim_slot_get_info(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
        for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
            print_slot(names[i], slot, (enum cushim_default_stream)kind);
            print_lookups(info.function, (enum cushim_default_stream)kind);
        }
        print_proc_address(info.function, 12000);
        printf("  symbol %s\n", text(cushim_symbol_name(cushim_symbol(info.function))));
    }
    result = cushim_init();
    printf("init %d %s\n", (int)result, result != CUDA_SUCCESS ? cushim_error_last()->message : "");
    print_diagnosis();
    result = cushim_table()->DeviceGetCount_v1(&devices);
    printf("devices %d %d\n", (int)result, devices);
    print_codes();
    return 0;
}
