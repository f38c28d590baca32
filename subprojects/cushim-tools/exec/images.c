/* SPDX-License-Identifier: MIT */
/* The table beside the notes. After the start of a process, nothing here makes a system call, which a sandbox could
 * forbid. */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <unistd.h>

struct exec_image *exec_image_own;

struct exec_images *exec_images_map(const char *setting)
{
    int number = -1;
    uint64_t token = 0;
    if (setting == NULL || sscanf(setting, "%d.%" SCNx64, &number, &token) != 2)
        return NULL;
    struct exec_images *images = shmat(number, NULL, SHM_RDONLY);
    bool is_ours = images != (void *)-1 && images->token == token;
    if (images != (void *)-1)
        (void)shmdt(images);
    images = is_ours ? shmat(number, NULL, 0) : (void *)-1;
    return images != (void *)-1 ? images : NULL;
}

void exec_image_find(const char *setting)
{
    struct exec_images *images = exec_images_map(setting);
    uint32_t count = images != NULL ? atomic_load(&images->count) : 0;
    for (uint32_t i = count < EXEC_MAX_IMAGES ? count : EXEC_MAX_IMAGES; i > 0 && exec_image_own == NULL; i--) {
        if (atomic_load(&images->list[i - 1].process) == (int32_t)getpid())
            exec_image_own = &images->list[i - 1];
    }
}

void exec_image_lose(int error)
{
    int32_t none = 0;
    if (exec_image_own == NULL)
        return;
    (void)atomic_compare_exchange_strong(&exec_image_own->error, &none, error);
    (void)atomic_fetch_add(&exec_image_own->lost, 1);
}
