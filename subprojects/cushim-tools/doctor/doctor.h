/* SPDX-License-Identifier: MIT */
/* The parts of `cushim doctor`. README.md tells in which order they work. */
#ifndef CUSHIM_DOCTOR_H
#define CUSHIM_DOCTOR_H

#include "companions.h"
#include "cushim/system.h"
#include "selected_driver.h"
#include "start.h"
#include "trials.h"
#include "watch.h"

/* doctor.c: writes its output to stdout and returns the exit status. */
enum status command_doctor(const struct options *options);

/* In the order of the output. The lead is the true cause, if it is known; a cause explains other problems. */
enum verdict { VERDICT_LEAD, VERDICT_CAUSE, VERDICT_PROBLEM, VERDICT_FOLLOWS, VERDICT_NOTE, VERDICT_OK };

struct finding {
    const char *check; /* a stable word */
    const char *cause; /* the word of a row of causes.inc, or NULL */
    enum verdict verdict;
    /* The message of a problem fits a line; the evidence is the rest. In doctor.texts; "": there is none. */
    const char *message, *advice, *evidence;
};

/* Room for a finding of each check, attempt, variable and operation. */
enum { MAX_FINDINGS = 96 + MAX_OPERATIONS };

/* The NVIDIA GPUs on the PCI bus. */
struct bus_gpu {
    char address[24];
    unsigned device;           /* the id of its kind */
    bool is_lost;              /* its registers read as ones: it does not answer */
    bool is_of_another_driver; /* of the kernel, such as vfio-pci */
};
enum { MAX_BUS_GPUS = 16 };
struct bus {
    struct bus_gpu gpus[MAX_BUS_GPUS];
    int count, switches; /* NVSwitches */
};

/* The variants of the kernel module. */
enum module { MODULE_UNKNOWN, MODULE_OPEN, MODULE_CLOSED, MODULE_BOTH };

/* What NVML, the library of nvidia-smi, says about the first GPU of CUDA, or of the machine. */
struct nvml {
    struct child_memory child;
    char bus_id[32]; /* of the first GPU of CUDA, or "" */
    bool known, mig_known, mig;
    unsigned long long used, total; /* bytes of memory */
};

/* The facts that the checks use, and their findings. */
struct doctor {
    const struct options *options;
    const char *root;                    /* "": the machine itself */
    const struct cushim_diagnosis *load; /* of the load */
    bool loaded;
    int seconds;         /* the limit of the time of a start */
    int step_seconds;    /* of one operation, which usually takes far less */
    struct start *start; /* of the loaded driver */
    bool started;        /* programs can use CUDA on the first GPU */
    bool second_started; /* the first start failed, and the second one did not */
    struct watch watch;  /* of the start or, if it failed, of a second one */
    bool watched;
    struct trials *trials;
    struct nvml *nvml;
    bool variables_tried;       /* the driver was also started without the variables CUDA_... */
    char variables[512];        /* those without which it starts, separated by spaces, or "" */
    enum cushim_reason certain; /* of the library, from what the machine shows before a start; or CUSHIM_REASON_NONE */
    enum cushim_reason reason;  /* of the library, after the start; or CUSHIM_REASON_NONE */
    const struct operation *operation; /* the one that makes the start fail, or NULL */
    const struct operation *before;    /* one that failed before a crash or a hang, or NULL */
    struct driver_release release;     /* of the library */
    bool is_compat;                    /* the library belongs to the cuda-compat package */
    struct cushim_system system;       /* before the start */
    struct bus bus;
    enum module variant; /* that is loaded or, if none is, installed */
    bool is_wsl, is_jetson, is_nixos, is_flatpak;
    bool sees_bus; /* the PCI bus can be read */
    struct finding findings[MAX_FINDINGS];
    size_t count;
    char texts[96 * 1024]; /* of the findings, which a limit of memory must leave room for */
    size_t text_size;
};

/* Adds a finding. If the driver has started, a problem becomes a note. A newline in the message ends its first line; a
 * problem without one gets a first line of its own if it is too long. */
CUSHIM_PRINTF(4, 5)
void doctor_find(struct doctor *doctor, const char *check, enum verdict verdict, const char *message, ...);

/* Sets the advice of the newest finding. */
CUSHIM_PRINTF(2, 3)
void doctor_advise(struct doctor *doctor, const char *advice, ...);

/* Run the checks, in this order: of the options and the library, the kernel module and the device files, the platform,
 * and the start. */
void doctor_check_preload(struct doctor *doctor);
void doctor_check_library(struct doctor *doctor);
void doctor_check_driver(struct doctor *doctor);
void doctor_check_platform(struct doctor *doctor);
void doctor_check_start(struct doctor *doctor);
void doctor_check_operations(struct doctor *doctor);

/* Examines the machine, starts the driver and finds what is wrong, in the order of the output. Returns STATUS_USABLE,
 * or after a message that there are no findings. doctor_end() frees what they use. */
enum status doctor_find_problems(struct doctor *doctor, const struct options *options);
void doctor_end(struct doctor *doctor);

/* ticket.c: writes the versions of cushim and of the system; and the stable word of a finding: of its cause, else of
 * the reason of the library, else of its check. */
void doctor_write_system(struct json *json, const struct doctor *doctor);
const char *doctor_cause_of(const struct doctor *doctor, const struct finding *finding);

/* Writes the findings as an array. */
void doctor_write_findings(struct json *json, const char *key, const struct doctor *doctor);

/* ---- causes.c ---- */

/* Finds the row of causes.inc that explains why there is no usable driver, and adds it as a finding. */
void doctor_find_cause(struct doctor *doctor);

/* ---- evidence.c: files below the root ---- */

/* Reads the begin of a file. Returns false, and writes "", if it cannot be read. */
bool evidence_read(const struct doctor *doctor, const char *path, char *text, size_t size);
bool evidence_exists(const struct doctor *doctor, const char *path);
bool evidence_contains(const struct doctor *doctor, const char *path, const char *word);

/* Reads the PCI bus. */
void evidence_read_bus(struct doctor *doctor);

/* Finds the file of NVIDIA's kernel module in the list of the running kernel. Returns false if the list lacks it, or if
 * there is no list: then the path is "". */
bool evidence_find_module(const struct doctor *doctor, char *path, size_t size);

/* Asks NVML in a child process about the first GPU of the start. */
void evidence_ask_nvml(struct nvml *nvml, const struct start *start, int seconds);

/* Whether one thing holds that a row of causes.inc names; whether it exists at all is checked by the compiler. */
#define EVIDENCE(name, words) bool evidence_##name(const struct doctor *doctor);
#include "evidence.inc"
#undef EVIDENCE

/* An operation that was refused and that driver 580 does not need, or NULL. */
const struct operation *candidate_find(const struct doctor *doctor);

/* The number of open descriptors; 0: unknown. */
int open_files_count(void);

/* Whether a process with this name is running. */
bool process_exists(const struct doctor *doctor, const char *name);

/* Finds a device file that is not the one of NVIDIA's driver: that of the operation, if there is one. Writes its path
 * and what it is. Returns false if there is none. */
bool wrong_node_find(const struct doctor *doctor, char *path, size_t path_size, char *text, size_t size);

/* ---- gpus.c ---- */

/* The variant of the module that is loaded, or else of its file. A compressed file is not read. */
enum module gpus_read_variant(const struct doctor *doctor);

/* Writes which GPU it is, and why the driver does not fit it. */
void gpu_describe(const struct doctor *doctor, const struct bus_gpu *gpu, char *text, size_t size);

/* ---- variables.c ---- */

/* Writes the names of the variables CUDA_... that are set and that the driver can read, separated by spaces. */
void variables_list(char *names, size_t size);

/* After a start that failed: starts the driver without them. */
void variables_try(struct doctor *doctor);

/* ---- visible.c ---- */

/* What is wrong with CUDA_VISIBLE_DEVICES or CUDA_DEVICE_ORDER. */
struct visible_fault {
    char text[320];     /* a sentence, or "" */
    const char *advice; /* or "" */
    bool hides_all;     /* no start can succeed */
};

/* Returns false if nothing is. */
bool visible_explain(const struct doctor *doctor, struct visible_fault *out_fault);

/* ---- facts.c ---- */

/* Writes the path of the socket on which the MPS control daemon of this environment would listen. */
void mps_control_path(char *path, size_t size);

/* Writes the text for a {name} of causes.inc: with a capital, if the name has one. */
void evidence_text(const struct doctor *doctor, const char *name, char *text, size_t size);

#endif
