/* SPDX-License-Identifier: MIT */
/* NVCUVID, NVENC and NVML of the driver. Opening one runs its code, so each is opened in a process of its own. */
#ifndef CUSHIM_COMPANIONS_H
#define CUSHIM_COMPANIONS_H

#include "cushim/companion.h"
#include "platform.h"

/* As struct cushim_companion, without the handle. */
struct companion_found {
    enum cushim_reason reason;
    char name[16], library[64], path[PLATFORM_PATH_SIZE], version[32], message[1024], advice[512];
    char api[16];      /* the newest version of NVENC's API that its library has; "" for another companion */
    bool has_answered; /* otherwise its code ended the process, or did not return */
};

/* Finds all of them at the same time, and waits for so many seconds. A driver must be loaded. */
void companions_find(struct companion_found found[CUSHIM_COMPANION_COUNT], int seconds);

#endif
