/* SPDX-License-Identifier: MIT */
#include "find_driver.h"

#include <stdio.h>
#include <string.h>

#include "os.h"
#include "version.h"

#if defined(__x86_64__)
#    define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#    define MULTIARCH "aarch64-linux-gnu"
#elif defined(__powerpc64__)
#    define MULTIARCH "powerpc64le-linux-gnu"
#elif defined(__i386__)
#    define MULTIARCH "i386-linux-gnu"
#elif defined(__arm__)
#    define MULTIARCH "arm-linux-gnueabihf"
#else
#    define MULTIARCH "lib"
#endif

/* "%" stands for the version of the kernel module with dashes, 580-159-03, and "*" for the first directory that has a
 * driver. Windows has no known paths, because nvcuda.dll is only in System32. They stand in one block, because pointers
 * would need relocations. */
static const char directories[] =
#if !defined(_WIN32)
    /* The ordinary library directories, for two cases: the dynamic loader found the stub of a Toolkit instead, or the
     * search is below a root directory. Servers with arm64 (SBSA, Grace) and Jetson from JetPack 7 on have the driver
     * here, too. */
    "/usr/lib/" MULTIARCH "\0"
    "/lib/" MULTIARCH "\0"
    "/usr/lib64\0"
    "/lib64\0"
    "/usr/lib\0"
    "/usr/local/lib\0"
    /* The alternatives of Debian, which may be half configured. Separate directories of JetPack 6, Fedora and older
     * Ubuntu. */
    "/usr/lib/" MULTIARCH "/nvidia/current\0"
    "/usr/lib/" MULTIARCH "/nvidia\0"
    "/usr/lib64/nvidia\0"
    "/usr/lib/nvidia\0"
    /* Windows Subsystem for Linux mounts the libraries of its host. */
    "/usr/lib/wsl/lib\0"
    /* NixOS. */
    "/run/opengl-driver/lib\0"
    /* Container toolkits: Kubernetes device plug-ins, Singularity and Apptainer, the driver container of the GPU
     * operator. */
    "/usr/local/nvidia/lib64\0"
    "/usr/local/nvidia/lib\0"
    "/.singularity.d/libs\0"
    "/run/nvidia/driver/usr/lib/" MULTIARCH "\0"
    "/run/nvidia/driver/usr/lib64\0"
    /* Jetson up to JetPack 5. */
    "/usr/lib/" MULTIARCH "/tegra\0"
    /* The driver extension of Flatpak, inside the sandbox. */
    "/usr/lib/" MULTIARCH "/GL/nvidia-%/lib\0"
    /* Google Colab. */
    "/usr/lib64-nvidia\0"
    /* Inside the sandbox of a snap. SNAP_LIBRARY_PATH can name more. */
    "/var/lib/snapd/lib/gl\0"
    /* A container on Windows Subsystem for Linux, which gets one directory of the driver store of Windows. */
    "/usr/lib/wsl/drivers/*\0"
#endif
    "";

/* Writes the version of the kernel module with dashes, "580-159-03"; "" if the module is not loaded. */
static void candidates_read_version(const char *root, char *version, size_t size)
{
    cush_system_kernel_module(root, version, size);
    for (char *dot = version; (dot = strchr(dot, '.')) != NULL;)
        *dot = '-';
}

/* What "*" stands for. Longer names are passed over. */
struct candidates_name {
    char text[256];
};

static CUSHIM_COLD bool candidates_has_driver(const char *root, const char *directory, const char *name, void *out_name)
{
    char path[384], full_path[OS_PATH_SIZE];
    struct candidates_name *found = out_name;
    if (name[0] == '.' || strlen(name) >= sizeof found->text)
        return false;
    snprintf(path, sizeof path, "%s/%.255s/%s", directory, name, cush_os_library_driver_name);
    strcpy(found->text, name);
    return cush_os_path_below(root, path, full_path, sizeof full_path)
           && cush_os_file_state(full_path, false) != OS_FILE_ABSENT;
}

/* Writes what stands for the mark of a directory, or "" if nothing does. */
static void candidates_replace(const char *root, const char *directory, const char *mark, struct candidates_name *out)
{
    char parent[64];
    snprintf(parent, sizeof parent, "%.*s", (int)(mark - directory), directory);
    if (mark[0] == '%')
        candidates_read_version(root, out->text, sizeof out->text);
    else if (!cush_os_directory_find(root, parent, candidates_has_driver, out))
        out->text[0] = '\0';
}

/* The variable is that of snaps. The caller can be a test without the lock. */
static bool candidates_of_snap(size_t index, const char *root, char *path, size_t size)
{
    const char *list = root[0] == '\0' && !cush_os_privileged() ? cush_os_environment("SNAP_LIBRARY_PATH") : NULL;
    for (; list != NULL; list = list[strcspn(list, ":")] != '\0' ? list + strcspn(list, ":") + 1 : NULL) {
        if (index-- != 0)
            continue;
        path[0] = '\0';
        if (list[0] == '/')
            snprintf(path, size, "%.*s/%s", (int)strcspn(list, ":"), list, cush_os_library_driver_name);
        return true;
    }
    return false;
}

bool cush_candidates_path(size_t index, const char *root, char *path, size_t size)
{
    const char *directory = directories;
    for (; *directory != '\0' && index > 0; index--)
        directory += strlen(directory) + 1;
    if (*directory == '\0')
        return sizeof directories > 1 && candidates_of_snap(index, root, path, size);
    const char *mark = directory + strcspn(directory, "%*");
    struct candidates_name name = {""};
    if (*mark != '\0')
        candidates_replace(root, directory, mark, &name);
    if (*mark != '\0' && name.text[0] == '\0')
        path[0] = '\0';
    else
        snprintf(path, size, "%s%.*s%s%s/%s", root, (int)(mark - directory), directory, name.text,
                 mark + (*mark != '\0'), cush_os_library_driver_name);
    return true;
}

/* CUDA 2.2 added cuDriverGetVersion, so that no driver has a lower version. */
enum { OLDEST_DRIVER = 2020 };

struct search {
    const struct request *request;
    struct driver *driver;
    struct diagnosis_builder *builder;
    /* The first file that is empty or for another processor, and its attempt. glibc passes over the latter without a
     * word, and its message for the former does not say so. */
    enum os_library_result fault;
    size_t fault_attempt;
};

static bool search_fail_attempt(struct search *search, const char *name, enum cushim_reason reason, const char *result)
{
    cush_diagnosis_add_attempt(search->builder, name, reason, NULL, "%s", result);
    return false;
}

/* Returns the library if the search opened it. A handle of the caller can be any handle, even that of the program. */
static void *search_own_handle(const struct search *search, void *library)
{
    return search->request->handle == NULL ? library : NULL;
}

/* Records the file of the stub, which its plain name does not show: a person has to remove its directory from a search
 * path. */
static CUSHIM_COLD bool search_fail_stub(struct search *search, const char *name, void *library, cushim_fn symbol)
{
    char path[OS_PATH_SIZE];
    cush_os_library_path(library, symbol, path, sizeof path);
    bool is_known = path[0] == '\0' || strcmp(path, name) == 0;
    cush_diagnosis_add_attempt(search->builder, name, CUSHIM_REASON_STUB, path[0] != '\0' ? path : name,
                               "the CUDA Toolkit's stub%s%s, passed over", is_known ? "" : " ", is_known ? "" : path);
    return false;
}

/* Checks that an open library is a driver, and reads its version. Calls only cuDriverGetVersion. */
static bool search_examine(struct search *search, const char *name, void *library)
{
    CUresult(CUDAAPI * get_version)(int *) = NULL;
    cushim_fn symbol = cush_os_library_symbol(library, cush_symbols_symbol(ENTRY_DriverGetVersion_v1));
    if (symbol == NULL || cush_os_library_symbol(library, cush_symbols_symbol(ENTRY_Init_v1)) == NULL)
        return search_fail_attempt(search, name, CUSHIM_REASON_NOT_A_DRIVER,
                                   "not a driver: it does not export the functions of a driver");
    memcpy(&get_version, &symbol, sizeof symbol);

    int version = 0;
    CUresult result = get_version(&version);
    if (result == CUDA_ERROR_STUB_LIBRARY)
        return search_fail_stub(search, name, search_own_handle(search, library), symbol);
    if (result != CUDA_SUCCESS || version < OLDEST_DRIVER || version > LARGEST_VERSION) {
        cush_diagnosis_add_attempt(search->builder, name, CUSHIM_REASON_NOT_A_DRIVER, NULL,
                                   "not a working driver: cuDriverGetVersion returned code %d and version %d",
                                   (int)result, version);
        return false;
    }
    search->driver->library = library;
    search->driver->own_version = version;
    cush_diagnosis_add_attempt(search->builder, name, CUSHIM_REASON_NONE, NULL, "a driver for CUDA %s",
                               cush_version_text(version).text);
    return true;
}

/*
 * Opens `file` and records the attempt under `name`. `exists`: the file is known to exist, even if the dynamic loader
 * denies it. glibc reports "no such file" for a library of another processor architecture.
 */
static bool search_try_open(struct search *search, const char *name, const char *file, bool exists)
{
    char error[512];
    void *library;
    enum os_library_result result = cush_os_library_open(file, &library, error, sizeof error);
    if (result == OS_LIBRARY_ABSENT && exists)
        result = OS_LIBRARY_UNLOADABLE;
    if (result == OS_LIBRARY_UNREADABLE && cush_os_file_state(file, false) == OS_FILE_DENIED)
        snprintf(error, sizeof error, "not permitted: this user may not read the file");
    if (search->fault == OS_LIBRARY_OPEN && (result == OS_LIBRARY_EMPTY || result == OS_LIBRARY_OTHER_PROCESSOR)) {
        search->fault = result;
        search->fault_attempt = search->builder->attempt_count;
    }
    if (result != OS_LIBRARY_OPEN)
        return search_fail_attempt(search, name, cush_search_reason(result),
                                   result == OS_LIBRARY_ABSENT ? "not found" : error);
    if (search_examine(search, name, library))
        return true;
    /* If a stub stayed mapped, the dynamic loader would return it again for the plain name. */
    cush_os_library_close(library);
    return false;
}

/* An absent file is not opened, because the dynamic loader has many messages for it. */
static bool search_try_path(struct search *search, const char *name, const char *file)
{
    if (cush_os_file_state(file, false) == OS_FILE_ABSENT)
        return search_fail_attempt(search, name, CUSHIM_REASON_NOT_FOUND, "not found");
    return search_try_open(search, name, file, true);
}

/* Tries the path option: a path, or a plain name that the dynamic loader searches. */
static bool search_try_option(struct search *search, const char *path)
{
    bool is_plain = strchr(path, '/') == NULL && strchr(path, '\\') == NULL;
    return is_plain ? search_try_open(search, path, path, false) : search_try_path(search, path, path);
}

static CUSHIM_COLD bool search_try_below_root(struct search *search, const char *name)
{
    const char *root = search->request->root;
    char file[OS_PATH_SIZE];
    if (!cush_os_path_below(root, name + strlen(root), file, sizeof file))
        return search_fail_attempt(search, name, CUSHIM_REASON_NOT_FOUND, "not found");
    return search_try_path(search, name, file);
}

static bool search_try_known_paths(struct search *search)
{
    char name[OS_PATH_SIZE + 256];
    for (size_t i = 0; cush_candidates_path(i, search->request->root, name, sizeof name); i++) {
        if (name[0] != '\0' && search_try_below_root(search, name))
            return true;
    }
    return false;
}

static bool search_try_all(struct search *search)
{
    const struct request *request = search->request;
    if (request->handle != NULL)
        return search_examine(search, "the handle given", request->handle);
    if (request->path[0] != '\0')
        return search_try_option(search, request->path);
    /* If the process already has a copy open, the dynamic loader returns that copy for the plain name. */
    const char *name = cush_os_library_driver_name;
    if (request->root[0] == '\0' && search_try_open(search, name, name, false))
        return true;
    return search_try_known_paths(search);
}

/* Fills in the driver under the version limit and the hidden functions. Returns false if its version is too low. */
static bool search_accept(struct search *search)
{
    const struct request *request = search->request;
    struct driver *driver = search->driver;
    struct diagnosis_builder *builder = search->builder;
    driver->limited = request->max_version != 0 && request->max_version < driver->own_version;
    driver->version = driver->limited ? request->max_version : driver->own_version;
    driver->hidden = request->hidden;
    builder->cuda_version = driver->own_version;

    cushim_fn symbol = cush_os_library_symbol(driver->library, cush_symbols_symbol(ENTRY_GetProcAddress_v1));
    memcpy(&driver->proc_address.v1, &symbol, sizeof symbol);
    symbol = cush_os_library_symbol(driver->library, cush_symbols_symbol(ENTRY_GetProcAddress_v2));
    memcpy(&driver->proc_address.v2, &symbol, sizeof symbol);

    symbol = cush_os_library_symbol(driver->library, cush_symbols_symbol(ENTRY_Init_v1));
    char path[OS_PATH_SIZE];
    cush_os_library_path(search_own_handle(search, driver->library), symbol, path, sizeof path);
    cush_diagnosis_set_path(builder, path);

    if (driver->version >= request->min_version) {
        cush_diagnosis_set_outcome(builder, CUSHIM_REASON_NONE, CUDA_SUCCESS, NULL);
        return true;
    }
    cush_diagnosis_set_outcome(builder, CUSHIM_REASON_TOO_OLD, cush_reason_code(CUSHIM_REASON_TOO_OLD),
                               "This program needs CUDA %s; this driver is %sCUDA %s.",
                               cush_version_text(request->min_version).text, driver->limited ? "limited to " : "",
                               cush_version_text(driver->version).text);
    if (driver->own_version >= request->min_version)
        builder->advice = "Remove the version limit (CUSHIM_MAX_VERSION, or max_version of the program).";
    return false;
}

/* NVIDIA's container runtime creates an empty file in whose place it mounts the library of the host. An image that is
 * built with it keeps the file. */
static const char image_message[] = "The driver library is an empty file of a container image (%s). NVIDIA's container "
                                    "runtime created it when the image was built.";
static const char image_advice[] = "Start the container with GPU access (for Docker: --gpus all), which puts the "
                                   "library of the host in that place. Nothing has to be reinstalled.";

/* The result of a search that found no driver. */
static CUSHIM_COLD void search_fail(struct search *search)
{
    struct diagnosis_builder *builder = search->builder;
    bool is_named = search->request->path[0] != '\0';
    cush_diagnosis_set_failure(builder, is_named);
    enum cushim_reason reason = builder->reason;
    if (reason == CUSHIM_REASON_NOT_FOUND && cush_system_lacks_nvidia(search->request->root)) {
        cush_diagnosis_set_outcome(builder, CUSHIM_REASON_NO_NVIDIA, cush_reason_code(CUSHIM_REASON_NO_NVIDIA), NULL);
        return;
    }
    bool is_of_image =
        search->fault == OS_LIBRARY_EMPTY && !is_named && cush_system_is_container(search->request->root);
    if ((!is_of_image && search->fault != OS_LIBRARY_OTHER_PROCESSOR)
        || (reason != CUSHIM_REASON_NOT_LOADABLE && reason != CUSHIM_REASON_DAMAGED)
        || search->fault_attempt >= builder->attempt_count)
        return;
    const char *advice = builder->advice;
    reason = cush_search_reason(search->fault);
    cush_diagnosis_set_outcome(
        builder, reason, cush_reason_code(reason),
        is_of_image ? image_message : "The driver library is built for another processor than this program (%s).",
        builder->text + builder->attempts[search->fault_attempt].path);
    builder->advice = is_of_image ? image_advice : advice;
}

bool cush_search_driver(const struct request *request, struct driver *driver, struct diagnosis_builder *builder)
{
    struct search search = {.request = request, .driver = driver, .builder = builder};
    memset(driver, 0, sizeof *driver);
    if (strcmp(request->path, "none") == 0) {
        cush_diagnosis_set_outcome(builder, CUSHIM_REASON_NOT_WANTED, cush_reason_code(CUSHIM_REASON_NOT_WANTED), NULL);
        return false;
    }
    if (!cush_os_has_driver) {
        cush_diagnosis_set_outcome(builder, CUSHIM_REASON_NOT_FOUND, cush_reason_code(CUSHIM_REASON_NOT_FOUND),
                                   "NVIDIA has no CUDA driver for this operating system.");
        builder->advice = "To use a GPU, run the program on Linux or Windows.";
        return false;
    }
    if (!search_try_all(&search)) {
        search_fail(&search);
        return false;
    }
    if (search_accept(&search))
        return true;
    if (request->handle == NULL)
        cush_os_library_close(driver->library);
    return false;
}
