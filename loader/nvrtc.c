/* SPDX-License-Identifier: MIT */
#include "cushim/nvrtc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cushim/gpu.h"
#include "error.h"
#include "find_driver.h"
#include "load.h"
#include "nvrtc_list.h"
#include "os.h"
#include "version.h"

#if defined(_WIN32)
#    define OUR_LAYOUT cush_nvrtc_layout_windows
#else
#    define OUR_LAYOUT cush_nvrtc_layout_linux
#endif

enum {
    MAX_GPUS = 64,
    MAX_ARCHITECTURES = 64,
    HAS_CUBIN = 11010,    /* the first version with nvrtcGetCUBIN */
    HAS_BUILTINS = 11000, /* the first version with builtins of exactly its version */
    FIRST_PACKAGE = 11    /* the first major version that PyPI has */
};

/* How well a copy fits, by its version: its output is what the program prefers, or the other kind, or does not load. */
enum { RANK_BEST, RANK_OTHER, RANK_NONE };

/* Which failure a person has to know of, if no copy fits; the last first. */
enum severity { SEVERITY_NONE, SEVERITY_FILE, SEVERITY_DRIVER, SEVERITY_GPU, SEVERITY_REPAIRABLE };

struct nvrtc_search {
    const struct cushim_nvrtc_options *options;
    struct cushim_nvrtc found;
    enum severity severity;
    struct nvrtc_list list;
    struct cushim_gpu gpus[MAX_GPUS];
};

/* ---- The rule ---- */

/* The architectures of a copy. */
struct architectures {
    bool is_known;
    int lowest, best; /* the lowest, and the highest that is not newer than the GPU; 0: none */
    bool has_own;     /* that of the GPU itself */
};

/* The PTX of a version, in the form of branches.inc. A version that is newer than the list has newer PTX. */
static int version_ptx(int version)
{
    int found = 0, newest = 0;
#define CUSHIM_BRANCH(since, branch, ptx)                                                                              \
    found = (since) <= version ? (ptx) : found;                                                                        \
    newest = (since);
#include "lists/branches.inc"
    return version > newest ? found + version - newest : found;
}

static bool driver_compiles(int driver, int version)
{
    return driver == 0 || version_ptx(version) <= version_ptx(driver);
}

static bool driver_loads_cubin(int driver, int version)
{
    return version >= HAS_CUBIN && (driver_compiles(driver, version) || version / 1000 == driver / 1000);
}

static int nvrtc_rank(const struct nvrtc_search *search, int version)
{
    bool has_ptx = driver_compiles(search->found.driver, version);
    bool has_cubin = driver_loads_cubin(search->found.driver, version);
    bool is_best = search->options->output == CUSHIM_NVRTC_PTX ? has_ptx : has_cubin;
    return is_best ? RANK_BEST : has_ptx || has_cubin ? RANK_OTHER : RANK_NONE;
}

/* 8060 is 86. */
static int architecture_of(int capability)
{
    return capability / 1000 * 10 + capability % 1000 / 10;
}

static void architectures_add(struct architectures *all, int architecture, int own)
{
    if (all->lowest == 0 || architecture < all->lowest)
        all->lowest = architecture;
    if (architecture <= own && architecture > all->best)
        all->best = architecture;
    all->has_own |= architecture == own;
}

/* Before 11.2, NVRTC has no such function; then the list says it. */
static struct architectures architectures_read(void *library, int version, int own)
{
    cushim_fn count_fn = cush_os_library_symbol(library, "nvrtcGetNumSupportedArchs");
    cushim_fn list_fn = cush_os_library_symbol(library, "nvrtcGetSupportedArchs");
    struct architectures all = {.is_known = own != 0};
    int count = 0, list[MAX_ARCHITECTURES];
    if (count_fn != NULL && list_fn != NULL && ((int (*)(int *))count_fn)(&count) == 0 && count > 0
        && count <= MAX_ARCHITECTURES && ((int (*)(int *))list_fn)(list) == 0) {
        for (int i = 0; i < count; i++)
            architectures_add(&all, list[i], own);
        return all;
    }
#define CUSHIM_ARCHITECTURE(capability, first, last)                                                                   \
    if ((first) <= version && ((last) == 0 || version <= (last)))                                                      \
        architectures_add(&all, architecture_of(capability), own);
#include "lists/architectures.inc"
    return all;
}

/* ---- What is said ---- */

CUSHIM_PRINTF(2, 3)
static void nvrtc_say(struct nvrtc_search *search, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(search->found.message, sizeof search->found.message, format, arguments);
    va_end(arguments);
}

/* Records why a copy cannot be used, unless something that is worse is known. Returns whether that is to be said. */
static bool nvrtc_fails(struct nvrtc_search *search, enum severity severity, enum cushim_reason reason)
{
    if (severity <= search->severity)
        return false;
    search->severity = severity;
    search->found.reason = reason;
    return true;
}

/* The last major version that compiles for the GPU, but none that the driver cannot load. */
static int advised_version(const struct cushim_nvrtc *found)
{
    int last = 0;
#define CUSHIM_ARCHITECTURE(one, first, until) last = (one) == found->capability ? (until) : last;
#include "lists/architectures.inc"
    return last != 0 && last / 1000 < found->driver / 1000 ? last : found->driver;
}

static void nvrtc_advise(struct nvrtc_search *search)
{
    struct cushim_nvrtc *found = &search->found;
    int version = advised_version(found), major = version / 1000;
    char package[64] = "", number[16];
    if (found->driver == 0) {
        snprintf(found->advice, sizeof found->advice,
                 "Install NVIDIA's driver first, and then the NVRTC of its CUDA version.");
        return;
    }
    /* pip chooses the newest one that is not newer than the driver. Of 11, it has only the last ones. */
    if (major >= 13)
        snprintf(package, sizeof package, "\"nvidia-cuda-nvrtc>=%d,<%s\"", major, cush_version_text(version + 10).text);
    else if (major == 12)
        snprintf(package, sizeof package, "\"nvidia-cuda-nvrtc-cu12<%s\"", cush_version_text(version + 10).text);
    else if (major == FIRST_PACKAGE)
        snprintf(package, sizeof package, "nvidia-cuda-nvrtc-cu11");
    if (major >= FIRST_PACKAGE)
        snprintf(number, sizeof number, "%d", major);
    else
        snprintf(number, sizeof number, "%s", cush_version_text(version).text);
    snprintf(found->advice, sizeof found->advice,
             "%s NVRTC %s (%s%s%sa CUDA Toolkit). If it is not found there, set CUDA_PATH to its directory.",
             search->severity == SEVERITY_REPAIRABLE ? "Install the file again, or another" : "Install", number,
             package[0] != '\0' ? "pip install " : "", package, package[0] != '\0' ? ", or " : "");
}

/* ---- One copy ---- */

static bool nvrtc_fail_version(struct nvrtc_search *search, const struct nvrtc_copy *copy)
{
    if (nvrtc_fails(search, SEVERITY_DRIVER, CUSHIM_REASON_TOO_OLD))
        nvrtc_say(search,
                  "NVRTC %s (%s) is newer than the driver, which is of CUDA %s: what it compiles does not load.",
                  cush_version_text(copy->version).text, copy->path, cush_version_text(search->found.driver).text);
    return false;
}

static bool nvrtc_fail_gpu(struct nvrtc_search *search, const struct nvrtc_copy *copy, bool is_too_new)
{
    if (!nvrtc_fails(search, SEVERITY_GPU, CUSHIM_REASON_LACKS_FEATURE))
        return false;
    if (is_too_new)
        nvrtc_say(search, "NVRTC %s (%s) no longer compiles for this GPU, of compute capability %s.",
                  cush_version_text(copy->version).text, copy->path, cush_version_text(search->found.capability).text);
    else
        nvrtc_say(search,
                  "NVRTC %s (%s) does not yet compile for this GPU, of compute capability %s, and its PTX is "
                  "too new for the driver.",
                  cush_version_text(copy->version).text, copy->path, cush_version_text(search->found.capability).text);
    return false;
}

/* Opens the builtins of a copy, which NVRTC then gets by their name. By itself, it would get those of another version
 * from LD_LIBRARY_PATH first, and, without a RUNPATH, those beside it not at all. They stay open. */
static bool nvrtc_open_builtins(struct nvrtc_search *search, const struct nvrtc_copy *copy)
{
    char name[64], path[NVRTC_PATH_SIZE + sizeof name], error[512] = "";
    const char *slash = strrchr(copy->path, '/');
    void *library;
    if (copy->version < HAS_BUILTINS)
        return true;
    cush_nvrtc_builtins_name(&OUR_LAYOUT, copy->version, name, sizeof name);
    snprintf(path, sizeof path, "%.*s/%s", slash != NULL ? (int)(slash - copy->path) : 1,
             slash != NULL ? copy->path : ".", name);
    enum os_library_result result = OS_LIBRARY_ABSENT;
    if (cush_os_file_state(path, false) != OS_FILE_ABSENT)
        result = cush_os_library_open(path, &library, error, sizeof error);
    else if (cush_os_library_open_mapped(name) != NULL)
        result = OS_LIBRARY_OPEN;
    if (result == OS_LIBRARY_OPEN)
        return true;
    if (result != OS_LIBRARY_ABSENT && nvrtc_fails(search, SEVERITY_REPAIRABLE, cush_search_reason(result)))
        nvrtc_say(search, "%s, which NVRTC needs, cannot be used: %s.", path, error);
    else if (nvrtc_fails(search, SEVERITY_REPAIRABLE, CUSHIM_REASON_NEEDS_LIBRARY))
        nvrtc_say(search, "%s lacks its second file, %s, so that every compilation fails.", copy->path, name);
    return false;
}

static void nvrtc_accept(struct nvrtc_search *search, const struct nvrtc_copy *copy, void *library,
                         const struct architectures *all)
{
    struct cushim_nvrtc *found = &search->found;
    bool has_ptx = driver_compiles(found->driver, copy->version);
    bool wants_cubin = search->options->output == CUSHIM_NVRTC_CUBIN && all->has_own && copy->version >= HAS_CUBIN;
    found->reason = CUSHIM_REASON_NONE;
    found->message[0] = '\0';
    found->handle = library;
    found->version = copy->version;
    found->is_ptx_usable = has_ptx;
    found->place = cush_nvrtc_place_names[copy->place];
    snprintf(found->path, sizeof found->path, "%s", copy->path);
    if (all->is_known && all->best != 0)
        snprintf(found->target, sizeof found->target, "%s%hu", !has_ptx || wants_cubin ? "sm_" : "compute_",
                 (unsigned short)all->best);
    if (!has_ptx)
        nvrtc_say(search,
                  "NVRTC %s is newer than the driver, of CUDA %s: its CUBINs load, and its PTX does not (error 222).",
                  cush_version_text(found->version).text, cush_version_text(found->driver).text);
    else if (found->driver == 0)
        nvrtc_say(search, "No driver is loaded, so it is not known which NVRTC fits.");
}

/* Returns whether an open copy fits. If it fits less well than its files say, its turn comes later. */
static bool nvrtc_judge(struct nvrtc_search *search, struct nvrtc_copy *copy, void *library)
{
    int major = 0, minor = 0, rank_by_names = copy->rank;
    cushim_fn version_fn = cush_os_library_symbol(library, "nvrtcVersion");
    if (version_fn == NULL || ((int (*)(int *, int *))version_fn)(&major, &minor) != 0 || major < 7 || major > 1000) {
        if (nvrtc_fails(search, SEVERITY_REPAIRABLE, CUSHIM_REASON_NOT_A_DRIVER))
            nvrtc_say(search, "%s is not NVRTC.", copy->path);
        return false;
    }
    copy->version = 1000 * major + 10 * minor;
    copy->rank = nvrtc_rank(search, copy->version);
    if (copy->rank == RANK_NONE)
        return nvrtc_fail_version(search, copy);
    bool has_ptx = driver_compiles(search->found.driver, copy->version);
    struct architectures all = architectures_read(library, copy->version, architecture_of(search->found.capability));
    if (all.is_known && all.best == 0)
        return nvrtc_fail_gpu(search, copy, true);
    if (all.is_known && !all.has_own && !has_ptx)
        return nvrtc_fail_gpu(search, copy, false);
    if (all.is_known && !all.has_own && search->options->output == CUSHIM_NVRTC_CUBIN)
        copy->rank = RANK_OTHER;
    copy->is_tried = copy->rank <= rank_by_names;
    if (!copy->is_tried || !nvrtc_open_builtins(search, copy))
        return false;
    nvrtc_accept(search, copy, library, &all);
    return true;
}

static bool nvrtc_try(struct nvrtc_search *search, struct nvrtc_copy *copy)
{
    char error[512];
    void *library;
    copy->is_tried = true;
    if (copy->rank == RANK_NONE)
        return nvrtc_fail_version(search, copy);
    enum os_library_result result = cush_os_library_open(copy->path, &library, error, sizeof error);
    if (result == OS_LIBRARY_OPEN) {
        if (nvrtc_judge(search, copy, library))
            return true;
        cush_os_library_close(library);
    } else if (nvrtc_fails(search, result == OS_LIBRARY_UNLOADABLE ? SEVERITY_FILE : SEVERITY_REPAIRABLE,
                           cush_search_reason(result))) {
        nvrtc_say(search, "%s cannot be opened: %s.", copy->path, error);
    }
    return false;
}

/* ---- The search ---- */

static struct nvrtc_copy *nvrtc_next(struct nvrtc_list *list)
{
    struct nvrtc_copy *next = NULL;
    for (int i = 0; i < list->count; i++) {
        struct nvrtc_copy *copy = &list->copies[i];
        if (!copy->is_tried
            && (next == NULL || copy->rank < next->rank
                || (copy->rank == next->rank
                    && (copy->place < next->place || (copy->place == next->place && copy->version > next->version)))))
            next = copy;
    }
    return next;
}

static bool nvrtc_try_all(struct nvrtc_search *search)
{
    struct nvrtc_copy *copy;
    for (int i = 0; i < search->list.count; i++)
        search->list.copies[i].rank = nvrtc_rank(search, search->list.copies[i].version);
    while ((copy = nvrtc_next(&search->list)) != NULL) {
        if (nvrtc_try(search, copy))
            return true;
    }
    return false;
}

/* The capability of the device. If it is not known which GPU the device is, all that it can be must be of one. */
static CUSHIM_COLD int nvrtc_capability(struct nvrtc_search *search)
{
    struct cushim_gpu_options options = {.root = search->options->root};
    struct cushim_gpus all;
    int capability = 0;
    if (search->options->capability != 0)
        return search->options->capability;
    if (cushim_gpu_find(&options, search->gpus, MAX_GPUS, &all) != CUDA_SUCCESS)
        return 0;
    for (int i = 0; i < all.count && i < MAX_GPUS; i++) {
        if (search->gpus[i].ordinal == search->options->ordinal)
            return search->gpus[i].capability;
    }
    for (int i = 0; i < all.count && i < MAX_GPUS; i++) {
        const struct cushim_gpu *gpu = &search->gpus[i];
        if (gpu->ordinal != CUSHIM_GPU_NOT_KNOWN)
            continue;
        if (gpu->capability == 0 || (capability != 0 && gpu->capability != capability))
            return 0;
        capability = gpu->capability;
    }
    return capability;
}

static int nvrtc_driver(const struct cushim_nvrtc_options *options)
{
    if (options->driver_version != 0)
        return options->driver_version;
    return cush_load_has_driver() ? cushim_driver_version() : 0;
}

static void nvrtc_run(struct nvrtc_search *search)
{
    struct cushim_nvrtc *found = &search->found;
    found->driver = nvrtc_driver(search->options);
    found->capability = nvrtc_capability(search);
    found->place = "";
    search->list.layout = &OUR_LAYOUT;
    search->list.root = search->options->root != NULL ? search->options->root : "";
    cush_nvrtc_list_read(&search->list);
    if (nvrtc_try_all(search))
        return;
    if (nvrtc_fails(search, SEVERITY_FILE, CUSHIM_REASON_NOT_FOUND))
        nvrtc_say(search,
                  "NVRTC, which compiles kernels when a program runs, was not found. It is not part of the driver.");
    nvrtc_advise(search);
}

static const char *nvrtc_fault(const struct cushim_nvrtc_options *options, const struct cushim_nvrtc *out_nvrtc)
{
    if (out_nvrtc == NULL)
        return "out_nvrtc is NULL.";
    if ((unsigned)options->output > CUSHIM_NVRTC_CUBIN)
        return "The option output has no such value.";
    if (options->ordinal < 0 || options->capability < 0 || options->driver_version < 0)
        return "An option is negative.";
    for (size_t i = 0; i < sizeof options->reserved / sizeof options->reserved[0]; i++) {
        if (options->reserved[i] != NULL)
            return "A reserved member of the options is not zero.";
    }
    return NULL;
}

CUSHIM_COLD cushim_result cushim_nvrtc_find(const struct cushim_nvrtc_options *options, struct cushim_nvrtc *out_nvrtc)
{
    static const struct cushim_nvrtc_options defaults = {.root = NULL};
    static const char function[] = "cushim_nvrtc_find";
    options = options != NULL ? options : &defaults;
    const char *fault = nvrtc_fault(options, out_nvrtc);
    if (fault != NULL)
        return cush_error_set(CUDA_ERROR_INVALID_VALUE, function, fault, NULL);
    struct nvrtc_search *search = calloc(1, sizeof *search);
    if (search == NULL)
        return cush_error_set(CUDA_ERROR_OUT_OF_MEMORY, function, "Memory is exhausted.", NULL);
    search->options = options;
    nvrtc_run(search);
    *out_nvrtc = search->found;
    free(search);
    return CUDA_SUCCESS;
}

cushim_fn cushim_nvrtc_symbol(const struct cushim_nvrtc *nvrtc, const char *symbol)
{
    return nvrtc->handle != NULL ? cush_os_library_symbol(nvrtc->handle, symbol) : NULL;
}
