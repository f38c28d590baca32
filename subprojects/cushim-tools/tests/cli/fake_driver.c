/* SPDX-License-Identifier: MIT */
/*
 * The smallest driver that the program accepts. FAKE_VERSION, a macro, is the CUDA version that it reports; 0 makes it
 * a stub. In the environment, FAKE_INIT is the result of cuInit, and FAKE_GPUS is the number of GPUs. If FAKE_NODE is
 * set and the first cuInit of a process finds no such file, every cuInit of that process returns CUDA_ERROR_NO_DEVICE.
 * FAKE_CONTEXT, FAKE_MEMORY and FAKE_STREAM are the results of what follows, FAKE_CRASH is the name of a function that
 * aborts, and FAKE_HANG of one that never returns: cuInit, cuCtxCreate, cuStreamCreate or cuDeviceGetName. With
 * FAKE_NOISE, the library writes to stdout when it is opened and when it starts; with FAKE_LEAVES, it leaves a process
 * behind when it is opened, which has the files of the caller and writes without end to stdout. FAKE_ONCE is a file
 * that the first process which opens the library creates; each later one ends.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SUCCESS = 0, INVALID_VALUE = 1, NOT_INITIALIZED = 3, STUB = 34, NO_DEVICE = 100, INVALID_DEVICE = 101 };

static int initialised;

static int setting(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value != NULL ? atoi(value) : otherwise;
}

static int is_named(const char *name, const char *function)
{
    const char *value = getenv(name);
    return value != NULL && strcmp(value, function) == 0;
}

/* Crashes or hangs if the environment says so. */
static void misbehave(const char *function)
{
    if (is_named("FAKE_CRASH", function))
        abort();
    while (is_named("FAKE_HANG", function))
        pause();
}

static void make_noise(void)
{
    if (getenv("FAKE_NOISE") != NULL) {
        printf("noise ");
        fflush(stdout);
        printf("noise "); /* remains in the buffer */
    }
}

__attribute__((constructor)) static void library_opened(void)
{
    const char *once = getenv("FAKE_ONCE");
    if (once != NULL && open(once, O_CREAT | O_EXCL, 0600) < 0)
        abort();
    make_noise();
    if (getenv("FAKE_LEAVES") == NULL || fork() != 0)
        return;
    alarm(20); /* the test is over by then */
    signal(SIGPIPE, SIG_IGN);
    setsid();
    static const char text[4096];
    for (;;) {
        if (write(STDOUT_FILENO, text, sizeof text) < 0)
            pause();
    }
}

static int has_node(void)
{
    static int known = -1;
    struct stat status;
    const char *node = getenv("FAKE_NODE");
    if (known < 0)
        known = node == NULL || stat(node, &status) == 0;
    return known;
}

static int device_check(int device)
{
    if (!initialised)
        return NOT_INITIALIZED;
    return device >= 0 && device < setting("FAKE_GPUS", 1) ? SUCCESS : INVALID_DEVICE;
}

int cuDriverGetVersion(int *version)
{
    if (FAKE_VERSION == 0)
        return STUB;
    *version = FAKE_VERSION;
    return SUCCESS;
}

int cuInit(unsigned flags)
{
    int result = FAKE_VERSION == 0 ? STUB : has_node() ? setting("FAKE_INIT", SUCCESS) : NO_DEVICE;
    (void)flags;
    make_noise();
    misbehave("cuInit");
    initialised = result == SUCCESS;
    return result;
}

int cuGetErrorName(int code, const char **name)
{
    static char text[32];
    snprintf(text, sizeof text, "FAKE_ERROR_%d", code);
    *name = text;
    return SUCCESS;
}

int cuDeviceGetCount(int *count)
{
    *count = setting("FAKE_GPUS", 1);
    return initialised ? SUCCESS : NOT_INITIALIZED;
}

int cuDeviceGet(int *device, int ordinal)
{
    *device = ordinal;
    return device_check(ordinal);
}

int cuDeviceGetName(char *name, int length, int device)
{
    misbehave("cuDeviceGetName");
    snprintf(name, (size_t)length, "Fake \"GPU\" %d\033[31m", device);
    return device_check(device);
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { CAPABILITY_MAJOR = 75, CAPABILITY_MINOR = 76 };
    if (attribute != CAPABILITY_MAJOR && attribute != CAPABILITY_MINOR)
        return INVALID_VALUE;
    *value = attribute == CAPABILITY_MAJOR ? 9 : 0;
    return device_check(device);
}

int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
    *bytes = (size_t)140 << 30;
    return device_check(device);
}

#if FAKE_VERSION >= 9020
int cuDeviceGetUuid(unsigned char *uuid, int device)
{
    for (int i = 0; i < 16; i++)
        uuid[i] = (unsigned char)(0xf0 + i);
    return device_check(device);
}
#endif

int cuDeviceGetPCIBusId(char *id, int length, int device)
{
    snprintf(id, (size_t)length, "0000:0%d:00.0", device);
    return device_check(device);
}

int cuCtxCreate_v2(void **context, unsigned flags, int device)
{
    (void)flags;
    misbehave("cuCtxCreate");
    *context = &initialised;
    return device_check(device) != SUCCESS ? device_check(device) : setting("FAKE_CONTEXT", SUCCESS);
}

int cuCtxDestroy_v2(void *context)
{
    (void)context;
    return SUCCESS;
}

int cuMemAlloc_v2(unsigned long long *pointer, size_t size)
{
    *pointer = size;
    return setting("FAKE_MEMORY", SUCCESS);
}

int cuMemFree_v2(unsigned long long pointer)
{
    (void)pointer;
    return SUCCESS;
}

int cuStreamCreate(void **stream, unsigned flags)
{
    (void)flags;
    misbehave("cuStreamCreate");
    *stream = &initialised;
    return setting("FAKE_STREAM", SUCCESS);
}

int cuStreamDestroy_v2(void *stream)
{
    (void)stream;
    return SUCCESS;
}

int cuStreamQuery(void *stream)
{
    (void)stream;
    return SUCCESS;
}
