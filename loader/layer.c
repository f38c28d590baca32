/* SPDX-License-Identifier: MIT */
/* cushim_layer_add() and its relatives. */
#include "layer_stack.h"

#include "error.h"
#include "os.h"
#include "tables.h"

static CUresult fail_lock_is_mine(const char *function)
{
    return cush_error_set(CUDA_ERROR_NOT_READY, function, "This thread is loading the driver or installing a layer.",
                          NULL);
}

static void layer_publish(void)
{
    if (cush_layer_stack_is_built())
        cush_table_set_current(cush_layer_stack_top(CUSHIM_DEFAULT_STREAM_LEGACY),
                               cush_layer_stack_top(CUSHIM_DEFAULT_STREAM_PER_THREAD));
}

/* Installs the layers that were pushed last, or removes them. */
static bool layer_install_last(size_t count, struct layer_failure *failure)
{
    bool installed = cush_layer_stack_rebuild(failure);
    if (installed)
        layer_publish();
    else
        while (count-- > 0)
            cush_layer_stack_pop();
    return installed;
}

/* Adds a layer, or those of a list of shared objects. */
static CUSHIM_COLD CUresult layer_add(struct cushim_layer *layer, const char *list)
{
    static const char function[] = "cushim_layer_add";
    struct layer_failure failure;
    size_t count = 1;
    if (cush_os_load_lock_is_mine())
        return fail_lock_is_mine(function);
    cush_os_load_lock();
    (void)cush_os_library_pin_self(); /* the layer refers to tables of this copy */
    bool pushed = list != NULL ? cush_layer_stack_push_objects(list, &count, &failure)
                               : cush_layer_stack_push(layer, NULL, NULL, &failure);
    bool added = pushed && layer_install_last(count, &failure);
    cush_os_load_unlock();
    return added ? CUDA_SUCCESS : cush_error_set_copy(failure.code, function, failure.message);
}

CUresult cushim_layer_add(struct cushim_layer *layer)
{
    return layer_add(layer, NULL);
}

CUresult cush_layer_add_objects(const char *list)
{
    return layer_add(NULL, list);
}

CUSHIM_COLD CUresult cushim_layer_stop(struct cushim_layer *layer)
{
    static const char function[] = "cushim_layer_stop";
    struct layer_failure failure = {CUDA_ERROR_NOT_FOUND, "This layer is not installed."};
    if (cush_os_load_lock_is_mine())
        return fail_lock_is_mine(function);
    cush_os_load_lock();
    bool found = cush_layer_stack_set_stopped(layer, true);
    bool stopped = found && cush_layer_stack_rebuild(&failure);
    if (stopped)
        layer_publish();
    else if (found)
        cush_layer_stack_set_stopped(layer, false);
    cush_os_load_unlock();
    return stopped ? CUDA_SUCCESS : cush_error_set_copy(failure.code, function, failure.message);
}

CUSHIM_COLD CUresult cushim_layer_get_info(size_t index, struct cushim_layer_info *out_info)
{
    static const char function[] = "cushim_layer_get_info";
    if (out_info == NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, "out_info is NULL.", NULL);
    bool is_mine = cush_os_load_lock_is_mine();
    if (!is_mine)
        cush_os_load_lock();
    bool found = cush_layer_stack_query(index, out_info);
    if (!is_mine)
        cush_os_load_unlock();
    return found ? CUDA_SUCCESS
                 : cush_error_set(CUDA_ERROR_NOT_FOUND, function, "The index is past the last layer.", NULL);
}
