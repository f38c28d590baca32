/* SPDX-License-Identifier: MIT */
/* What the doctor found, one finding a check, and what the checks know. */
#ifndef CUSHIM_CLI_FINDING_H
#define CUSHIM_CLI_FINDING_H

#include "driver.h"
#include "options.h"

enum verdict { VERDICT_PROBLEM, VERDICT_NOTE, VERDICT_OK };

struct finding {
    const char *check; /* a stable word */
    enum verdict verdict;
    bool is_cause; /* a problem that explains all of the trouble */
    char message[1024];
    char advice[512]; /* "": none */
};

enum { MOST_FINDINGS = 96 };

/* The findings so far, in order of likelihood as far as the machine is not known. */
struct findings {
    struct finding list[MOST_FINDINGS];
    size_t count;
};

/* What there is to judge by. */
struct evidence {
    const struct options *options;
    const char *root;                    /* "": the machine itself */
    const struct cushim_diagnosis *load; /* of the load */
    const struct cushim_diagnosis *now;  /* of the start too, where it was tried */
    bool loaded;
    bool tried_to_start, started;
    CUresult start_code;
    struct driver_release release; /* of the library */
    bool is_compat;                /* a library was found, and it is one of the cuda-compat package */
    struct cushim_system system;   /* as it was before the start */
    bool is_wsl, is_jetson, is_nixos, is_flatpak;
    bool sees_bus; /* the system tells what is on the PCI bus */
    bool nouveau;  /* the kernel's own driver for NVIDIA GPUs is in use */
};

/* Whether a path below the root directory is there. */
bool evidence_has(const struct evidence *evidence, const char *path);

/* Whether a library is one of the cuda-compat package. */
bool evidence_is_compat(const char *path);

/* Adds a finding and returns it, for the caller to mark. A driver that started has no problem: then it is a note. */
CUSHIM_PRINTF(5, 6)
struct finding *finding_add(struct findings *findings, const struct evidence *evidence, const char *check,
                            enum verdict verdict, const char *message, ...);

/* Gives the newest finding its advice. */
CUSHIM_PRINTF(2, 3)
void finding_advise(struct findings *findings, const char *advice, ...);

/* ---- The checks; each adds what it has to say, if anything ---- */

/* checks_library.c: options and variables, the file, stand-ins for it. */
void check_settings(const struct evidence *evidence, struct findings *findings);
void check_library(const struct evidence *evidence, struct findings *findings);
void check_stub(const struct evidence *evidence, struct findings *findings);
void check_compat(const struct evidence *evidence, struct findings *findings);
void check_version(const struct evidence *evidence, struct findings *findings);

/* checks_system.c: the kernel and the devices. */
void check_gpu(const struct evidence *evidence, struct findings *findings);
void check_kernel_module(const struct evidence *evidence, struct findings *findings);
void check_device_nodes(const struct evidence *evidence, struct findings *findings);
void check_visible_devices(const struct evidence *evidence, struct findings *findings);
void check_start(const struct evidence *evidence, struct findings *findings);

/* checks_place.c: kinds of system that bring the driver in their own way. */
void check_container(const struct evidence *evidence, struct findings *findings);
void check_wsl(const struct evidence *evidence, struct findings *findings);
void check_jetson(const struct evidence *evidence, struct findings *findings);
void check_nixos(const struct evidence *evidence, struct findings *findings);
void check_flatpak(const struct evidence *evidence, struct findings *findings);

#endif
