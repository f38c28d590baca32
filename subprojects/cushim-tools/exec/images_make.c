/* SPDX-License-Identifier: MIT */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

struct exec_images *exec_images_make(char *setting, size_t size)
{
    int number =
        shmget(IPC_PRIVATE, sizeof(struct exec_images), IPC_CREAT | 0666); /* of the program, too, as any user */
    struct exec_images *images = number >= 0 ? shmat(number, NULL, 0) : (void *)-1;
    if (number >= 0)
        shmctl(number, IPC_RMID, NULL); /* it stays as long as somebody uses it */
    /* glibc has the function only since 2.25, and a release is for 2.17. */
    if (images == (void *)-1
        || syscall(SYS_getrandom, &images->token, sizeof images->token, GRND_NONBLOCK) != sizeof images->token)
        return NULL;
    snprintf(setting, size, "%d.%" PRIx64, number, images->token);
    return images;
}

bool exec_images_are_used(const char *setting)
{
    struct shmid_ds status;
    return shmctl((int)strtol(setting, NULL, 10), IPC_STAT, &status) == 0 && status.shm_nattch > 1;
}
