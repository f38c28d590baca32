/* SPDX-License-Identifier: MIT */
/*
 * The start of our libcuda.so.1. It loads the driver when the dynamic loader initialises it, as a driver is there when
 * it is opened: afterwards the exports are those of the driver behind it, under the version limit and without the
 * hidden functions.
 */
#include <string.h>

#include "driver.h"
#include "exports.h"
#include "hide_name.h"
#include "layer.h"
#include "layered.h"
#include "load.h"
#include "os_library.h"
#include "proc_address.h"
#include "resolve.h"
#include "settings.h"
#include "version.h"

/* `cushim exec` has installed these layers before; so a failure means that a file is gone. Then there is no driver. */
static bool add_layers(char *list)
{
    bool added = true;
    for (char *path = list; path != NULL && added;) {
        char *end = strchr(path, ':');
        if (end != NULL)
            *end++ = '\0';
        added = path[0] == '\0' || cush_layer_add_object(path) == CUDA_SUCCESS;
        path = end;
    }
    return added;
}

/* The variables of the program's own cushim do not apply here. */
static void shim_load(const struct exec_settings *settings)
{
    struct cushim_load_options options = {
        .path = settings->driver,
        .max_version = settings->max_version != NULL ? cush_version_parse(settings->max_version) : 0,
        .hide = settings->hide,
    };
    /* Without settings (a child with another environment): the known paths, because the plain name is ours. */
    if (options.path == NULL)
        options.root = "/";
    if (!add_layers(settings->layers))
        options = (struct cushim_load_options){.path = "none"};
    (void)cush_load_without_environment(&options);
}

static void shim_adopt(const struct exec_export *export)
{
    const struct driver *driver = &cush_loaded_driver;
    cushim_fn driver_fn = cush_os_library_symbol(driver->library, export->name);
    bool allowed = export->row == ROW_COUNT || cush_resolve_allows(driver, export->row);
    if (driver_fn == NULL || !allowed) {
        exec_hide_name(export->name);
        return;
    }
    if (export->driver_fn != NULL)
        *export->driver_fn = driver_fn;
    exec_proc_address_add(driver_fn, export->function);
}

void cushim_exec_start(void);
void cushim_exec_start(void)
{
    struct exec_settings settings = exec_settings_read();
    shim_load(&settings);
    if (!cush_layered_has_driver())
        return;
    for (size_t i = 0; i < exec_export_count; i++)
        shim_adopt(&exec_exports[i]);
    exec_proc_address_sort();
}
