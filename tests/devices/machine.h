/* SPDX-License-Identifier: MIT */
/* Machines that are built of a few files, and the GPUs that cushim_gpu_find() finds on them. POSIX only. */
#ifndef MACHINE_H
#define MACHINE_H

#include "companion.h"
#include "cushim/gpu.h"
#include "directory.h"
#include "gpu_visible.h"
#include "unit.h"

#define A "GPU-88913974-b729-bde5-cec9-7908a6baaae2"
#define B "GPU-3f644bed-38e5-c968-467b-217d6a497735"
#define UNUSED_UUID "GPU-?\?\?\?\?\?\?\?-?\?\?\?-?\?\?\?-?\?\?\?-?\?\?\?\?\?\?\?\?\?\?\?"
#define BUS "/sys/bus/pci/devices"

/* What is special in a GPU of a machine. Zero: an H200 that works. */
struct part {
    const char *name, *device;
    const char *kernel_driver; /* "-": none */
    bool lacks_node, is_of_bus_only, is_excluded, is_asleep;
};

/* Each adds to the machine of this test: a file, a GPU, or the GPUs A and B. */
CUSHIM_PRINTF(2, 3) void put(const char *text, const char *format, ...);
void put_gpu(const char *address, const char *uuid, int minor, struct part part);
void put_two(void);

#define USUAL ((struct part){.name = NULL})

/* What was found last. */
extern struct cushim_gpu gpus[GPU_MAX];
extern struct cushim_gpus all;

void find_with(struct cushim_gpu_options options);
void find(void); /* by files */

/* The visible GPUs are those with these UUIDs, in this order; NULL: no GPU. */
void assert_shown(const char *first, const char *second);
void assert_none(CUresult code, const char *part);
void assert_not_known(const char *part);

int gpu_reset(void **state);
int gpu_end(void **state);

#define GPU_TEST(name) TEST_WITH(name, gpu_reset, gpu_end)

#endif
