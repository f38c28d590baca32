/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <stdio.h>
#include <string.h>

#include "driver.h"
#include "error.h"
#include "find_driver.h"
#include "layer.h"
#include "log.h"
#include "os.h"
#include "request.h"
#include "start.h"
#include "tables.h"

/* Guarded by the load lock. */
static struct {
    bool loaded;
    bool handle_is_ours;
    bool has_opened_layers;            /* those of CUSHIM_LAYERS, which stay if the load then fails */
    struct request request;            /* the request of the loaded driver; its strings are the last two members */
    struct diagnosis_builder *builder; /* of the load under way */
    char path[OS_PATH_SIZE];
    char root[OS_PATH_SIZE];
} loading;

static const char load_name[] = "cushim_load";

static void load_publish_tables(void)
{
    cush_table_set_current(cush_layer_stack_top(CUSHIM_DEFAULT_STREAM_LEGACY),
                           cush_layer_stack_top(CUSHIM_DEFAULT_STREAM_PER_THREAD));
}

/* In this order no thread sees a diagnosis of success with a table that is not the driver's, nor the null driver
 * without its reason. If a layer cannot be installed on the null driver, that table is current without layers. */
static const struct cushim_diagnosis *load_publish(void)
{
    struct layer_failure ignored;
    cush_table_set_loaded(loading.loaded);
    if (loading.loaded)
        load_publish_tables();
    const struct cushim_diagnosis *diagnosis = cush_diagnosis_publish(loading.builder);
    if (loading.loaded)
        return diagnosis;
    if (cush_layer_stack_build(false, &ignored))
        load_publish_tables();
    else
        cush_table_set_current(cush_null_driver_table(), cush_null_driver_table());
    return diagnosis;
}

/* A program must not run without a layer that was asked for, such as a limit. */
static bool fail_layers(const struct layer_failure *failure)
{
    cush_diagnosis_set_outcome(loading.builder, CUSHIM_REASON_BAD_LAYER, failure->code, "%s", failure->message);
    return false;
}

static bool load_open_layers(const struct request *request)
{
    struct layer_failure failure;
    size_t count;
    if (!loading.has_opened_layers && !cush_layer_stack_push_objects(request->layers, &count, &failure))
        return fail_layers(&failure);
    loading.has_opened_layers |= request->layers[0] != '\0';
    return true;
}

static bool load_install_layers(void)
{
    struct layer_failure failure;
    return cush_layer_stack_build(true, &failure) || fail_layers(&failure);
}

/* Loads under the lock; whatever comes of it, the current tables are not the bootstrap ones afterwards. */
static const struct cushim_diagnosis *load_locked(const struct request *request, bool wants_driver_log)
{
    struct driver driver;
    if (!cush_search_driver(request, &driver, loading.builder))
        return load_publish();
    driver.root = strcpy(loading.root, request->root);
    cush_table_fill(&driver);
    loading.handle_is_ours = request->handle == NULL;
    loading.loaded =
        load_install_layers(); /* if not, the library stays open: a layer may already have called into the driver */
    if (loading.loaded) {
        loading.request = *request;
        loading.request.layers = "";
        loading.request.path = strcpy(loading.path, request->path);
        loading.request.root = loading.root;
        if (wants_driver_log)
            cush_driver_log_register();
    }
    return load_publish();
}

/* A load when a driver is loaded already. */

static bool load_is_same_library(const struct request *wish)
{
    if (wish->handle != NULL)
        return wish->handle == cush_loaded_driver.library;
    if (wish->path[0] == '\0' || strcmp(wish->path, loading.request.path) == 0)
        return true;
    void *library = cush_os_library_open_mapped(wish->path);
    if (library != NULL)
        cush_os_library_close(library);
    return library == cush_loaded_driver.library;
}

/* Returns the first difference of the loaded driver from the request ("has a different root"), or NULL. */
static const char *load_find_difference(const struct request *wish)
{
    const struct request *have = &loading.request;
    int own_version = cush_loaded_driver.own_version;
    int version = wish->max_version < own_version ? wish->max_version : own_version;
    if (!load_is_same_library(wish))
        return "is a different library";
    if (wish->root[0] != '\0' && strcmp(wish->root, have->root) != 0)
        return "has a different root";
    if (wish->max_version != 0 && version != cush_loaded_driver.version)
        return "has a different version limit";
    if (!cush_hidden_set_is_empty(&wish->hidden) && memcmp(&wish->hidden, &have->hidden, sizeof have->hidden) != 0)
        return "has different hidden functions";
    return NULL;
}

static CUresult load_check_request(const struct request *wish)
{
    const char *difference = load_find_difference(wish);
    if (difference != NULL) {
        char text[96];
        snprintf(text, sizeof text, "The loaded driver does not match the request: it %s.", difference);
        return cush_error_set_copy(CUDA_ERROR_NOT_PERMITTED, load_name, text);
    }
    if (wish->min_version > cush_loaded_driver.version)
        return cush_error_set(CUDA_ERROR_NOT_SUPPORTED, load_name,
                              "The loaded driver is older than the requested minimum version.", NULL);
    return CUDA_SUCCESS;
}

/* The environment variables take effect only in the first load: a part of the program that passes no options
 * contradicts nothing. */
static CUresult load_again(const struct cushim_load_options *options)
{
    struct diagnosis_builder builder;
    struct request wish;
    char text[1024];
    cush_diagnosis_begin(&builder, text, sizeof text);
    if (cush_request_read_options(&wish, options, &builder))
        return load_check_request(&wish);
    return cush_error_set_copy(CUDA_ERROR_INVALID_VALUE, load_name, cush_diagnosis_message(&builder));
}

/* cush_request_read() or cush_request_read_options(): with or without the environment variables. */
typedef bool (*request_read_fn)(struct request *, const struct cushim_load_options *, struct diagnosis_builder *);

static CUSHIM_COLD const struct cushim_diagnosis *load_first(const struct cushim_load_options *options,
                                                             request_read_fn read)
{
    struct request wish;
    loading.builder = cush_diagnosis_start();
    /* A driver must not call into a copy that can be unmapped. The shim of `cushim exec`, which reads no environment,
     * leaves the log to the program. */
    bool wants_driver_log = cush_os_library_pin_self() && read == cush_request_read;
    bool sensible = read(&wish, options, loading.builder) && load_open_layers(&wish);
    const struct cushim_diagnosis *diagnosis = sensible ? load_locked(&wish, wants_driver_log) : load_publish();
    cush_log_as_requested(diagnosis, false);
    if (diagnosis->code != CUDA_SUCCESS)
        cush_error_set(diagnosis->code, load_name, "%", diagnosis->message);
    return diagnosis;
}

/* Returns the message that load_check_request() or load_again() has recorded. */
static const char *load_error_message(void)
{
    const struct error_detail *last = cush_error_get();
    return last->detail != NULL ? last->detail : last->message;
}

static CUSHIM_COLD void load_make_global(void)
{
    char path[OS_PATH_SIZE];
    cushim_fn init = cush_os_library_symbol(cush_loaded_driver.library, cush_symbols_symbol(ENTRY_Init_v1));
    cush_os_library_path(NULL, init, path, sizeof path);
    cush_os_library_make_global(path);
}

static CUSHIM_COLD CUresult load_with(const struct cushim_load_options *options, request_read_fn read)
{
    if (cush_os_load_lock_is_mine())
        return cush_error_set(CUDA_ERROR_NOT_READY, load_name, "This thread is already loading the driver.", NULL);
    cush_os_load_lock();
    const struct cushim_diagnosis *diagnosis = loading.loaded ? NULL : load_first(options, read);
    CUresult result = diagnosis != NULL ? diagnosis->code : load_again(options);
    if (result == CUDA_SUCCESS && options->has_global_symbols)
        load_make_global();
    cush_os_load_unlock();
    if (options->log != NULL) {
        if (diagnosis != NULL)
            cush_log_diagnosis(options, diagnosis, false);
        else
            cush_log_line(options, result == CUDA_SUCCESS ? "loaded before" : load_error_message(), "", "", "");
    }
    return result;
}

CUresult cushim_load(const struct cushim_load_options *options)
{
    const struct cushim_load_options none = {.path = NULL};
    return load_with(options != NULL ? options : &none, cush_request_read);
}

CUresult cush_load_without_environment(const struct cushim_load_options *options)
{
    return load_with(options, cush_request_read_options);
}

static bool load_is_untried(void)
{
    return cushim_table_legacy() == &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_LEGACY];
}

const struct cushim_dispatch_table *cush_table_load(enum cushim_default_stream kind)
{
    const struct cushim_load_options none = {.path = NULL};
    const struct cushim_dispatch_table *table = cushim_table_get(kind);
    if (table != &cush_bootstrap_tables[kind])
        return table;
    if (cush_os_load_lock_is_mine())
        return cush_null_driver_table(); /* called by a constructor of the library that is being loaded */
    cush_os_load_lock();
    /* If several threads get here at the same time, one loads. */
    if (load_is_untried())
        load_first(&none, cush_request_read);
    cush_os_load_unlock();
    return cushim_table_get(kind);
}

bool cush_load_has_succeeded(void)
{
    return cush_layer_tables_are_of_driver(cushim_table_legacy());
}

bool cush_load_has_driver(void)
{
    (void)cush_table_load(CUSHIM_DEFAULT_STREAM_LEGACY);
    return cush_load_has_succeeded();
}

int cushim_version(void)
{
    return CUSHIM_VERSION;
}

int cushim_driver_version(void)
{
    return cush_load_has_succeeded() ? cush_loaded_driver.version : 0;
}

void cush_load_reset_for_tests(void)
{
    cush_os_load_lock();
    cush_table_set_current(&cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_LEGACY],
                           &cush_bootstrap_tables[CUSHIM_DEFAULT_STREAM_PER_THREAD]);
    cush_driver_log_unregister();
    if (loading.loaded && loading.handle_is_ours)
        cush_os_library_close(cush_loaded_driver.library);
    loading.loaded = loading.has_opened_layers = false;
    cush_table_set_loaded(false);
    cush_layer_stack_reset();
    cush_start_reset();
    cush_diagnosis_reset();
    cush_os_load_unlock();
}
