/* SPDX-License-Identifier: MIT */
#include "layer_stack.h"

#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "os.h"
#include "tables.h"

/* A layer in the stack. */
struct stacked_layer {
    struct stacked_layer *above;
    struct cushim_layer *layer;
    void *library;
    bool stopped;
    const struct layer_tables *below, *tables; /* NULL: not installed yet */
    struct layer_tables *new_tables;           /* while tables are made, and NULL otherwise */
    char path[];                               /* "": the program added the layer */
};

/* Guarded by the load lock. */
static struct {
    struct stacked_layer *bottom_layer;
    const struct layer_tables *bottom; /* NULL: no layer was ever installed */
    bool is_built, has_driver;
    const struct layer_tables *top; /* NULL: no layer is installed */
} stack;

CUSHIM_PRINTF(3, 4)
static CUSHIM_COLD bool fail_layer(struct layer_failure *failure, CUresult code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->message, sizeof failure->message, format, arguments);
    va_end(arguments);
    failure->code = code;
    return false;
}

static bool fail_memory(struct layer_failure *failure)
{
    return fail_layer(failure, CUDA_ERROR_OUT_OF_MEMORY, "There is not enough memory for a layer.");
}

/* The table of a subset has a checksum as its version. */
static bool version_is_of_subset(unsigned version)
{
    return version > INT_MAX;
}

static bool layer_is_sound(const struct cushim_layer *layer, struct layer_failure *failure)
{
    if (layer == NULL)
        return fail_layer(failure, CUDA_ERROR_INVALID_VALUE, "The layer is NULL.");
    if (layer->version != CUSHIM_LAYER_VERSION
        && (version_is_of_subset(layer->version) || version_is_of_subset(CUSHIM_LAYER_VERSION)))
        return fail_layer(failure, CUDA_ERROR_NOT_SUPPORTED,
                          "The layer is compiled for a table with %u slots, and this copy of cushim has another table, "
                          "with %d slots: at least one of the two is a subset (amalgamate.py --slots).",
                          layer->slot_count, CUSHIM_SLOT_COUNT);
    if (layer->version != CUSHIM_LAYER_VERSION || layer->slot_count > CUSHIM_SLOT_COUNT || layer->slot_count == 0)
        return fail_layer(failure, CUDA_ERROR_NOT_SUPPORTED,
                          "The layer is compiled for another version of cushim (layer version %u with %u slots; this "
                          "cushim has version %d with %d slots).",
                          layer->version, layer->slot_count, CUSHIM_LAYER_VERSION, CUSHIM_SLOT_COUNT);
    if (layer->name == NULL || layer->name[0] == '\0' || layer->install == NULL)
        return fail_layer(failure, CUDA_ERROR_INVALID_VALUE, "The layer has no name or no install function.");
    for (size_t i = 0; i < sizeof layer->reserved / sizeof layer->reserved[0]; i++) {
        if (layer->reserved[i] != NULL)
            return fail_layer(
                failure, CUDA_ERROR_INVALID_VALUE,
                "A reserved member of the layer \"%.100s\" is not zero: the layer was not initialised, or "
                "was built with newer headers than cushim %s.",
                layer->name, CUSHIM_VERSION_STRING);
    }
    for (const struct stacked_layer *other = stack.bottom_layer; other != NULL; other = other->above) {
        if (other->layer != layer && strcmp(other->layer->name, layer->name) == 0)
            return fail_layer(failure, CUDA_ERROR_ALREADY_ACQUIRED,
                              "A layer with the name \"%.100s\" is already installed.", layer->name);
    }
    return true;
}

CUSHIM_COLD bool cush_layer_stack_push(struct cushim_layer *layer, const char *path, void *library,
                                       struct layer_failure *failure)
{
    struct stacked_layer **link = &stack.bottom_layer;
    if (!layer_is_sound(layer, failure))
        return false;
    if (path == NULL)
        path = "";
    struct stacked_layer *added = malloc(sizeof *added + strlen(path) + 1);
    if (added == NULL)
        return fail_memory(failure);
    /* Another copy of cushim, with a lock of its own, may be about to use the same struct. */
    if (CUSHIM_EXCHANGE(&layer->is_used, 1) != 0) {
        free(added);
        return fail_layer(failure, CUDA_ERROR_ALREADY_ACQUIRED,
                          "The layer \"%.100s\" is already installed in this process, perhaps by another copy of "
                          "cushim.",
                          layer->name);
    }
    *added = (struct stacked_layer){.layer = layer, .library = library};
    strcpy(added->path, path);
    while (*link != NULL)
        link = &(*link)->above;
    *link = added;
    return true;
}

CUSHIM_COLD void cush_layer_stack_pop(void)
{
    struct stacked_layer **link = &stack.bottom_layer;
    while ((*link)->above != NULL)
        link = &(*link)->above;
    struct stacked_layer *removed = *link;
    *link = NULL;
    CUSHIM_STORE_RELEASE(&removed->layer->is_used, 0);
    if (removed->library != NULL)
        cush_os_library_close(removed->library);
    free(removed);
}

bool cush_layer_stack_set_stopped(const struct cushim_layer *layer, bool stopped)
{
    struct stacked_layer *found = stack.bottom_layer;
    while (found != NULL && found->layer != layer)
        found = found->above;
    if (found == NULL || found->stopped == stopped)
        return false;
    found->stopped = stopped;
    return true;
}

CUSHIM_COLD bool cush_layer_stack_query(size_t index, struct cushim_layer_info *out_info)
{
    const struct stacked_layer *found = stack.bottom_layer;
    while (found != NULL && index-- > 0)
        found = found->above;
    if (found == NULL)
        return false;
    *out_info = (struct cushim_layer_info){
        .name = found->layer->name,
        .path = found->path[0] != '\0' ? found->path : NULL,
        .state = found->stopped          ? CUSHIM_LAYER_STOPPED
                 : found->tables != NULL ? CUSHIM_LAYER_INSTALLED
                                         : CUSHIM_LAYER_WAITING,
    };
    return true;
}

static const char *code_name(CUresult code)
{
    const char *name = NULL;
    return cush_null_driver_table()->GetErrorName_v1(code, &name) == CUDA_SUCCESS ? name : "an unknown code";
}

static void read_states(bool has_driver, int kind, enum cushim_slot_state *states)
{
    for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++)
        states[slot] =
            has_driver ? (enum cushim_slot_state)cush_driver_origins[kind][slot].state : CUSHIM_STATE_MISSING;
}

static bool layer_install(const struct stacked_layer *stacked, const struct layer_tables *below,
                          struct layer_failure *failure)
{
    struct cushim_layer *layer = stacked->layer;
    enum cushim_slot_state states[CUSHIM_SLOT_COUNT];
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        read_states(below->has_driver, kind, states);
        CUresult result = layer->install(&stacked->new_tables->of[kind].named, &below->of[kind].named, states,
                                         (enum cushim_default_stream)kind, layer->user);
        if (result != CUDA_SUCCESS)
            return fail_layer(failure, result, "The layer \"%.100s\" could not be installed (%s).", layer->name,
                              code_name(result));
        for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
            if (stacked->new_tables->of[kind].slots[slot] == NULL)
                return fail_layer(failure, CUDA_ERROR_INVALID_VALUE, "The layer \"%.100s\" sets slots to NULL.",
                                  layer->name);
        }
    }
    return true;
}

/* Puts the functions of a layer into tables of the same driver, above other layers than before. */
static void layer_move(const struct stacked_layer *stacked)
{
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++) {
        for (int slot = 0; slot < CUSHIM_SLOT_COUNT; slot++) {
            cushim_fn own = stacked->tables->of[kind].slots[slot];
            if (own != stacked->below->of[kind].slots[slot])
                stacked->new_tables->of[kind].slots[slot] = own;
        }
    }
}

/* Makes the tables of a layer, unless it has them. `is_new` is whether the table below all layers has changed. */
static bool layer_make_tables(struct stacked_layer *stacked, const struct layer_tables *below, bool is_new,
                              struct layer_failure *failure)
{
    bool is_installed = stacked->tables != NULL && !is_new;
    if (is_installed && stacked->below == below)
        return true;
    stacked->new_tables = malloc(sizeof *stacked->new_tables);
    if (stacked->new_tables == NULL)
        return fail_memory(failure);
    *stacked->new_tables = *below;
    if (!is_installed)
        return layer_install(stacked, below, failure);
    layer_move(stacked);
    return true;
}

/* NULL: the layer is not installed yet. */
static void layer_set_next(struct cushim_layer *layer, const struct layer_tables *below)
{
    for (int kind = 0; kind < CUSHIM_DEFAULT_STREAM_COUNT; kind++)
        CUSHIM_STORE_RELEASE(&layer->next[kind], below != NULL ? &below->of[kind].named : NULL);
}

/* Makes the new tables current for the layers and for lookups. */
static void stack_commit(const struct layer_tables *bottom)
{
    const struct layer_tables *below = bottom;
    stack.bottom = bottom;
    stack.top = NULL;
    for (struct stacked_layer *stacked = stack.bottom_layer; stacked != NULL; stacked = stacked->above) {
        layer_set_next(stacked->layer, below);
        stacked->below = below;
        if (stacked->new_tables != NULL)
            stacked->tables = stacked->new_tables;
        stacked->new_tables = NULL;
        if (!stacked->stopped)
            stack.top = below = stacked->tables;
    }
    cush_layer_tables_set_top(stack.top);
}

static void stack_roll_back(void)
{
    for (struct stacked_layer *stacked = stack.bottom_layer; stacked != NULL; stacked = stacked->above) {
        layer_set_next(stacked->layer, stacked->below);
        stacked->new_tables = NULL;
    }
}

/* Makes the tables of the layers on a new bottom, or, if that is NULL, on the one that is there. */
static CUSHIM_COLD bool stack_make_tables(struct layer_tables *new_bottom, struct layer_failure *failure)
{
    const struct layer_tables *bottom = new_bottom != NULL ? new_bottom : stack.bottom, *below = bottom;
    struct layer_tables *unread =
        new_bottom; /* new tables that cushim_layer_next() has not returned: they can be freed */
    for (struct stacked_layer *stacked = stack.bottom_layer; stacked != NULL; stacked = stacked->above) {
        if (stacked->stopped)
            continue;
        if (!layer_make_tables(stacked, below, new_bottom != NULL, failure)) {
            free(unread);
            free(stacked->new_tables);
            stack_roll_back();
            return false;
        }
        if (unread != NULL)
            cush_layer_tables_keep(unread);
        layer_set_next(stacked->layer, below); /* the layers above can call this one while they are installed */
        unread = stacked->new_tables;
        below = stacked->new_tables != NULL ? stacked->new_tables : stacked->tables;
    }
    if (unread != NULL)
        cush_layer_tables_keep(unread);
    stack_commit(bottom);
    return true;
}

CUSHIM_COLD bool cush_layer_stack_build(bool has_driver, struct layer_failure *failure)
{
    struct layer_tables *new_bottom = NULL;
    if (stack.bottom_layer != NULL && (stack.bottom == NULL || stack.has_driver != has_driver)) {
        new_bottom = malloc(sizeof *new_bottom);
        if (new_bottom == NULL)
            return fail_memory(failure);
        cush_layer_tables_fill_bottom(new_bottom, has_driver);
    }
    if (stack.bottom_layer != NULL && !stack_make_tables(new_bottom, failure))
        return false;
    stack.is_built = true;
    stack.has_driver = has_driver;
    return true;
}

bool cush_layer_stack_rebuild(struct layer_failure *failure)
{
    return !stack.is_built || cush_layer_stack_build(stack.has_driver, failure);
}

bool cush_layer_stack_is_built(void)
{
    return stack.is_built;
}

const struct cushim_dispatch_table *cush_layer_stack_top(enum cushim_default_stream kind)
{
    if (stack.top != NULL)
        return &stack.top->of[kind].named;
    return stack.has_driver ? &cush_driver_tables[kind].named : cush_null_driver_table();
}

void cush_layer_stack_reset(void)
{
    while (stack.bottom_layer != NULL) {
        struct stacked_layer *last = stack.bottom_layer;
        while (last->above != NULL)
            last = last->above;
        layer_set_next(last->layer, NULL);
        cush_layer_stack_pop();
    }
    memset(&stack, 0, sizeof stack);
    cush_layer_tables_reset();
}

/* A long path is cut at its start: its end names the file. */
enum { MAX_PATH_TEXT = 300 };

static bool fail_object(struct layer_failure *failure, CUresult code, const char *path, const char *why)
{
    size_t length = strlen(path);
    const char *end = length > MAX_PATH_TEXT ? path + length - MAX_PATH_TEXT : path;
    snprintf(failure->message, sizeof failure->message, "The layer %s%.*s cannot be used%.600s",
             end != path ? "..." : "", MAX_PATH_TEXT, end, why);
    failure->code = code;
    return false;
}

static CUSHIM_COLD bool object_push(const char *path, void *library, struct layer_failure *failure)
{
    union {
        cushim_fn symbol;
        struct cushim_layer *(*entry)(void);
    } found = {cush_os_library_symbol(library, "cushim_layer_entry")};
    struct layer_failure refused;
    char why[sizeof refused.message + 4];
    if (found.symbol == NULL)
        return fail_object(failure, CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND, path,
                           ": it does not export cushim_layer_entry.");
    if (cush_layer_stack_push(found.entry(), path, library, &refused))
        return true;
    snprintf(why, sizeof why, ". %s", refused.message);
    return fail_object(failure, refused.code, path, why);
}

static CUSHIM_COLD bool object_push_path(const char *path, struct layer_failure *failure)
{
    char error[512], why[sizeof error + 32];
    void *library;
    if (cush_os_library_open(path, &library, error, sizeof error) != OS_LIBRARY_OPEN) {
        snprintf(why, sizeof why, ": %s.", error);
        return fail_object(failure, CUDA_ERROR_SHARED_OBJECT_INIT_FAILED, path, why);
    }
    if (object_push(path, library, failure))
        return true;
    cush_os_library_close(library);
    return false;
}

/* Copies the next path of a list. */
static bool list_read_path(const char **list, char *path, size_t size, struct layer_failure *failure)
{
    const char separators[] = {cush_os_library_list_separator, '\0'};
    *list += strspn(*list, separators);
    size_t length = strcspn(*list, separators);
    if (length >= size)
        return fail_object(failure, CUDA_ERROR_INVALID_VALUE, *list, ": the path is too long.");
    memcpy(path, *list, length);
    path[length] = '\0';
    *list += length;
    return true;
}

bool cush_layer_stack_push_objects(const char *list, size_t *out_count, struct layer_failure *failure)
{
    char path[OS_PATH_SIZE];
    size_t pushed = 0;
    bool done = list_read_path(&list, path, sizeof path, failure);
    while (done && path[0] != '\0') {
        done = object_push_path(path, failure);
        pushed += done;
        done = done && list_read_path(&list, path, sizeof path, failure);
    }
    while (!done && pushed-- > 0)
        cush_layer_stack_pop();
    *out_count = done ? pushed : 0;
    return done;
}
