/* SPDX-License-Identifier: MIT */
/* Watches the driver start, with ptrace(2): Linux 5.3 or later. */
#ifndef CUSHIM_DOCTOR_WATCH_H
#define CUSHIM_DOCTOR_WATCH_H

#include "operations.h"
#include "start.h"

struct watch {
    struct operations operations; /* those that failed */
    char last_call[24];           /* of the thread that started the driver, if it was ended; or "" */
    int error; /* why the start could not be watched: an errno; ENOSYS before Linux 5.3 and on other systems */
};

/* Starts the loaded driver and fills in `start`, which is zeroed, and `watch`. If the start cannot be watched,
 * watch->error is set, and nothing was started. */
void watch_start(struct start *start, struct watch *watch, int seconds);

#endif
