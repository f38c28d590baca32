/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVER(stem, what, debian, capability, is_needed)                                                              \
    {                                                                                                                  \
        stem, what, LIBRARY_OF_DRIVER, debian, capability, "", is_needed                                               \
    }
#define TOOLKIT(stem, what, python, conda, debian, sonames)                                                            \
    {                                                                                                                  \
        stem, what, LIBRARY_OF_TOOLKIT, python, "conda: " conda "; Debian: " debian, sonames, true                     \
    }
#define ALONE(stem, what, where, is_needed)                                                                            \
    {                                                                                                                  \
        stem, what, LIBRARY_ALONE, "", where, "", is_needed                                                            \
    }

/* In this order: what is missing is said of the first one. */
static const struct stack_library libraries[] = {
    ALONE("libcuda.so", "the driver library", "NVIDIA's driver", false),
    TOOLKIT("libcudart.so", "the CUDA runtime", "cuda-runtime", "cuda-cudart", "libcudart", "11.0 12 13"),
    TOOLKIT("libnvrtc.so", "the run-time compiler", "cuda-nvrtc", "cuda-nvrtc", "libnvrtc", "11.2 12 13"),
    TOOLKIT("libnvrtc-builtins.so", "the second file of the run-time compiler", "cuda-nvrtc", "cuda-nvrtc",
            "libnvrtc-builtins", "11 12 13"),
    TOOLKIT("libnvvm.so", "the compiler of kernels of Numba", "cuda-nvcc", "cuda-nvvm-impl", "libnvvm", "4 4 4"),
    DRIVER("libnvidia-encode.so", "the encoder of the driver", "libnvidia-encode1", "video", true),
    DRIVER("libnvcuvid.so", "the decoder of the driver", "libnvcuvid1", "video", true),
    DRIVER("libnvoptix.so", "OptiX", "libnvoptix1", "graphics", true),
    DRIVER("libnvidia-ml.so", "NVML", "libnvidia-ml1", "utility", false),
    DRIVER("libnvidia-ptxjitcompiler.so", "the compiler of the driver", "libnvidia-ptxjitcompiler1", "compute", false),
    DRIVER("libnvidia-nvvm.so", "the compiler of the driver", "libnvidia-nvvm4", "compute", false),
    DRIVER("libnvidia-nvvm70.so", "the compiler of the driver", "libnvidia-nvvm4", "compute", false),
    DRIVER("libnvidia-tileiras.so", "the compiler of the driver for tiles", "nvidia-driver-libs", "compute", false),
    TOOLKIT("libcudnn.so", "cuDNN", "cudnn", "cudnn", "nvidia-cudnn", "8 9 9"),
    TOOLKIT("libcublas.so", "cuBLAS", "cublas", "libcublas", "libcublas", "11 12 13"),
    TOOLKIT("libcublasLt.so", "cuBLASLt", "cublas", "libcublas", "libcublaslt", "11 12 13"),
    TOOLKIT("libcufft.so", "cuFFT", "cufft", "libcufft", "libcufft", "10 11 12"),
    TOOLKIT("libcurand.so", "cuRAND", "curand", "libcurand", "libcurand", "10 10 10"),
    TOOLKIT("libcusparse.so", "cuSPARSE", "cusparse", "libcusparse", "libcusparse", "11 12 12"),
    {"libcusparseLt.so", "cuSPARSELt", LIBRARY_OF_TOOLKIT, "cusparselt", "conda: cusparselt", "0 0 0", true},
    TOOLKIT("libcusolver.so", "cuSOLVER", "cusolver", "libcusolver", "libcusolver", "11 11 12"),
    TOOLKIT("libnvJitLink.so", "nvJitLink", "nvjitlink", "libnvjitlink", "libnvjitlink", "- 12 13"),
    TOOLKIT("libcufile.so", "cuFile", "cufile", "libcufile", "libcufile", "0 0 0"),
    ALONE("libnvinfer.so", "TensorRT", "TensorRT (the Python package tensorrt)", true),
    {"libnccl.so", "NCCL", LIBRARY_OF_TOOLKIT, "nccl", "conda: nccl; Debian: libnccl", "2 2 2", false},
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0], FIRST_CUDA = 11, LAST_CUDA = 13 };

static const char packages[] = "-packages/"; /* site-packages, dist-packages */

const char *library_file(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

/* Parts of a library count as the library: libcudnn_ops.so.9, libcublasLt.so.12 has a row of its own. */
const struct stack_library *library_of(const char *name)
{
    const char *file = library_file(name);
    for (size_t i = 0; i < LIBRARIES; i++) {
        size_t length = strlen(libraries[i].stem) - strlen(".so");
        const char *rest = file + length;
        if (strncmp(file, libraries[i].stem, length) != 0)
            continue;
        if (*rest == '_')
            rest += strcspn(rest, ".");
        if (text_starts_with(rest, ".so") && strchr(".", rest[strlen(".so")]) != NULL)
            return &libraries[i];
    }
    return NULL;
}

const struct stack_library *library_next(const struct stack_library *library)
{
    if (library == NULL)
        return libraries;
    return library + 1 < libraries + LIBRARIES ? library + 1 : NULL;
}

bool library_passes_on(const char *path)
{
    return pattern_matches("_ctypes* libffi* libgmodule* libasan*", library_file(path));
}

/* Without a part of it, a library is of no use; other names of the whole library are alternatives. */
static bool is_part(const char *name, const struct stack_library *library)
{
    return library_file(name)[strlen(library->stem) - strlen(".so")] == '_';
}

bool library_sought(const struct watched_process *process, const struct stack_library *library, struct sought *sought)
{
    const struct search *searches = process->searches.items;
    *sought = (struct sought){.by = NULL};
    for (size_t i = 0; i < process->searches.count; i++) {
        const char *name = library_file(searches[i].name);
        size_t length = strlen(sought->names);
        if (library_of(name) != library)
            continue;
        if (sought->by == NULL) {
            sought->by = searches[i].by;
            sought->is_linked = searches[i].is_linked;
        }
        if (sought->file == NULL)
            sought->file = searches[i].file;
        if (!text_list_has(sought->names, name) && length + strlen(name) + 3 < sizeof sought->names)
            snprintf(sought->names + length, sizeof sought->names - length, "%s%s", length > 0 ? ", " : "", name);
    }
    for (size_t i = 0; sought->file != NULL && i < process->searches.count; i++) {
        if (searches[i].file == NULL && library_of(searches[i].name) == library && is_part(searches[i].name, library)) {
            *sought = (struct sought){.by = searches[i].by, .is_linked = searches[i].is_linked};
            snprintf(sought->names, sizeof sought->names, "%s", library_file(searches[i].name));
        }
    }
    return sought->by != NULL;
}

/* ---- what has a library ---- */

/* The version in the name of a file: that of libcublas.so.12 is 12, and 0 if it has none. */
static int version_of(const char *name)
{
    const char *so = strstr(library_file(name), ".so.");
    return so != NULL ? atoi(so + strlen(".so.")) : 0;
}

/* Whether a library of a CUDA version has this version in its name. */
static bool is_of_cuda(const struct stack_library *library, int version, int cuda)
{
    char item[16];
    const char *rest = library->sonames;
    for (int i = FIRST_CUDA; text_next_item(&rest, " ", item, sizeof item); i++) {
        if (i == cuda)
            return version == atoi(item) && item[0] != '-';
    }
    return false;
}

/* The CUDA version of which a process looks for a library, 11 to 13, or 0. Several can have it: then those decide that
 * the process also looks for and that have the number of CUDA in their names; otherwise, CUDA 12. */
static int cuda_of(const struct watched_process *process, const struct stack_library *library, int version)
{
    static const char *const telling[] = {"libcudart.so", "libcublas.so", "libcublasLt.so", "libnvrtc.so"};
    struct sought sought;
    int candidates = 0, found = 0;
    for (int cuda = LAST_CUDA; cuda >= FIRST_CUDA; cuda--) {
        if (!is_of_cuda(library, version, cuda))
            continue;
        candidates++;
        found = found == 0 || cuda == 12 ? cuda : found;
        for (size_t i = 0; i < sizeof telling / sizeof telling[0]; i++) {
            const struct stack_library *other = library_of(telling[i]);
            if (library_sought(process, other, &sought) && is_of_cuda(other, version_of(sought.names), cuda))
                return cuda;
        }
    }
    return found;
}

void library_write_where(const struct watched_process *process, const struct stack_library *library, char *where,
                         size_t size)
{
    struct sought sought;
    (void)library_sought(process, library, &sought);
    int version = version_of(sought.names), cuda = cuda_of(process, library, version);
    char suffix[16] = "", digits[16] = ""; /* of the package of Debian */
    bool is_alone = library->kind == LIBRARY_OF_TOOLKIT && pattern_matches("cudnn nccl cusparselt", library->package);
    /* The packages of CUDA 13 have no suffix, but for those with a version of their own. */
    if (cuda != 0 && (cuda != LAST_CUDA || is_alone))
        snprintf(suffix, sizeof suffix, "-cu%d", cuda);
    if (!pattern_matches("cudnn cusparselt", library->package))
        snprintf(digits, sizeof digits, "%d", version);
    if (library->kind == LIBRARY_ALONE)
        snprintf(where, size, "%s", library->more);
    else if (library->kind == LIBRARY_OF_DRIVER)
        snprintf(where, size,
                 "the rest of NVIDIA's driver (Debian: %s; in a container: NVIDIA_DRIVER_CAPABILITIES with %s)",
                 library->package, library->more);
    else if (cuda == 0)
        snprintf(where, size, "the CUDA Toolkit that has %s", sought.names);
    else
        snprintf(where, size, "%s or the Python package nvidia-%s%s (%s%s)",
                 is_alone ? library->what : "the CUDA Toolkit", library->package, suffix, library->more, digits);
}

/* Writes the first file that matches. */
static bool find_file(const char *directory, const char *name, char *path, size_t size)
{
    char pattern[PLATFORM_PATH_SIZE];
    glob_t found;
    int length = snprintf(pattern, sizeof pattern, "%s/%s", directory, name);
    if (length < 0 || (size_t)length >= sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
        return false;
    snprintf(path, size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return true;
}

/* In the packages of Python of an object, and beside it. */
static bool find_near(const char *object, const char *name, char *path, size_t size)
{
    static const char *const below[] = {"nvidia/*/lib", "nvidia/*/lib/*", "*/lib", "*.libs", "torch/lib"};
    const char *site = strstr(object, packages);
    char directory[PLATFORM_PATH_SIZE];
    for (size_t i = 0; site != NULL && i < sizeof below / sizeof below[0]; i++) {
        snprintf(directory, sizeof directory, "%.*s%s", (int)(site - object + (long)strlen(packages)), object,
                 below[i]);
        if (find_file(directory, name, path, size))
            return true;
    }
    snprintf(directory, sizeof directory, "%.*s", (int)(library_file(object) - object), object);
    return directory[0] == '/' && !text_starts_with(directory, "/usr/") && !text_starts_with(directory, "/lib")
           && find_file(directory, name, path, size);
}

static bool find_anywhere(const struct watched_process *process, const char *name, char *path, size_t size)
{
    static const char *const directories[] = {"/usr/lib/*-linux-gnu", "/usr/lib64",       "/usr/local/cuda*/lib64",
                                              "/usr/local/lib",       "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};
    const struct object *objects = process->objects.items;
    const struct search *searches = process->searches.items;
    for (size_t i = 0; i < process->searches.count; i++) {
        if (find_near(searches[i].by, name, path, size))
            return true;
    }
    for (size_t i = 0; i < process->objects.count; i++) {
        if (strstr(objects[i].path, packages) != NULL && find_near(objects[i].path, name, path, size))
            return true;
    }
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        if (find_file(directories[i], name, path, size))
            return true;
    }
    return false;
}

bool library_find_other(const struct watched_process *process, const struct stack_library *library, char *path,
                        size_t size)
{
    char name[256], any[64];
    struct sought sought;
    path[0] = '\0';
    (void)library_sought(process, library, &sought);
    for (const char *rest = sought.names; text_next_item(&rest, ",", name, sizeof name);) {
        if (find_anywhere(process, name + strspn(name, " "), path, size))
            return true;
    }
    snprintf(any, sizeof any, "%s*", library->stem);
    (void)find_anywhere(process, any, path, size);
    return false;
}

/* ---- packages of Python ---- */

bool library_find_excluding(const struct watched_process *process, struct excluding *excluding)
{
    static const struct {
        const char *module, *package, *pattern; /* of the directory with what pip knows about it */
        const char *rival, *rival_pattern;
    } rows[] = {
        {"onnxruntime/", "onnxruntime", "onnxruntime-[0-9]*.dist-info", "onnxruntime-gpu",
         "onnxruntime_gpu-*.dist-info"},
        {"faiss/", "faiss-cpu", "faiss_cpu-*.dist-info", "faiss-gpu", "faiss_gpu*.dist-info"},
        {"tensorflow/", "tensorflow-cpu", "tensorflow_cpu-*.dist-info", "tensorflow", "tensorflow-[0-9]*.dist-info"},
    };
    const struct object *objects = process->objects.items;
    char path[PLATFORM_PATH_SIZE], directory[PLATFORM_PATH_SIZE];
    for (size_t i = 0; i < process->objects.count; i++) {
        const char *site = strstr(objects[i].path, packages);
        for (size_t k = 0; site != NULL && k < sizeof rows / sizeof rows[0]; k++) {
            if (!text_starts_with(site + strlen(packages), rows[k].module))
                continue;
            snprintf(directory, sizeof directory, "%.*s", (int)(site - objects[i].path + (long)strlen(packages)),
                     objects[i].path);
            *excluding = (struct excluding){rows[k].package, rows[k].rival, rows[k].rival};
            if (find_file(directory, rows[k].pattern, path, sizeof path)
                && find_file(directory, rows[k].rival_pattern, path, sizeof path))
                return true;
        }
    }
    return false;
}

const struct object *library_find_object(const struct watched_process *process, const char *files)
{
    const struct object *objects = process->objects.items;
    for (size_t i = 0; i < process->objects.count; i++) {
        if (pattern_matches(files, library_file(objects[i].path)))
            return &objects[i];
    }
    return NULL;
}

/* numpy.libs is a part of numpy. */
void library_list_packages(const struct watched_process *process, char *names, size_t size)
{
    const struct object *objects = process->objects.items;
    char name[80];
    names[0] = '\0';
    for (size_t i = 0; i < process->objects.count; i++) {
        const char *site = strstr(objects[i].path, packages), *package = site != NULL ? site + strlen(packages) : "";
        size_t used = strlen(names);
        snprintf(name, sizeof name, " %.*s", (int)strcspn(package, "/."), package);
        if (strchr(package, '/') != NULL && !text_list_has(names, name + 1))
            snprintf(names + used, size - used, "%s%s", used > 0 ? "," : "", name);
    }
}

/* Whether a file has this text in it. */
static bool file_contains(const char *path, const char *word)
{
    struct stat status;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    bool can_read = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
    void *bytes = can_read ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    bool found = bytes != MAP_FAILED && memmem(bytes, (size_t)status.st_size, word, strlen(word)) != NULL;
    if (bytes != MAP_FAILED)
        munmap(bytes, (size_t)status.st_size);
    if (file >= 0)
        close(file);
    return found;
}

/* Whether a process itself asked for an object: a library of a library, such as libavcodec in PyTorch, says nothing. */
static bool is_asked_for(const struct watched_process *process, const char *path)
{
    const struct search *searches = process->searches.items;
    for (size_t i = 0; i < process->searches.count; i++) {
        if (searches[i].file != NULL && strcmp(searches[i].file, path) == 0
            && (!searches[i].is_linked || strcmp(searches[i].by, process->path) == 0))
            return true;
    }
    return strstr(path, packages) != NULL;
}

/* Whether it opens the driver itself, or is a library of the Toolkit: a front such as libcudnn.so.9 names no driver. */
static bool has_cuda(const char *path)
{
    const struct stack_library *library = library_of(path);
    return (library != NULL && library->kind == LIBRARY_OF_TOOLKIT) || file_contains(path, "libcuda.so");
}

const char *library_find_able(const struct watched_process *process, bool is_any)
{
    const struct object *objects = process->objects.items;
    if (file_contains(process->path, "libcuda.so"))
        return process->path;
    for (size_t i = 0; i < process->objects.count; i++) {
        if ((is_any || is_asked_for(process, objects[i].path)) && !pattern_matches("*/auditor.so", objects[i].path)
            && has_cuda(objects[i].path))
            return objects[i].path;
    }
    return NULL;
}
