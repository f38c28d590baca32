/* SPDX-License-Identifier: MIT */
/*
 * What the programs of this project use of the loader, beside the public headers: files below a root, versions as
 * text, conditions, what CUDA_VISIBLE_DEVICES shows, and why CUDA cannot be used. A shared library does not export
 * these functions, so that the build makes a static library of them, `cushim-machine`. Programs see its directory and
 * common/ of the loader, and no other, apart from `cushim exec`, which is a second loader.
 */
#ifndef CUSHIM_LOADER_MACHINE_H
#define CUSHIM_LOADER_MACHINE_H

#include "../cause.h"
#include "../condition_facts.h"
#include "../gpu_visible.h"
#include "../os_file.h"
#include "../version.h"

#endif
