/* SPDX-License-Identifier: MIT */
#include "companion.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/atomic.h"
#include "common/companion_names.h"
#include "cushim/companion.h"
#include "driver.h"
#include "error.h"
#include "find_driver.h"
#include "load.h"
#include "os.h"

#define COMPANION_NOTHING "", ""

/* The names of the libraries are also a record, as the names in symbols.c are: each library may be missing. Nothing
 * else in the library has such a name as text. */
static const struct companion_libraries {
    char start[sizeof RECORD_START], extent[2];
#define COMPANION_MEMBER(name, library) char name[sizeof library];
    COMPANION_LIST(COMPANION_MEMBER)
    char end[sizeof RECORD_END];
} companion_libraries = {
    RECORD_START,
    "c",
#define COMPANION_VALUE(name, library) library,
    COMPANION_LIST(COMPANION_VALUE) RECORD_END,
};

static const struct companion_kind {
    const char *name, *library;
    const char *symbol;     /* which each version of the library exports */
    const char *capability; /* the word in NVIDIA_DRIVER_CAPABILITIES that puts the library into a container */
} companion_kinds[CUSHIM_COMPANION_COUNT] = {
    {"NVCUVID", companion_libraries.NVCUVID, "cuvidCreateDecoder", "video"},
    {"NVENC", companion_libraries.NVENC, "NvEncodeAPICreateInstance", "video"},
    {"NVML", companion_libraries.NVML, "nvmlInit_v2", "utility"},
};

/* Followed by its name and its library. */
#define COMPANION_CLOSED(reason, message, advice, ...)                                                                 \
    {                                                                                                                  \
        reason, __VA_ARGS__, "", "", message, advice, NULL,                                                            \
        {                                                                                                              \
            NULL                                                                                                       \
        }                                                                                                              \
    }
#define COMPANION_WITHOUT_DRIVER(name, library)                                                                        \
    COMPANION_CLOSED(CUSHIM_REASON_NOT_FOUND, "It is not searched for, because no NVIDIA driver is loaded.",           \
                     "Run \"cushim probe\", which shows why no driver is loaded.", #name, companion_libraries.name),

/* The results that are not final: the others are for every companion. */
static const struct cushim_companion companions_without_driver[CUSHIM_COMPANION_COUNT] = {
    COMPANION_LIST(COMPANION_WITHOUT_DRIVER)};
static const struct cushim_companion companion_within_load = COMPANION_CLOSED(
    CUSHIM_REASON_NOT_FOUND, "It is not searched for while this thread is opening a library of the driver.",
    "Report this to the authors of the program.", COMPANION_NOTHING);
static const struct cushim_companion companion_without_memory = COMPANION_CLOSED(
    CUSHIM_REASON_UNKNOWN, "A companion of the driver cannot be searched for, because memory is exhausted.",
    "Free memory.", COMPANION_NOTHING);

/* One that was searched for. */
struct companion {
    struct cushim_companion public;
    char path[OS_PATH_SIZE], version[32], message[1024];
};

/* Each is written once, when it is complete. */
static struct companion *companions[CUSHIM_COMPANION_COUNT];

static const char companion_function[] = "cushim_companion_get";

struct companion_search {
    const struct companion_kind *kind;
    struct companion *companion;
    const char *root;
    bool lacks_memory;
    enum cushim_reason failure; /* why the first file that exists cannot be used */
    char failure_text[512];
    char driver[OS_PATH_SIZE], driver_file[OS_PATH_SIZE]; /* as it was opened, and behind its links */
    char driver_version[32];
    char path[OS_PATH_SIZE + 64], file[OS_PATH_SIZE]; /* a candidate, and below the root */
};

CUSHIM_PRINTF(3, 4)
static void companion_say(struct companion *companion, const char *advice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(companion->message, sizeof companion->message, format, arguments);
    va_end(arguments);
    companion->public.advice = advice;
}

CUSHIM_PRINTF(3, 4)
static bool companion_fail_file(struct companion_search *search, enum cushim_reason reason, const char *format, ...)
{
    va_list arguments;
    if (search->failure != CUSHIM_REASON_NONE)
        return false;
    va_start(arguments, format);
    vsnprintf(search->failure_text, sizeof search->failure_text, format, arguments);
    va_end(arguments);
    search->failure = reason;
    return false;
}

/* Writes the path of the file to which the links of a path lead, or the path itself. */
static void companion_real_path(const char *path, char file[OS_PATH_SIZE])
{
    if (!cush_os_file_real_path(path, file))
        snprintf(file, OS_PATH_SIZE, "%s", path);
}

/* Writes "550.163.01" for "/usr/lib/libcuda.so.550.163.01", and "" for a name without a driver version, such as
 * "libcuda.so.1.1" of Jetson. */
static void companion_read_version(const char *file, char *version, size_t size)
{
    const char *name = strrchr(file, '/');
    const char *suffix = name != NULL ? strstr(name, ".so.") : NULL;
    version[0] = '\0';
    if (suffix != NULL && strspn(suffix + 4, "0123456789.") == strlen(suffix + 4) && strcspn(suffix + 4, ".") >= 3)
        snprintf(version, size, "%.31s", suffix + 4);
}

/* Accepts an open library, or closes it. */
static CUSHIM_COLD bool companion_accept(struct companion_search *search, void *library)
{
    struct companion *companion = search->companion;
    char file[OS_PATH_SIZE];
    cushim_fn symbol = cush_os_library_symbol(library, search->kind->symbol);
    cush_os_library_path(library, symbol, companion->path, sizeof companion->path);
    companion_real_path(companion->path, file);
    bool is_stub = strstr(file, "/stubs/") != NULL;
    if (symbol != NULL && !is_stub) {
        companion_read_version(file, companion->version, sizeof companion->version);
        companion->public.handle = library;
        return true;
    }
    companion_fail_file(search, is_stub ? CUSHIM_REASON_STUB : CUSHIM_REASON_NOT_A_DRIVER,
                        is_stub ? "%.380s is the stub of a Toolkit, for linking" : "%.380s does not export %s", file,
                        search->kind->symbol);
    companion->path[0] = '\0';
    cush_os_library_close(library);
    return false;
}

/* glibc has other texts where it cannot allocate the message: one of its own, or the start without the cause. */
static bool companion_error_is_of_memory(const char *error)
{
    return strstr(error, strerror(ENOMEM)) != NULL || strstr(error, "out of memory") != NULL
           || strcmp(error, "cannot open shared object file") == 0;
}

/* `exists`: the file is known to exist, even if the dynamic loader denies it. */
static bool companion_try(struct companion_search *search, const char *file, bool exists)
{
    char error[512];
    void *library;
    enum os_library_result result = cush_os_library_open(file, &library, error, sizeof error);
    if (result == OS_LIBRARY_OPEN)
        return companion_accept(search, library);
    search->lacks_memory |= companion_error_is_of_memory(error);
    if (result == OS_LIBRARY_ABSENT && exists)
        result = OS_LIBRARY_UNLOADABLE;
    return result != OS_LIBRARY_ABSENT
           && companion_fail_file(search, cush_search_reason(result), "%.250s: %.250s", file, error);
}

/* Tries a file in the directory of the path `beside`, which is below `root`. */
static bool companion_try_beside(struct companion_search *search, const char *root, const char *beside,
                                 const char *version)
{
    const char *library = search->kind->library, *file = search->file;
    const char *number = version[0] != '\0' ? strstr(library, ".so.") : NULL;
    snprintf(search->path, sizeof search->path, "%.*s/%.*s%s", (int)(strrchr(beside, '/') - beside), beside,
             number != NULL ? (int)(number + 4 - library) : (int)strlen(library), library,
             number != NULL ? version : "");
    if (!cush_os_path_below(root, search->path + strlen(root), search->file, sizeof search->file))
        return false;
    switch (cush_os_file_state(file, false)) {
    case OS_FILE_ABSENT:
        return false;
    case OS_FILE_DENIED:
        return companion_fail_file(search, CUSHIM_REASON_UNREADABLE, "%.380s: this user may not read the file", file);
    default:
        return companion_try(search, file, true);
    }
}

/* The directory of the driver, and the one to which its links lead. */
static bool companion_try_neighbours(struct companion_search *search)
{
    const char *const paths[] = {search->driver, search->driver_file};
    const char *version = search->driver_version;
    const char *root = strncmp(search->driver, search->root, strlen(search->root)) == 0 ? search->root : "";
    for (size_t i = 0; i < 2; i++) {
        if (strrchr(paths[i], '/') == NULL)
            continue;
        if (version[0] != '\0' && companion_try_beside(search, root, paths[i], version))
            return true;
        if (companion_try_beside(search, root, paths[i], ""))
            return true;
    }
    return false;
}

static CUSHIM_COLD bool companion_try_known_paths(struct companion_search *search)
{
    char path[OS_PATH_SIZE];
    for (size_t i = 0; cush_candidates_path(i, search->root, path, sizeof path); i++) {
        if (path[0] != '\0' && companion_try_beside(search, search->root, path, ""))
            return true;
    }
    return false;
}

static CUSHIM_COLD bool companion_try_all(struct companion_search *search)
{
    void *mapped = cush_os_library_open_mapped(search->kind->library);
    if (mapped != NULL && companion_accept(search, mapped))
        return true;
    if (companion_try_neighbours(search))
        return true;
    bool may_use_name = search->root[0] == '\0' && !cush_os_privileged();
    return (may_use_name && companion_try(search, search->kind->library, false)) || companion_try_known_paths(search);
}

/* Whether this is a container that was started without a library of this kind, or may have been. */
static bool companion_lacks_capability(const struct companion_search *search, const char *capabilities)
{
    struct cushim_system system;
    if (search->root[0] != '\0' || cush_os_privileged())
        return false;
    if (capabilities != NULL)
        return strstr(capabilities, "all") == NULL && strstr(capabilities, search->kind->capability) == NULL;
    cushim_system_get_info("", &system);
    return system.is_container;
}

static void companion_explain_absence(const struct companion_search *search)
{
    struct companion *companion = search->companion;
    const char *library = search->kind->library;
    const char *capabilities = cush_os_environment("NVIDIA_DRIVER_CAPABILITIES");
    companion->public.reason = search->failure != CUSHIM_REASON_NONE ? search->failure : CUSHIM_REASON_NOT_FOUND;
    if (search->failure != CUSHIM_REASON_NONE)
        companion_say(companion, "Install the complete driver of NVIDIA, for the processor of this program.",
                      "%s cannot be used: %s.", search->kind->name, search->failure_text);
    else if (companion_lacks_capability(search, capabilities))
        companion_say(companion,
                      "Start the container with NVIDIA_DRIVER_CAPABILITIES=all (for Docker: -e "
                      "NVIDIA_DRIVER_CAPABILITIES=all).",
                      "%s is missing in this container: NVIDIA_DRIVER_CAPABILITIES %s%s.", library,
                      capabilities != NULL ? "lacks " : "is not set and may lack ", search->kind->capability);
    else
        companion_say(companion,
                      "Install it in the version of the driver. Distributions have packages for it (on Debian "
                      "libnvcuvid1, libnvidia-encode1 and libnvidia-ml1). A container takes it from its host.",
                      "%s is missing %s.", library, search->root[0] != '\0' ? "below the root directory" : "here");
}

/* With a package of "CUDA compatibility", libcuda alone is newer than the kernel module, and the companion is right. */
static void companion_compare_version(const struct companion_search *search)
{
    struct companion *companion = search->companion;
    char module[32];
    cush_system_kernel_module(search->root, module, sizeof module);
    const char *right = module[0] != '\0' ? module : search->driver_version;
    if (companion->version[0] != '\0' && right[0] != '\0' && strcmp(companion->version, right) != 0)
        companion_say(companion, "Remove the copy of the other version, or restart after an update of the driver.",
                      "%.700s is of driver %s, but the %s is of %s, so %s can fail.", companion->path,
                      companion->version, module[0] != '\0' ? "kernel module" : "loaded driver", right,
                      search->kind->name);
}

/* The driver's file as it was opened, and the one behind its links. */
static void companion_find_driver(char path[OS_PATH_SIZE], char file[OS_PATH_SIZE])
{
    cushim_fn init = cush_os_library_symbol(cush_loaded_driver.library, cush_symbols_symbol(ENTRY_Init_v1));
    cush_os_library_path(NULL, init, path, OS_PATH_SIZE);
    companion_real_path(path, file);
}

/* Returns whether memory was sufficient. */
static bool companion_fill(struct companion *companion, const struct companion_kind *kind)
{
    struct companion_search *search = malloc(sizeof *search); /* too large for the stack of some threads */
    if (search == NULL)
        return false;
    search->kind = kind;
    search->companion = companion;
    search->root = cush_loaded_driver.root;
    search->lacks_memory = false;
    search->failure = CUSHIM_REASON_NONE;
    companion_find_driver(search->driver, search->driver_file);
    companion_read_version(search->driver_file, search->driver_version, sizeof search->driver_version);
    companion->path[0] = companion->version[0] = companion->message[0] = '\0';
    companion->public = (struct cushim_companion){.name = kind->name,
                                                  .library = kind->library,
                                                  .path = companion->path,
                                                  .version = companion->version,
                                                  .message = companion->message,
                                                  .advice = ""};
    bool is_found = companion_try_all(search);
    bool has_memory = is_found || !search->lacks_memory;
    if (is_found)
        companion_compare_version(search);
    else if (has_memory)
        companion_explain_absence(search);
    free(search);
    return has_memory;
}

/* Returns NULL if memory is exhausted. The caller holds the load lock. */
static CUSHIM_COLD struct companion *companion_search(enum cushim_companion_id id)
{
    struct companion *companion = companions[id] != NULL ? companions[id] : malloc(sizeof *companion);
    if (companions[id] != NULL || companion == NULL)
        return companion;
    /* NVIDIA's file has no path to its neighbour, which the dynamic loader then finds by its soname. */
    if ((id == CUSHIM_COMPANION_NVENC && companion_search(CUSHIM_COMPANION_NVCUVID) == NULL)
        || !companion_fill(companion, &companion_kinds[id])) {
        free(companion);
        return NULL;
    }
    CUSHIM_STORE_RELEASE(&companions[id], companion);
    return companion;
}

const struct cushim_companion *cushim_companion_get(enum cushim_companion_id id)
{
    static const struct cushim_companion none = COMPANION_CLOSED(
        CUSHIM_REASON_NOT_FOUND, "No companion has this number.", "Correct the program.", COMPANION_NOTHING);
    if ((unsigned)id >= CUSHIM_COMPANION_COUNT)
        return &none;
    const struct companion *found = CUSHIM_LOAD_ACQUIRE(&companions[id]);
    if (found != NULL)
        return &found->public;
    if (cush_os_load_lock_is_mine())
        return &companion_within_load;
    if (!cush_load_has_driver())
        return &companions_without_driver[id];
    cush_os_load_lock();
    found = companion_search(id);
    cush_os_load_unlock();
    return found != NULL ? &found->public : &companion_without_memory;
}

static void *nvml_without_driver;

/* The record and the search are large for a stack, and are not kept. */
static void *companion_search_nvml(const char *root)
{
    struct {
        struct companion companion;
        struct companion_search search;
    } * own;
    if (companions[CUSHIM_COMPANION_NVML] != NULL || cush_load_has_succeeded()) {
        const struct companion *found = companion_search(CUSHIM_COMPANION_NVML);
        return found != NULL ? found->public.handle : NULL;
    }
    if (nvml_without_driver != NULL || (own = calloc(1, sizeof *own)) == NULL)
        return nvml_without_driver;
    own->search.kind = &companion_kinds[CUSHIM_COMPANION_NVML];
    own->search.companion = &own->companion;
    own->search.root = root;
    if (companion_try_all(&own->search))
        nvml_without_driver = own->companion.public.handle;
    free(own);
    return nvml_without_driver;
}

CUSHIM_COLD void *cush_companion_open_nvml(const char *root)
{
    if (cush_os_load_lock_is_mine())
        return NULL;
    cush_os_load_lock();
    void *library = companion_search_nvml(root);
    cush_os_load_unlock();
    return library;
}

CUSHIM_COLD cushim_fn cushim_companion_symbol(enum cushim_companion_id id, const char *symbol)
{
    const struct cushim_companion *companion = cushim_companion_get(id);
    char text[512];
    /* analyzer: the record is one of the constant ones, or complete when it is stored */
    cushim_fn fn = companion->handle != NULL ? cush_os_library_symbol(companion->handle, symbol) : NULL;
    if (companion->handle == NULL) {
        snprintf(text, sizeof text, "%s%s%.480s", companion->name, companion->name[0] != '\0' ? ": " : "",
                 companion->message);
        bool lacks_memory = companion->reason == CUSHIM_REASON_UNKNOWN;
        cush_error_set_copy(lacks_memory ? CUDA_ERROR_OUT_OF_MEMORY : cush_reason_code(companion->reason),
                            companion_function, text);
    } else if (fn == NULL) {
        snprintf(text, sizeof text, "%s%s%s lacks %.300s.", companion->library,
                 companion->version[0] != '\0' ? " of driver " : "", companion->version, symbol);
        cush_error_set_copy(CUDA_ERROR_NOT_FOUND, companion_function, text);
    }
    return fn;
}

void cush_companion_reset_for_tests(void)
{
    if (nvml_without_driver != NULL)
        cush_os_library_close(nvml_without_driver);
    nvml_without_driver = NULL;
    for (size_t i = 0; i < CUSHIM_COMPANION_COUNT; i++) {
        if (companions[i] != NULL && companions[i]->public.handle != NULL)
            cush_os_library_close(companions[i]->public.handle);
        free(companions[i]);
        CUSHIM_STORE_RELEASE(&companions[i], NULL);
    }
}
