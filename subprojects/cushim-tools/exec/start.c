/* SPDX-License-Identifier: MIT */
/*
 * The start of a libcuda.so.1. The driver is loaded when the dynamic loader initialises the library, as a driver is
 * there when it is opened: afterwards the exports are those of the driver behind it, under the version limit and
 * without the hidden functions.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* strsep */
#endif
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "cushim/diagnosis.h"
#include "cushim/error.h"
#include "layer.h"
#include "load.h"
#include "os.h"
#include "quiet_text.h"
#include "start.h"
#include "version.h"

static CUresult not_started(void)
{
    return CUDA_ERROR_NOT_INITIALIZED;
}

/* clang-format off */
const union table cushim_exec_not_started = {.slots = {
#define CUSHIM_ENTRY(function, abi, since, params, args) (cushim_fn)not_started,
#include "cushim/entry_points.h"
}};
/* clang-format on */

struct exported_name {
    const char *name;
    enum cushim_default_stream kind;
    enum cushim_slot slot; /* CUSHIM_SLOT_COUNT: it has none */
    size_t index;          /* in the loader's list; ENTRY_COUNT: it has none */
    int without_slot;      /* its number, or NO_NUMBER */
};

enum { NO_NUMBER = -1 };

static const struct exported_name exported_names[] = {
#define KIND_legacy CUSHIM_DEFAULT_STREAM_LEGACY
#define KIND_per_thread CUSHIM_DEFAULT_STREAM_PER_THREAD
#define CUSHIM_EXPORT(symbol, kind, function, abi, params, args)                                                       \
    {#symbol, KIND_##kind, CUSHIM_SLOT_##function##_##abi, ENTRY_##function##_##abi, NO_NUMBER},
#define CUSHIM_EXPORT_WITHOUT_SLOT(symbol)                                                                             \
    {#symbol, KIND_legacy, CUSHIM_SLOT_COUNT, ENTRY_COUNT, EXEC_WITHOUT_SLOT_##symbol},
#include "lists/exports.inc"
};

static bool is_quiet;

static void report_no_driver(const char *why)
{
    if (!is_quiet)
        quiet_print(STDERR_FILENO, "cushim: exec: this program has no driver. %s\n", why);
}

/* A program that gets the text of an error from the CUDA runtime, or prints only a number, does not show the reason.
 * Diagnoses that are equal are one object, so a program that tries again every second shows it once. */
static void report_no_start(const struct cushim_diagnosis *diagnosis)
{
    static const struct cushim_diagnosis *reported;
    if (CUSHIM_EXCHANGE(&reported, diagnosis) != diagnosis)
        quiet_print(STDERR_FILENO, "cushim: exec: CUDA cannot be used by this program. %s %s\n", diagnosis->message,
                    diagnosis->advice);
}

/* The variables of the program's own cushim do not apply here. */
static void load(void)
{
    struct exec_settings settings = exec_settings_read();
    struct cushim_load_options options = {
        .path = settings.driver,
        .max_version = settings.max_version != NULL ? cush_version_parse(settings.max_version) : 0,
        .hide = settings.hide,
    };
    /* Without settings (a child with another environment): the known paths, because the plain name is ours. */
    if (options.path == NULL)
        options.root = "/";
    /* `cushim exec` has installed these layers before; so a failure means that a file is gone. */
    exec_notes_start(settings.notes);
    exec_image_find(settings.images);
    is_quiet = settings.quiet != NULL;
    if (exec_proc_address_install() != CUDA_SUCCESS || exec_device_code_install() != CUDA_SUCCESS
        || (settings.layers != NULL && cush_layer_add_objects(settings.layers) != CUDA_SUCCESS)) {
        report_no_driver(cushim_error_last()->message);
        options = (struct cushim_load_options){.path = "none"};
    }
    if (!is_quiet)
        cush_start_on_failure = report_no_start;
    (void)cush_load_without_environment(&options);
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    if (settings.driver != NULL && diagnosis->reason != CUSHIM_REASON_NONE
        && diagnosis->reason != CUSHIM_REASON_NOT_WANTED)
        report_no_driver(diagnosis->message);
    free(settings.copy); /* LeakSanitizer would report it as a leak of the program */
}

/* Connects an exported name with the driver's function, or hides it if this driver does not have it. */
static void adopt(struct exec_names *names, void *library, const struct exported_name *exported)
{
    const struct driver *driver = &cush_loaded_driver;
    cushim_fn driver_fn = cush_os_library_symbol(driver->library, exported->name);
    cushim_fn own_fn = library != NULL ? cush_os_library_symbol(library, exported->name) : NULL;
    bool allowed = exported->index == ENTRY_COUNT || cush_resolve_allows(driver, exported->index);
    if (driver_fn == NULL || !allowed) {
        names->hide(exported->name);
        return;
    }
    if (exported->without_slot != NO_NUMBER)
        names->without_slot[exported->without_slot] = driver_fn;
    if (own_fn != NULL)
        exec_proc_address_add(own_fn, driver_fn, exported->kind, exported->slot);
}

/* The program prints what it prints without exec: the text of an error is the driver's, and not ours of its cause. */
static void keep_error_texts(union table tables[CUSHIM_DEFAULT_STREAM_COUNT])
{
    cushim_fn own = cush_os_library_symbol(cush_loaded_driver.library, "cuGetErrorString");
    for (size_t kind = 0; own != NULL && kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++)
        tables[kind].slots[CUSHIM_SLOT_GetErrorString_v1] = own;
}

/* A process starts a second libcuda.so.1 only if it opens one by its path. */
void cushim_exec_start(struct exec_names *names)
{
    static union table tables[CUSHIM_DEFAULT_STREAM_COUNT];
    static bool has_tables;
    char path[OS_PATH_SIZE];
    if (!has_tables)
        load();
    if (cush_load_has_succeeded()) {
        cush_os_library_path(NULL, (cushim_fn)names->hide, path, sizeof path);
        void *library = cush_os_library_open_mapped(path);
        for (size_t i = 0; i < sizeof exported_names / sizeof exported_names[0]; i++)
            adopt(names, library, &exported_names[i]);
        names->softcuda_control =
            (softcuda_control_fn)cush_os_library_symbol(cush_loaded_driver.library, SOFTCUDA_CONTROL_SYMBOL);
    }
    if (names->softcuda_control == NULL)
        names->hide(SOFTCUDA_CONTROL_SYMBOL);
    if (!has_tables) {
        tables[CUSHIM_DEFAULT_STREAM_LEGACY].named = *cushim_table_legacy();
        tables[CUSHIM_DEFAULT_STREAM_PER_THREAD].named = *cushim_table_per_thread();
        if (is_quiet && cush_load_has_succeeded())
            keep_error_texts(tables);
        exec_proc_address_sort();
        has_tables = true;
    }
    names->legacy = &tables[CUSHIM_DEFAULT_STREAM_LEGACY];
    names->per_thread = &tables[CUSHIM_DEFAULT_STREAM_PER_THREAD];
}
