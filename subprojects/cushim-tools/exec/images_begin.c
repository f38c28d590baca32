/* SPDX-License-Identifier: MIT */
/* The auditor begins the image of a process, and notices whether it ends by exit(). */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "settings.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

static atomic_bool *is_own; /* in a page that the kernel clears in a child of fork() */

static void image_end(void)
{
    if (atomic_load(is_own))
        atomic_store(&exec_image_own->has_ended, 1);
}

void exec_image_begin(const char *setting)
{
    struct exec_images *images = exec_images_map(setting);
    uint32_t index = images != NULL ? atomic_fetch_add(&images->count, 1) : 0;
    if (images == NULL || index >= EXEC_MAX_IMAGES)
        return;
    exec_image_own = &images->list[index];
    (void)prctl(PR_GET_NAME, exec_image_own->name);
    atomic_store(&exec_image_own->parent, (int32_t)getppid());
    atomic_store(&exec_image_own->process, (int32_t)getpid());
    void *page = mmap(NULL, sizeof *is_own, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED || madvise(page, sizeof *is_own, MADV_WIPEONFORK) != 0) {
        atomic_store(&exec_image_own->has_ended, 1); /* nobody can notice how it ends */
        return;
    }
    is_own = page;
    atomic_store(is_own, true);
    (void)atexit(image_end);
}
