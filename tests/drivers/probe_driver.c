/* SPDX-License-Identifier: MIT */
/*
 * probe_driver - prints everything that cushim reports about one driver, and what the driver itself reports, as lines
 * of tab-separated words. It judges nothing; the script `suite` does.
 *
 *   probe_driver [--path FILE] [--handle FILE] [--max-version N] [--hide LIST] [--per-thread] [--own] [--names FILE]
 *                [--watch | --watch-init]
 *
 *   --handle      opens FILE itself and passes the handle to cushim
 *   --per-thread  examines the table for per-thread default streams
 *   --own         also calls the driver's own cuGetProcAddress
 *   --names       looks up each of these names, one per line, at the newest version
 *   --watch       ends with WATCH_STATUS if the load creates a thread or a process or opens a device node
 *   --watch-init  ends with WATCH_STATUS if anything calls cuInit
 *
 * Lines ("-" is nothing, an address is 0x...):
 *   load      code reason path own_version version
 *   driver    code version                          the library's own cuDriverGetVersion; "-" if it has none
 *   count     code number                           cuDeviceGetCount, through the slot; -1: nothing was written
 *   version   code version                          through the slot
 *   init      address                               the driver's cuInit, from which the load address follows
 *   side      what before after                     threads, descriptors
 *   slot      name function since state symbol address require via,via
 *   both      name legacy_address per_thread_address   where a slot points in each of the tables
 *   row       function since symbol per_thread_symbol
 *   lookup    function version code address symbol
 *   name      name code address
 *   own       signature flags function version code address status      the driver's own cuGetProcAddress
 *   through   signature flags function version code address status      the same through the slot
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/cushim.h"
#include "probe_watch.h"

typedef CUresult(CUDAAPI *get_version_fn)(int *);
typedef CUresult(CUDAAPI *ask_v1_fn)(const char *, void **, int, cuuint64_t);
typedef CUresult(CUDAAPI *ask_v2_fn)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

/* A value that no function writes. */
#define UNTOUCHED ((void *)8)

static const char *const states[] = {"missing", "native", "polyfill", "adapted"};

/* The table that is asked about. */
static enum cushim_default_stream kind = CUSHIM_DEFAULT_STREAM_LEGACY;

static const struct cushim_dispatch_table *table(void)
{
    return kind == CUSHIM_DEFAULT_STREAM_LEGACY ? cushim_table_legacy() : cushim_table_per_thread();
}

static const char *text(const char *string)
{
    return string != NULL && string[0] != '\0' ? string : "-";
}

static cushim_fn function_at(void *address)
{
    cushim_fn fn;
    memcpy(&fn, &address, sizeof fn);
    return fn;
}

static void print_address(cushim_fn fn)
{
    void *address;
    memcpy(&address, &fn, sizeof address);
    if (address == UNTOUCHED)
        printf("\tuntouched");
    else
        printf("\t0x%jx", (uintmax_t)(uintptr_t)address);
}

static void print_slot(enum cushim_slot slot, cushim_fn fn)
{
    struct cushim_slot_info info;
    if (cushim_slot_get_info(slot, kind, &info) != CUDA_SUCCESS)
        exit(1);
    printf("slot\t%s\t%s\t%d\t%s\t%s", info.name, info.function, info.since, states[info.state], text(info.symbol));
    print_address(fn);
    printf("\t%d\t%s", (int)cushim_require(&(const char *){info.name}, 1, kind, NULL), info.via_count == 0 ? "-" : "");
    for (size_t i = 0; i < info.via_count; i++) {
        struct cushim_slot_info via;
        cushim_slot_get_info(info.via[i], kind, &via);
        printf("%s%s", i == 0 ? "" : ",", via.name);
    }
    printf("\n");
}

static void print_slots(void)
{
    const struct cushim_dispatch_table *current = table();
#define CUSHIM_ENTRY(function, abi, since, params, args)                                                               \
    print_slot(CUSHIM_SLOT_##function##_##abi, (cushim_fn)current->function##_##abi);
#include "cushim/entry_points.h"
}

/* Slots that a lookup answers with the function of the table that belongs to its kind. */
static void print_both(void)
{
    const struct cushim_dispatch_table *legacy = cushim_table_legacy(), *per_thread = cushim_table_per_thread();
#define PRINT_BOTH(slot)                                                                                               \
    printf("both\t" #slot);                                                                                            \
    print_address((cushim_fn)legacy->slot);                                                                            \
    print_address((cushim_fn)per_thread->slot);                                                                        \
    printf("\n")
    PRINT_BOTH(GetProcAddress_v1);
    PRINT_BOTH(GetProcAddress_v2);
    PRINT_BOTH(DriverGetVersion_v1);
    PRINT_BOTH(Init_v1);
    PRINT_BOTH(GetErrorString_v1);
}

static void print_lookup(const char *function, int version)
{
    cushim_fn fn = function_at(UNTOUCHED);
    CUresult result = cushim_lookup(function, version, kind, &fn);
    printf("lookup\t%s\t%d\t%d", function, version, (int)result);
    print_address(fn);
    printf("\t%s\n", result == CUDA_SUCCESS ? text(cushim_symbol_name(fn)) : "-");
}

/* Calls a cuGetProcAddress of either signature. */
static void print_answer(const char *who, ask_v1_fn v1, ask_v2_fn v2, cuuint64_t flags, const char *function,
                         int version)
{
    void *address = UNTOUCHED;
    int status = -1;
    CUresult result = CUDA_ERROR_UNKNOWN;
    if (v2 != NULL) {
        CUdriverProcAddressQueryResult answer = CU_GET_PROC_ADDRESS_SUCCESS;
        result = v2(function, &address, version, flags, &answer);
        status = (int)answer;
    } else {
        result = v1(function, &address, version, flags);
    }
    printf("%s\t%d\t%d\t%s\t%d\t%d", who, v2 != NULL ? 2 : 1, (int)flags, function, version, (int)result);
    print_address(function_at(address));
    printf("\t%d\n", status);
}

static bool is_available(enum cushim_slot slot)
{
    struct cushim_slot_info info;
    return cushim_slot_get_info(slot, kind, &info) == CUDA_SUCCESS && info.state != CUSHIM_STATE_MISSING;
}

/* The driver's own cuGetProcAddress. */
struct own {
    ask_v1_fn v1;
    ask_v2_fn v2;
};

static void print_own_answers(const char *function, int version, cuuint64_t flags, const struct own *own)
{
    const struct cushim_dispatch_table *current = table();
    if (own->v1 != NULL)
        print_answer("own", own->v1, NULL, flags, function, version);
    if (own->v2 != NULL)
        print_answer("own", NULL, own->v2, flags, function, version);
    if (is_available(CUSHIM_SLOT_GetProcAddress_v1))
        print_answer("through", current->GetProcAddress_v1, NULL, flags, function, version);
    if (is_available(CUSHIM_SLOT_GetProcAddress_v2))
        print_answer("through", NULL, current->GetProcAddress_v2, flags, function, version);
}

/* All versions at which the result for this row could change: its own, the one before, and the driver's. */
static void print_row(const struct cushim_entry_point *row, const struct own *own)
{
    const char *ending = row->per_thread_ending;
    printf("row\t%s\t%d\t%s\t%s%s\n", row->function, row->since, row->symbol, ending[0] != '\0' ? row->symbol : "-",
           ending);
    int newest = cushim_driver_version();
    print_lookup(row->function, row->since - 1);
    print_lookup(row->function, row->since);
    print_lookup(row->function, newest);
    print_lookup(row->function, newest + 10);

    for (cuuint64_t flags = 0; flags <= 2; flags++)
        print_own_answers(row->function, row->since, flags, own);
    if (row->since < 7000) /* the version with the first per-thread variants */
        print_own_answers(row->function, 7000, 2, own);
}

/* Looks up any names, such as all exports of the driver. */
static bool print_names(const char *path, const struct own *own)
{
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    int version = cushim_driver_version();
    cuuint64_t flags = kind == CUSHIM_DEFAULT_STREAM_PER_THREAD ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                                                                : CU_GET_PROC_ADDRESS_LEGACY_STREAM;
    char name[256];
    while (fgets(name, sizeof name, file) != NULL) {
        name[strcspn(name, "\n")] = '\0';
        cushim_fn fn = function_at(UNTOUCHED);
        CUresult result = cushim_lookup(name, version, kind, &fn);
        printf("name\t%s\t%d", name, (int)result);
        print_address(fn);
        printf("\n");
        if (own->v2 != NULL)
            print_answer("own", NULL, own->v2, flags, name, version);
        else if (own->v1 != NULL)
            print_answer("own", own->v1, NULL, flags, name, version);
    }
    fclose(file);
    return true;
}

/* Whether the library is a driver by its own cuDriverGetVersion. */
static bool print_own_version(void *library)
{
    int version = 0;
    get_version_fn get_version = NULL;
    if (library != NULL)
        get_version = (get_version_fn)function_at(dlsym(library, "cuDriverGetVersion"));
    if (get_version == NULL) {
        printf("driver\t-\t-\n");
        return false;
    }
    CUresult result = get_version(&version);
    printf("driver\t%d\t%d\n", (int)result, version);
    return result == CUDA_SUCCESS;
}

static void print_calls(void)
{
    int number = -1;
    CUresult result = table()->DriverGetVersion_v1(&number);
    printf("version\t%d\t%d\n", (int)result, number);
    number = -1;
    result = table()->DeviceGetCount_v1(&number);
    printf("count\t%d\t%d\n", (int)result, number);
}

static void load(const struct cushim_load_options *options)
{
    int threads = watch_count_threads();
    int descriptors = watch_count_descriptors();
    CUresult result = cushim_load(options);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    printf("load\t%d\t%s\t%s\t%d\t%d\n", (int)result, diagnosis->reason_name, text(diagnosis->path),
           diagnosis->cuda_version, cushim_driver_version());
    printf("side\tthreads\t%d\t%d\n", threads, watch_count_threads());
    printf("side\tdescriptors\t%d\t%d\n", descriptors, watch_count_descriptors());
}

/* Opens a library before cushim does. */
static void *open_library(const char *path)
{
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        fprintf(stderr, "%s\n", dlerror());
        exit(2);
    }
    return library;
}

int main(int argc, char **argv)
{
    static const struct option names[] = {
        {"path", required_argument, NULL, 'p'},
        {"handle", required_argument, NULL, 'h'},
        {"max-version", required_argument, NULL, 'c'},
        {"hide", required_argument, NULL, 'm'},
        {"per-thread", no_argument, NULL, 't'},
        {"names", required_argument, NULL, 'n'},
        {"own", no_argument, NULL, 'o'},
        {"watch", no_argument, NULL, 'w'},
        {"watch-init", no_argument, NULL, 'i'},
        {NULL, 0, NULL, 0},
    };
    struct cushim_load_options options = {0};
    const char *names_path = NULL;
    bool asks_own = false;
    bool watch = false;
    bool watch_init = false;
    for (int option; (option = getopt_long(argc, argv, "", names, NULL)) != -1;) {
        switch (option) {
        case 'p':
            options.path = optarg;
            break;
        case 'h':
            options.handle = open_library(optarg);
            break;
        case 'c':
            options.max_version = atoi(optarg);
            break;
        case 'm':
            options.hide = optarg;
            break;
        case 't':
            kind = CUSHIM_DEFAULT_STREAM_PER_THREAD;
            break;
        case 'o':
            asks_own = true;
            break;
        case 'n':
            names_path = optarg;
            break;
        case 'w':
            watch = true;
            break;
        case 'i':
            watch_init = true;
            break;
        default:
            return 2;
        }
    }
    if (watch && !watch_system_calls())
        printf("side\tunwatched\t0\t0\n");
    if (watch_init && options.path != NULL && !watch_function(dlsym(open_library(options.path), "cuInit"), "cuInit"))
        printf("side\tunwatched\t0\t0\n");

    load(&options);
    print_calls();
    print_slots();
    print_both();
    bool loaded = cushim_driver_version() != 0;
    const char *path = loaded ? cushim_diagnosis_get()->path : options.path;
    void *library = path != NULL ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!print_own_version(library) || !loaded)
        return 0;

    printf("init");
    print_address(function_at(dlsym(library, "cuInit")));
    printf("\n");
    struct own own = {NULL, NULL};
    if (asks_own) {
        own.v1 = (ask_v1_fn)function_at(dlsym(library, "cuGetProcAddress"));
        own.v2 = (ask_v2_fn)function_at(dlsym(library, "cuGetProcAddress_v2"));
    }
    struct cushim_entry_point row;
    for (size_t i = 0; cushim_entry_point_get_info(i, &row) == CUDA_SUCCESS; i++)
        print_row(&row, &own);
    return names_path == NULL || print_names(names_path, &own) ? 0 : 1;
}
