/* SPDX-License-Identifier: MIT */
/* Evidence from the start itself. */
#include "doctor.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#if defined(__linux__)
#    include <link.h>
#endif
#if !defined(_WIN32)
#    include <sys/socket.h>
#    include <sys/un.h>
#    include <unistd.h>
#endif

/* Windows lacks these. A child there never ends by a signal. */
#if !defined(SIGSYS)
#    define SIGSYS -1
#endif
#if !defined(SIGKILL)
#    define SIGKILL -1
#endif
#if !defined(SIGXFSZ)
#    define SIGXFSZ -1
#endif
#if !defined(SIGXCPU)
#    define SIGXCPU -1
#endif

bool evidence_any(const struct doctor *doctor)
{
    return doctor != NULL;
}

static bool failed_on_gpu(const struct doctor *doctor)
{
    return doctor->start->step >= START_CONTEXT;
}

/* WSL has parts of the driver that a container must be given. Elsewhere, a driver looks for libraries that it does not
 * need; code 500 is for one that it needs. */
bool evidence_driver_part_missing(const struct doctor *doctor)
{
    return (doctor->is_wsl || doctor->start->code == CUDA_ERROR_NOT_FOUND)
           && operations_missing_library(&doctor->watch.operations) != NULL;
}

bool evidence_finds_no_gpu(const struct doctor *doctor)
{
    return !failed_on_gpu(doctor);
}

/* A context takes about 500 MiB. NVML is asked only if no operation was refused. */
bool evidence_memory_full(const struct doctor *doctor)
{
    const unsigned long long enough = 2ULL << 30;
    const struct nvml *nvml = doctor->nvml;
    return failed_on_gpu(doctor) && nvml->known && nvml->total - nvml->used < enough;
}

bool evidence_memory_unknown(const struct doctor *doctor)
{
    return failed_on_gpu(doctor) && doctor->operation == NULL && !doctor->nvml->known;
}

bool evidence_exclusive(const struct doctor *doctor)
{
    enum { EXCLUSIVE_THREAD = 1 }; /* of old drivers */
    int mode = doctor->start->gpus[0].compute_mode;
    return mode == CU_COMPUTEMODE_EXCLUSIVE_PROCESS || mode == EXCLUSIVE_THREAD;
}

bool evidence_prohibited(const struct doctor *doctor)
{
    return doctor->start->gpus[0].compute_mode == CU_COMPUTEMODE_PROHIBITED;
}

bool evidence_mig(const struct doctor *doctor)
{
    return doctor->nvml->mig;
}

static bool ended_by(const struct doctor *doctor, int signal)
{
    return doctor->start->outcome == START_CRASHED && doctor->start->signal == signal;
}

bool evidence_ended_by_seccomp(const struct doctor *doctor)
{
    return ended_by(doctor, SIGSYS);
}

bool evidence_ended_by_kill(const struct doctor *doctor)
{
    return ended_by(doctor, SIGKILL);
}

bool evidence_ended_by_file_size(const struct doctor *doctor)
{
    return ended_by(doctor, SIGXFSZ);
}

/* At a hard limit, the kernel sends SIGKILL. */
bool evidence_ended_by_time(const struct doctor *doctor)
{
    return ended_by(doctor, SIGXCPU) || (ended_by(doctor, SIGKILL) && evidence_limit_of_processor_time(doctor));
}

#if defined(__linux__)
/* Is called for the program first. */
static int find_loader(struct dl_phdr_info *object, size_t unused, void *out_found)
{
    (void)unused;
    for (int i = 0; i < object->dlpi_phnum; i++)
        *(bool *)out_found |= object->dlpi_phdr[i].p_type == PT_INTERP;
    return 1; /* no other objects */
}
#endif

/* Such a program gets a second C library from the driver. */
bool evidence_static_program(const struct doctor *doctor)
{
    bool has_loader = doctor != NULL;
#if defined(__linux__)
    has_loader = false;
    dl_iterate_phdr(find_loader, &has_loader);
#endif
    return !has_loader;
}

/* The first thread of a process stays as a zombie until the others have ended. */
bool evidence_main_thread_ended(const struct doctor *doctor)
{
    return doctor->start->state.letter == 'Z';
}

/* Whether a process listens on the control socket of MPS. A daemon that has ended can leave the socket behind. */
static bool mps_listens(void)
{
#if defined(_WIN32)
    return false;
#else
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    mps_control_path(address.sun_path, sizeof address.sun_path);
    int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    bool listens = file >= 0
                   && (connect(file, (const struct sockaddr *)&address, sizeof address) == 0
                       || errno == EAGAIN); /* others wait, too */
    if (file >= 0)
        close(file);
    return listens;
#endif
}

bool evidence_waits_for_mps(const struct doctor *doctor)
{
    return strncmp(doctor->start->state.call, "recv", 4) == 0 && mps_listens();
}

bool evidence_uninterruptible(const struct doctor *doctor)
{
    return doctor->start->state.letter == 'D';
}
