/* SPDX-License-Identifier: MIT */
/*
 * polyfill_scenes - runs scenarios on a GPU and prints each answer. The script `compare` compares the output of several
 * runs.
 *
 *   polyfill_scenes [SCENE...]    these, or all but the risky ones and "fault" and "primary_end", which end the context
 *   polyfill_scenes risky N       the N'th risky call and those after it
 *
 * It first prints a line "state SLOT STATE" for each slot, and "risky COUNT". CUSHIM_HIDE and CUSHIM_MAX_VERSION select
 * the hidden functions. Exit status: 0 success, 1 the setup of a scenario failed, 77 no GPU.
 */
#include "scene.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stage stage;

static const struct {
    const char *name;
    void (*play)(void);
    bool spoils; /* it makes the common objects unusable, so it runs only on request */
} scenes[] = {
    {"context", scene_context, false},
    {"create", scene_create, false},
    {"primary", scene_primary, false},
    {"stream", scene_stream, false},
    {"event", scene_event, false},
    {"info_idle", scene_info_idle, false},
    {"info_capture", scene_info_capture, false},
    {"info_legacy", scene_info_legacy, false},
    {"info_invalid", scene_info_invalid, false},
    {"update", scene_update, false},
    {"graph", scene_graph, false},
    {"instantiate", scene_instantiate, false},
    {"edges", scene_edges, false},
    {"green", scene_green, false},
    {"host", scene_host, false},
    {"function", scene_function, false},
    {"fault", scene_fault, true},
    {"primary_end", scene_primary_end, true},
};
enum { SCENE_COUNT = sizeof scenes / sizeof scenes[0] };

static const char *scene_playing = "";

static struct {
    const void *handle;
    const char *name;
} names[64];
static size_t name_count;
static const void *strangers[16];
static size_t stranger_count;

void scene_name(const void *handle, const char *name)
{
    size_t i = 0;
    while (i < name_count && names[i].handle != handle)
        i++;
    if (i == sizeof names / sizeof names[0])
        exit(1);
    names[i].handle = handle;
    names[i].name = name;
    if (i == name_count)
        name_count++;
}

const char *scene_name_of(const void *handle)
{
    static const char *const numbers[] = {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11"};
    if (handle == NULL)
        return "NULL";
    if (handle == UNTOUCHED_POINTER)
        return "untouched";
    for (size_t i = 0; i < name_count; i++) {
        if (names[i].handle == handle)
            return names[i].name;
    }
    size_t i = 0;
    while (i < stranger_count && strangers[i] != handle)
        i++;
    if (i == sizeof numbers / sizeof numbers[0])
        return "x?";
    strangers[i] = handle;
    if (i == stranger_count)
        stranger_count++;
    return numbers[i];
}

void scene_step(enum cushim_slot slot, const char *step, CUresult code, const char *format, ...)
{
    struct cushim_slot_info info;
    cushim_query_slot(slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
    printf("step\t%s.%s\t%s\t%d\t", scene_playing, step, info.name, (int)code);
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
    printf("\n");
    fflush(stdout);
    stranger_count = 0;
}

void scene_must(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    printf("broken\t%s\t%s\t%d\n", scene_playing, what, (int)result);
    exit(1);
}

const char *scene_current(void)
{
    CUcontext context = NULL;
    MUST(TABLE->CtxGetCurrent_v1(&context));
    return scene_name_of(context);
}

void scene_enter(CUcontext context)
{
    MUST(TABLE->CtxSetCurrent_v1(context));
}

void scene_block(CUstream stream)
{
    MUST(TABLE->MemsetD32Async_v1(stage.memory, 0, 1, stage.c));
    MUST(TABLE->StreamSynchronize_v1(stage.c)); /* otherwise the callback might run after the release */
    MUST(stage.wait_value(stream, stage.memory, 1, CU_STREAM_WAIT_VALUE_GEQ));
}

void scene_release(void)
{
    MUST(TABLE->MemsetD32Async_v1(stage.memory, 1, 1, stage.c));
    MUST(TABLE->StreamSynchronize_v1(stage.c));
}

void scene_begin(CUstream stream)
{
    MUST(TABLE->StreamBeginCapture_v1(stream));
}

void scene_end(enum cushim_slot slot, const char *step, CUstream stream)
{
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)UNTOUCHED;
    CUgraph graph = UNTOUCHED_POINTER;
    CUresult asked = TABLE->StreamIsCapturing_v1(stream, &status);
    CUresult ended = TABLE->StreamEndCapture_v1(stream, &graph);
    bool has_graph = graph != NULL && graph != UNTOUCHED_POINTER;
    scene_step(slot, step, ended, "before the end %d with status %d; graph %s", (int)asked, (int)status,
               has_graph ? "given" : scene_name_of(graph));
    if (has_graph)
        TABLE->GraphDestroy_v1(graph);
}

void scene_add_node(CUstream stream)
{
    MUST(TABLE->MemsetD8Async_v1(stage.memory + 64, 1, 4, stream));
}

const char scene_kernels[] = ".version 6.0\n.target sm_52\n.address_size 64\n"
                             ".visible .entry nothing()\n{\n ret;\n}\n"
                             ".visible .entry two(.param .u64 one, .param .u8 other)\n{\n ret;\n}\n"
                             ".visible .entry fault()\n{\n .reg .u64 %a;\n .reg .u32 %v;\n mov.u64 %a, 16;\n"
                             " mov.u32 %v, 1;\n st.global.u32 [%a], %v;\n ret;\n}\n";

CUfunction scene_kernel(const char *name)
{
    CUmodule module;
    CUfunction function;
    if (TABLE->ModuleLoadData_v1(&module, scene_kernels) != CUDA_SUCCESS
        || TABLE->ModuleGetFunction_v1(&function, module, name) != CUDA_SUCCESS)
        return NULL;
    return function;
}

static void print_states(void)
{
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
        static const char *const states[] = {"missing", "native", "polyfill", "adapted"};
        struct cushim_slot_info info;
        cushim_query_slot((enum cushim_slot)slot, CUSHIM_DEFAULT_STREAM_LEGACY, &info);
        printf("state\t%s\t%s\n", info.name, states[info.state]);
    }
    printf("risky\t%d\n", scene_risky_count);
    fflush(stdout); /* a driver may fork */
}

static void set_stage(void)
{
    CUcontext popped;
    void *library = dlopen(cushim_get_diagnosis()->path, RTLD_NOW);
    void *wait_value = library != NULL ? dlsym(library, "cuStreamWaitValue32_v2") : NULL;
    scene_must(wait_value != NULL ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND, "cuStreamWaitValue32_v2");
    memcpy(&stage.wait_value, &wait_value, sizeof wait_value);
    stage.table = cushim_table();
    MUST(TABLE->DeviceGet_v1(&stage.device, 0));
    MUST(TABLE->DevicePrimaryCtxRetain_v1(&stage.primary, stage.device));
    MUST(TABLE->CtxCreate_v2(&stage.second, 0, stage.device));
    MUST(TABLE->CtxPopCurrent_v2(&popped));
    scene_enter(stage.primary);
    MUST(TABLE->StreamCreate_v1(&stage.a, CU_STREAM_NON_BLOCKING));
    MUST(TABLE->StreamCreate_v1(&stage.b, CU_STREAM_NON_BLOCKING));
    MUST(TABLE->StreamCreate_v1(&stage.c, CU_STREAM_NON_BLOCKING));
    MUST(TABLE->StreamCreate_v1(&stage.blocking, CU_STREAM_DEFAULT));
    MUST(TABLE->MemAlloc_v2(&stage.memory, 4096));
    scene_name(stage.primary, "primary");
    scene_name(stage.second, "second");
}

static void play(size_t number)
{
    scene_playing = scenes[number].name;
    scenes[number].play();
    scene_enter(stage.primary);
}

/* A risky call may end the process, so its name is printed before the call. */
static void play_risky(int number)
{
    printf("next\t%d\n", number);
    fflush(stdout);
    scene_risky(number);
    scene_enter(stage.primary);
}

int main(int argc, char **argv)
{
    CUresult result = cushim_init();
    if (result != CUDA_SUCCESS) {
        printf("none\t%d\t%s\n", (int)result, cushim_get_diagnosis()->message);
        return 77;
    }
    print_states();
    set_stage();
    if (argc == 3 && strcmp(argv[1], "risky") == 0) {
        scene_playing = "risky";
        for (int number = atoi(argv[2]); number < scene_risky_count; number++)
            play_risky(number);
        return 0;
    }
    for (size_t i = 0; i < SCENE_COUNT; i++) {
        bool wanted = argc == 1 && !scenes[i].spoils;
        for (int j = 1; j < argc; j++)
            wanted = wanted || strcmp(argv[j], scenes[i].name) == 0;
        if (wanted)
            play(i);
    }
    return 0;
}
