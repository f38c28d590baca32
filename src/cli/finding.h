/* SPDX-License-Identifier: MIT */
/* The findings of the doctor, its checks, and the evidence that they use. */
#ifndef CUSHIM_CLI_FINDING_H
#define CUSHIM_CLI_FINDING_H

#include "driver.h"
#include "options.h"

enum verdict { VERDICT_PROBLEM, VERDICT_NOTE, VERDICT_OK };

struct finding {
    const char *check; /* a stable word */
    enum verdict verdict;
    bool is_cause; /* a problem that explains the other ones */
    char message[1024];
    char advice[512]; /* "": none */
};

enum { MOST_FINDINGS = 96 };

/* The findings, in the order of the checks. */
struct findings {
    struct finding list[MOST_FINDINGS];
    size_t count;
};

/* The facts that the checks use. */
struct evidence {
    const struct options *options;
    const char *root;                    /* "": the machine itself */
    const struct cushim_diagnosis *load; /* of the load */
    const struct cushim_diagnosis *now;  /* of the load and, if it was tried, of the start */
    bool loaded;
    bool tried_to_start, started;
    CUresult start_code;
    struct driver_release release; /* of the library */
    bool is_compat;                /* the library belongs to the cuda-compat package */
    struct cushim_system system;   /* before the start */
    bool is_wsl, is_jetson, is_nixos, is_flatpak;
    bool sees_bus; /* the PCI bus can be read */
    bool nouveau;  /* the kernel's own driver for NVIDIA GPUs is in use */
};

/* Whether a path exists below the root directory. */
bool evidence_has(const struct evidence *evidence, const char *path);

/* Whether a library belongs to the cuda-compat package. */
bool evidence_is_compat(const char *path);

/* Adds a finding and returns it, so that the caller can mark it as a cause. If the driver has started, a problem
 * becomes a note. */
CUSHIM_PRINTF(5, 6)
struct finding *finding_add(struct findings *findings, const struct evidence *evidence, const char *check,
                            enum verdict verdict, const char *message, ...);

/* Sets the advice of the newest finding. */
CUSHIM_PRINTF(2, 3)
void finding_advise(struct findings *findings, const char *advice, ...);

#endif
