/* SPDX-License-Identifier: MIT */
#include "dispatcher_object.h"

#include <stdlib.h>

void cush_dispatcher_ref(struct cushim_dispatcher *dispatcher)
{
    atomic_fetch_add(&dispatcher->references, 1);
}

void cush_dispatcher_unref(struct cushim_dispatcher *dispatcher)
{
    if (atomic_fetch_sub(&dispatcher->references, 1) != 1)
        return;
    cush_os_signal_close(dispatcher->signal);
    free(dispatcher);
}

bool cush_dispatcher_is_closed(struct cushim_dispatcher *dispatcher)
{
    return atomic_load(&dispatcher->closed);
}
