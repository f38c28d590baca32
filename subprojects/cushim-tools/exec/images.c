/* SPDX-License-Identifier: MIT */
/*
 * The table beside the notes: the program makes it, the auditor begins the image of a process and notices whether it
 * ends by exit(), and both libraries note in it what is lost. After the start of a process, they make no system call
 * here, which a sandbox could forbid.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "settings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <unistd.h>

struct exec_image *exec_image_own;

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
