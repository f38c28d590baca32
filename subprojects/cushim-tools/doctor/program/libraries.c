/* SPDX-License-Identifier: MIT */
#include "program.h"

#include <fcntl.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define TOOLKIT(name) "the CUDA Toolkit or the Python package nvidia-" name
#define DRIVER(package, capability)                                                                                    \
    "the rest of NVIDIA's driver (Debian: " package "; in a container: NVIDIA_DRIVER_CAPABILITIES with " capability ")"

static const struct stack_library libraries[] = {
    {"libcuda.so", "the driver library", "NVIDIA's driver", false},
    {"libcudart.so", "the CUDA runtime", TOOLKIT("cuda-runtime"), true},
    {"libnvrtc.so", "the run-time compiler", TOOLKIT("cuda-nvrtc"), true},
    {"libnvvm.so", "the compiler of kernels of Numba", TOOLKIT("cuda-nvcc"), true},
    {"libnvidia-encode.so", "the encoder of the driver", DRIVER("libnvidia-encode1", "video"), true},
    {"libnvcuvid.so", "the decoder of the driver", DRIVER("libnvcuvid1", "video"), true},
    {"libnvoptix.so", "OptiX", DRIVER("libnvoptix1", "graphics"), true},
    {"libnvidia-ml.so", "NVML", DRIVER("libnvidia-ml1", "utility"), false},
    {"libcudnn.so", "cuDNN", "NVIDIA's cuDNN or the Python package nvidia-cudnn", true},
    {"libcublas.so", "cuBLAS", TOOLKIT("cublas"), true},
    {"libcublasLt.so", "cuBLASLt", TOOLKIT("cublas"), true},
    {"libcufft.so", "cuFFT", TOOLKIT("cufft"), true},
    {"libcurand.so", "cuRAND", TOOLKIT("curand"), true},
    {"libcusparse.so", "cuSPARSE", TOOLKIT("cusparse"), true},
    {"libcusolver.so", "cuSOLVER", TOOLKIT("cusolver"), true},
    {"libnvJitLink.so", "nvJitLink", TOOLKIT("nvjitlink"), true},
    {"libnvinfer.so", "TensorRT", "TensorRT", true},
    {"libnccl.so", "NCCL", TOOLKIT("nccl"), false},
};
enum { LIBRARIES = sizeof libraries / sizeof libraries[0] };

static const char packages[] = "-packages/"; /* site-packages, dist-packages */

const char *library_file(const char *name)
{
    const char *slash = strrchr(name, '/');
    return slash != NULL ? slash + 1 : name;
}

const struct stack_library *library_of(const char *name)
{
    const char *file = library_file(name);
    for (size_t i = 0; i < LIBRARIES; i++) {
        if (text_starts_with(file, libraries[i].stem) && strchr(".", file[strlen(libraries[i].stem)]) != NULL)
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
    return sought->by != NULL;
}

static bool find_by_stem(const char *directory, const char *stem, char *path, size_t size)
{
    char pattern[PLATFORM_PATH_SIZE];
    glob_t found;
    int length = snprintf(pattern, sizeof pattern, "%s/%s*", directory, stem);
    if (length < 0 || (size_t)length >= sizeof pattern || glob(pattern, 0, NULL, &found) != 0)
        return false;
    snprintf(path, size, "%s", found.gl_pathv[0]);
    globfree(&found);
    return true;
}

void library_find_other(const struct watched_process *process, const struct stack_library *library, char *path,
                        size_t size)
{
    static const char *const directories[] = {"/usr/lib/*-linux-gnu", "/usr/lib64",       "/usr/local/cuda*/lib64",
                                              "/usr/local/lib",       "/usr/lib/wsl/lib", "/usr/local/nvidia/lib64"};
    const struct object *objects = process->objects.items;
    char directory[PLATFORM_PATH_SIZE];
    path[0] = '\0';
    for (size_t i = 0; i < sizeof directories / sizeof directories[0] && path[0] == '\0'; i++)
        (void)find_by_stem(directories[i], library->stem, path, size);
    for (size_t i = 0; i < process->objects.count && path[0] == '\0'; i++) {
        const char *site = strstr(objects[i].path, packages);
        if (site == NULL)
            continue;
        snprintf(directory, sizeof directory, "%.*snvidia/*/lib",
                 (int)(site - objects[i].path + (long)strlen(packages)), objects[i].path);
        (void)find_by_stem(directory, library->stem, path, size);
    }
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
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
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

const char *library_find_able(const struct watched_process *process, bool is_any)
{
    const struct object *objects = process->objects.items;
    if (file_contains(process->path, "libcuda.so"))
        return process->path;
    for (size_t i = 0; i < process->objects.count; i++) {
        if ((is_any || is_asked_for(process, objects[i].path)) && !pattern_matches("*/auditor.so", objects[i].path)
            && file_contains(objects[i].path, "libcuda.so"))
            return objects[i].path;
    }
    return NULL;
}
