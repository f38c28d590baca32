/* SPDX-License-Identifier: MIT */
/* The copies of NVRTC that a process can find, by the names of files. Nothing is opened. */
#ifndef CUSHIM_LOADER_NVRTC_LIST_H
#define CUSHIM_LOADER_NVRTC_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"

enum {
    NVRTC_PATH_SIZE = 1024, /* longer paths are passed over */
    NVRTC_MAX_COPIES = 64,
    NVRTC_MAX_PATHS = 8
};

/* The places, in the order of the search. */
enum nvrtc_place {
    NVRTC_OPEN,
    NVRTC_BESIDE_LIBRARY,
    NVRTC_BESIDE_PROGRAM,
    NVRTC_PACKAGE,
    NVRTC_VIRTUAL_ENV,
    NVRTC_CONDA,
    NVRTC_CUDA_PATH,
    NVRTC_CUDA_HOME,
    NVRTC_SEARCH_PATH,
    NVRTC_LOADER,
    NVRTC_TOOLKIT,
    NVRTC_PLACES
};
extern const char *const cush_nvrtc_place_names[NVRTC_PLACES];

/* How the files are named on a system, and in which directories they are. A "*" stands for the rest of a name. The
 * lists end with NULL. */
struct nvrtc_layout {
    bool is_windows;
    const char *const *toolkit;     /* below a Toolkit */
    const char *const *packages;    /* below a directory of Python packages */
    const char *const *environment; /* below a virtual environment: directories of packages */
    const char *const *known;       /* Toolkits */
    const char *known_variable;     /* a variable with the directory of `known`, or NULL */
    const char *search_path;        /* the variable with the directories of libraries, or NULL */
};
extern const struct nvrtc_layout cush_nvrtc_layout_linux, cush_nvrtc_layout_windows;

/* A copy. */
struct nvrtc_copy {
    enum nvrtc_place place;
    int version;   /* by the names of its files; with a major version alone, the oldest one of it */
    bool is_exact; /* the version is that of the file */
    int rank;      /* the lower, the better; nvrtc.c */
    bool is_tried;
    char path[NVRTC_PATH_SIZE];
};

/* The copies, and what the search for them needs. */
struct nvrtc_list {
    const struct nvrtc_layout *layout;
    const char *root;
    struct nvrtc_copy copies[NVRTC_MAX_COPIES];
    int count;
    /* the search */
    enum nvrtc_place place;
    char path[NVRTC_PATH_SIZE];                    /* the directory */
    const char *only;                              /* the name of the file that counts in it; NULL: each */
    int builtins[NVRTC_MAX_PATHS], builtins_count; /* the versions of the builtins in it */
    char value[4096];                              /* of a variable */
    /* the process */
    char program[NVRTC_PATH_SIZE], library[NVRTC_PATH_SIZE];
    char open[NVRTC_MAX_PATHS][NVRTC_PATH_SIZE], packages[NVRTC_MAX_PATHS][NVRTC_PATH_SIZE];
    int open_count, packages_count;
};

/* Fills a list that is zero but for its layout and root. */
CUSHIM_COLD void cush_nvrtc_list_read(struct nvrtc_list *list);

/* Writes the name of the file with the builtins of a version. */
void cush_nvrtc_builtins_name(const struct nvrtc_layout *layout, int version, char *name, size_t size);

#endif
