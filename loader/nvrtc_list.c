/* SPDX-License-Identifier: MIT */
#include "nvrtc_list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/loader.h"
#include "os.h"

const char *const cush_nvrtc_place_names[NVRTC_PLACES] = {
    "open in this process",
    "beside this library",
    "beside the program",
    "a Python package of this process",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "CUDA_PATH",
    "CUDA_HOME",
    "LD_LIBRARY_PATH",
    "the search of the dynamic loader",
    "the directory of a Toolkit",
};

/* The packages of CUDA 11 and 12 are in nvidia/cuda_nvrtc, those of CUDA 13 in nvidia/cu13. CUDA_PATH=/usr means the
 * package of Debian. A library for another processor is refused when it is opened. */
const struct nvrtc_layout cush_nvrtc_layout_linux = {
    .toolkit =
        (const char *const[]){"lib64", "lib", "targets/x86_64-linux/lib", "targets/sbsa-linux/lib",
                              "targets/aarch64-linux/lib", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu", NULL},
    .packages = (const char *const[]){"nvidia/cu*/lib", "torch/lib", NULL},
    .environment = (const char *const[]){"lib/python3*/site-packages", NULL},
    .known = (const char *const[]){"/usr/local/cuda", "/usr/local/cuda-*", "/opt/cuda", "/usr", NULL},
    .search_path = "LD_LIBRARY_PATH",
};

/* PATH is not searched, as for the driver. The installer of a Toolkit sets CUDA_PATH. */
const struct nvrtc_layout cush_nvrtc_layout_windows = {
    .is_windows = true,
    .toolkit = (const char *const[]){"bin", "bin/x64", "bin/x86_64", "Library/bin", "Library/bin/x64", NULL},
    .packages = (const char *const[]){"nvidia/cu*/bin", "nvidia/cu*/bin/x86_64", "torch/lib", NULL},
    .environment = (const char *const[]){"Lib/site-packages", NULL},
    .known = (const char *const[]){"/NVIDIA GPU Computing Toolkit/CUDA/v*", NULL},
    .known_variable = "ProgramFiles",
};

/* ---- The names of files ---- */

struct nvrtc_name {
    bool is_builtins;
    bool is_exact; /* the version is that of the file */
    int version;
};

/* "nvrtc64_120_0.dll" is of each version 12, and "nvrtc-builtins64_129.dll" of 12.9. */
static bool name_read_windows(const char *name, struct nvrtc_name *out)
{
    static const char start[] = "nvrtc64_", builtins[] = "nvrtc-builtins64_";
    out->is_builtins = strncmp(name, builtins, sizeof builtins - 1) == 0;
    if ((!out->is_builtins && strncmp(name, start, sizeof start - 1) != 0) || strstr(name, ".dll") == NULL)
        return false;
    long number = strtol(name + (out->is_builtins ? sizeof builtins : sizeof start) - 1, NULL, 10);
    if (number < 70 || number >= 1000)
        return false;
    out->version = (int)(number / 10 * 1000 + number % 10 * 10);
    out->is_exact = out->is_builtins;
    return true;
}

/* "libnvrtc.so.11.2" is 11.2 to 11.8, "libnvrtc.so.12" each version 12, and older names have the version. A full name
 * has it, too: "libnvrtc.so.12.4.127". PyTorch's name is "libnvrtc-672ee683.so.11.2". */
static bool name_read_linux(const char *name, struct nvrtc_name *out)
{
    static const char start[] = "libnvrtc", builtins[] = "libnvrtc-builtins";
    int major = 0, minor = 0, patch = 0;
    const char *number = strstr(name, ".so.");
    if (number == NULL || strncmp(name, start, sizeof start - 1) != 0 || strchr(".-", name[sizeof start - 1]) == NULL)
        return false;
    int count = sscanf(number + 4, "%3d.%3d.%6d", &major, &minor, &patch);
    out->is_builtins = strncmp(name, builtins, sizeof builtins - 1) == 0;
    out->version = 1000 * major + 10 * minor;
    out->is_exact = count >= 2 && (out->is_builtins || count == 3 || out->version < 11020);
    return count >= 1 && major >= 7 && major < 100 && minor >= 0 && minor < 100;
}

/* The library with ".alt." in its name has another allocator, and is beside the usual one. */
static CUSHIM_COLD bool name_read(const struct nvrtc_layout *layout, const char *name, struct nvrtc_name *out)
{
    return strstr(name, ".alt.") == NULL
           && (layout->is_windows ? name_read_windows(name, out) : name_read_linux(name, out));
}

void cush_nvrtc_builtins_name(const struct nvrtc_layout *layout, int version, char *name, size_t size)
{
    snprintf(name, size, layout->is_windows ? "nvrtc-builtins64_%d%d.dll" : "libnvrtc-builtins.so.%d.%d",
             version / 1000, version % 1000 / 10);
}

/* ---- A directory ---- */

/* Writes the path of a file in the directory of the search without links. Not a part of its caller: a frame of both has
 * two paths. */
static CUSHIM_COLD bool list_resolve(const struct nvrtc_list *list, const char *name, char path[OS_PATH_SIZE])
{
    char found[NVRTC_PATH_SIZE + 256];
    snprintf(found, sizeof found, "%s/%.255s", list->path, name);
    if (list->root[0] != '\0')
        return cush_os_path_below(list->root, found, path, OS_PATH_SIZE);
    if (!cush_os_file_real_path(found, path))
        snprintf(path, OS_PATH_SIZE, "%s", found);
    return true;
}

static CUSHIM_COLD void list_add(struct nvrtc_list *list, const char *name, struct nvrtc_name read)
{
    struct nvrtc_name real;
    char path[OS_PATH_SIZE];
    if (list->count == NVRTC_MAX_COPIES || !list_resolve(list, name, path) || strlen(path) >= NVRTC_PATH_SIZE)
        return;
    for (int i = 0; i < list->count; i++) {
        if (strcmp(list->copies[i].path, path) == 0)
            return;
    }
    const char *slash = strrchr(path, '/');
    if (slash != NULL && name_read(list->layout, slash + 1, &real) && !real.is_builtins)
        read = real;
    struct nvrtc_copy *copy = &list->copies[list->count++];
    *copy = (struct nvrtc_copy){.place = list->place, .version = read.version, .is_exact = read.is_exact};
    strcpy(copy->path, path);
}

static CUSHIM_COLD bool list_take(const char *root, const char *directory, const char *name, void *user)
{
    struct nvrtc_list *list = user;
    struct nvrtc_name read;
    (void)root, (void)directory;
    if (!name_read(list->layout, name, &read))
        return false;
    if (!read.is_builtins && (list->only == NULL || strcmp(list->only, name) == 0))
        list_add(list, name, read);
    else if (read.is_builtins && list->builtins_count < NVRTC_MAX_PATHS)
        list->builtins[list->builtins_count++] = read.version;
    return false;
}

/* The newest builtins in the directory show which version a copy has. */
static void list_read_directory(struct nvrtc_list *list)
{
    int first = list->count;
    list->builtins_count = 0;
    cush_os_directory_find(list->root, list->path, list_take, list);
    for (int i = first; i < list->count; i++) {
        struct nvrtc_copy *copy = &list->copies[i];
        for (int j = 0; !copy->is_exact && j < list->builtins_count; j++) {
            if (list->builtins[j] / 1000 == copy->version / 1000 && list->builtins[j] > copy->version)
                copy->version = list->builtins[j];
        }
    }
}

/* ---- Patterns ---- */

/* What a function does in each directory of a pattern. */
struct pattern {
    struct nvrtc_list *list;
    void (*use)(struct nvrtc_list *list);
    const char *start, *rest; /* the name before and after its "*" */
};

/* Adds names to the path of the search. Returns false if it becomes too long. */
static CUSHIM_COLD bool path_enter(struct nvrtc_list *list, const char *names, size_t names_length)
{
    size_t length = strlen(list->path);
    bool has_slash = length == 0 || list->path[length - 1] == '/' || names[0] == '/';
    if (length + names_length + 2 > sizeof list->path)
        return false;
    snprintf(list->path + length, sizeof list->path - length, "%s%.*s", has_slash ? "" : "/", (int)names_length, names);
    return true;
}

static void pattern_walk(struct nvrtc_list *list, const char *pattern, void (*use)(struct nvrtc_list *list));

static CUSHIM_COLD bool pattern_match(const char *root, const char *directory, const char *name, void *user)
{
    const struct pattern *pattern = user;
    struct nvrtc_list *list = pattern->list;
    size_t length = strlen(list->path);
    (void)root, (void)directory;
    if (name[0] != '.' && strncmp(name, pattern->start, strcspn(pattern->start, "*")) == 0
        && path_enter(list, name, strlen(name)))
        pattern_walk(list, pattern->rest, pattern->use);
    list->path[length] = '\0';
    return false;
}

/* Calls a function in each directory below the path of the search that the pattern means. */
static CUSHIM_COLD void pattern_walk(struct nvrtc_list *list, const char *pattern, void (*use)(struct nvrtc_list *list))
{
    size_t length = strlen(list->path), names_length = strlen(pattern);
    const char *star = strchr(pattern, '*');
    if (star == NULL) {
        if (names_length == 0 || path_enter(list, pattern, names_length))
            use(list);
    } else {
        const char *start = star;
        while (start > pattern && start[-1] != '/')
            start--;
        struct pattern found = {list, use, start, star + 1};
        if (path_enter(list, pattern, (size_t)(start - pattern)))
            cush_os_directory_find(list->root, list->path, pattern_match, &found);
    }
    list->path[length] = '\0';
}

static void patterns_walk(struct nvrtc_list *list, const char *const *patterns, void (*use)(struct nvrtc_list *list))
{
    for (; *patterns != NULL; patterns++)
        pattern_walk(list, *patterns, use);
}

static void list_read_toolkit(struct nvrtc_list *list)
{
    patterns_walk(list, list->layout->toolkit, list_read_directory);
}

static void list_read_packages(struct nvrtc_list *list)
{
    patterns_walk(list, list->layout->packages, list_read_directory);
}

static void list_read_environment(struct nvrtc_list *list)
{
    patterns_walk(list, list->layout->environment, list_read_packages);
}

/* conda has both. */
static CUSHIM_COLD void list_read_conda(struct nvrtc_list *list)
{
    list_read_toolkit(list);
    list_read_environment(list);
}

/* Begins the search in a directory. */
static CUSHIM_COLD void list_read_at(struct nvrtc_list *list, const char *directory, size_t length,
                                     void (*use)(struct nvrtc_list *list))
{
    if (length == 0 || length >= sizeof list->path)
        return;
    memcpy(list->path, directory, length);
    list->path[length] = '\0';
    use(list);
}

/* ---- The process ---- */

static CUSHIM_COLD void paths_add(char paths[NVRTC_MAX_PATHS][NVRTC_PATH_SIZE], int *count, const char *path,
                                  size_t length)
{
    for (int i = 0; i < *count; i++) {
        if (strncmp(paths[i], path, length) == 0 && paths[i][length] == '\0')
            return;
    }
    if (*count < NVRTC_MAX_PATHS && length < NVRTC_PATH_SIZE) {
        memcpy(paths[*count], path, length);
        paths[(*count)++][length] = '\0';
    }
}

/* Python loads extensions from the directories of its packages, so their paths show those directories, also in a
 * program that calls Python; nothing of Python is called. */
static CUSHIM_COLD void process_see(const char *path, enum os_object kind, void *user)
{
    static const char *const marks[] = {"/site-packages/", "/dist-packages/"};
    struct nvrtc_list *list = user;
    struct nvrtc_name read;
    const char *slash = strrchr(path, '/');
    if (slash == NULL || strlen(path) >= NVRTC_PATH_SIZE)
        return;
    if (kind == OS_OBJECT_PROGRAM)
        strcpy(list->program, path);
    if (kind == OS_OBJECT_OWN)
        strcpy(list->library, path);
    if (name_read(list->layout, slash + 1, &read) && !read.is_builtins)
        paths_add(list->open, &list->open_count, path, strlen(path));
    for (size_t i = 0; i < sizeof marks / sizeof marks[0]; i++) {
        const char *mark = strstr(path, marks[i]);
        if (mark != NULL)
            paths_add(list->packages, &list->packages_count, path, (size_t)(mark - path) + strlen(marks[i]) - 1);
    }
}

static void list_read_file(struct nvrtc_list *list, const char *path)
{
    const char *slash = strrchr(path, '/');
    list->only = slash + 1;
    list_read_at(list, path, (size_t)(slash - path), list_read_directory);
    list->only = NULL;
}

static CUSHIM_COLD void list_read_prefix(struct nvrtc_list *list)
{
    pattern_walk(list, "lib", list_read_directory);
    list_read_environment(list);
}

static void list_read_around(struct nvrtc_list *list)
{
    list_read_directory(list);
    pattern_walk(list, "..", list_read_prefix);
}

/* Beside a Python, its packages count, too. */
static void list_read_beside(struct nvrtc_list *list, enum nvrtc_place place, const char *path)
{
    const char *slash = strrchr(path, '/');
    list->place = place;
    if (slash != NULL)
        list_read_at(list, path, (size_t)(slash - path), list_read_around);
}

static void list_read_process(struct nvrtc_list *list, bool is_privileged)
{
    cush_os_library_each(process_see, list);
    list->place = NVRTC_OPEN;
    for (int i = 0; i < list->open_count; i++)
        list_read_file(list, list->open[i]);
    if (is_privileged)
        return;
    list_read_beside(list, NVRTC_BESIDE_LIBRARY, list->library);
    list_read_beside(list, NVRTC_BESIDE_PROGRAM, list->program);
    list->place = NVRTC_PACKAGE;
    for (int i = 0; i < list->packages_count; i++)
        list_read_at(list, list->packages[i], strlen(list->packages[i]), list_read_packages);
}

/* ---- All places ---- */

static void list_read_variable(struct nvrtc_list *list, enum nvrtc_place place, const char *name,
                               void (*use)(struct nvrtc_list *list))
{
    int length = cush_os_environment_copy(name, list->value, sizeof list->value);
    list->place = place;
    if (length > 0 && (size_t)length < sizeof list->value)
        list_read_at(list, list->value, (size_t)length, use);
}

/* The end of a list that is too long is passed over. */
static void list_read_search_path(struct nvrtc_list *list)
{
    const char *const separator = ":";
    list->place = NVRTC_SEARCH_PATH;
    if (cush_os_environment_copy(list->layout->search_path, list->value, sizeof list->value) <= 0)
        return;
    for (const char *entry = list->value; *entry != '\0'; entry += strspn(entry, separator)) {
        size_t length = strcspn(entry, separator);
        list_read_at(list, entry, length, list_read_directory);
        entry += length;
    }
}

static void list_read_searched(const char *directory, void *list)
{
    list_read_at(list, directory, strlen(directory), list_read_directory);
}

static void list_read_known(struct nvrtc_list *list)
{
    patterns_walk(list, list->layout->known, list_read_toolkit);
}

void cush_nvrtc_list_read(struct nvrtc_list *list)
{
    const struct nvrtc_layout *layout = list->layout;
    bool is_privileged = cush_os_privileged();
    if (list->root[0] == '\0')
        list_read_process(list, is_privileged);
    if (!is_privileged) {
        list_read_variable(list, NVRTC_VIRTUAL_ENV, "VIRTUAL_ENV", list_read_environment);
        list_read_variable(list, NVRTC_CONDA, "CONDA_PREFIX", list_read_conda);
        list_read_variable(list, NVRTC_CUDA_PATH, "CUDA_PATH", list_read_toolkit);
        list_read_variable(list, NVRTC_CUDA_HOME, "CUDA_HOME", list_read_toolkit);
        if (layout->search_path != NULL)
            list_read_search_path(list);
    }
    if (!is_privileged && list->root[0] == '\0') {
        list->place = NVRTC_LOADER;
        cush_os_library_each_directory("libnvrtc.so.", list_read_searched, list);
    }
    list->place = NVRTC_TOOLKIT;
    list->path[0] = '\0';
    if (layout->known_variable != NULL)
        list_read_variable(list, NVRTC_TOOLKIT, layout->known_variable, list_read_known);
    else
        list_read_known(list);
}
