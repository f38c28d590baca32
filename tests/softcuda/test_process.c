/* SPDX-License-Identifier: MIT */
/*
 * test_process LIBRARY - tests that need a process of their own: before cuInit, with stream 0 as the per-thread default
 * stream, and in a forked child. They depend on this order, so they are not cmocka tests. Exit status: 0, or the line
 * that failed.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cushim/cushim.h"

#define CHECK(what)                                                                                                    \
    if (!(what)) {                                                                                                     \
        fprintf(stderr, "line %d: %s\n", __LINE__, #what);                                                             \
        return 1;                                                                                                      \
    }

static const struct cushim_dispatch_table *cu;
static CUcontext context;
static int open_gate, reached;

static void CUDA_CB gate(CUstream stream, CUresult status, void *data)
{
    (void)stream, (void)status, (void)data;
    __atomic_store_n(&reached, 1, __ATOMIC_SEQ_CST);
    while (!__atomic_load_n(&open_gate, __ATOMIC_SEQ_CST))
        usleep(500);
}

static void *ask_default_stream(void *result)
{
    cu->CtxSetCurrent_v1(context);
    *(CUresult *)result = cu->StreamQuery_v1(NULL);
    return NULL;
}

static int before_init(void)
{
    int number = -1;
    const char *name = NULL;
    CUstream stream;
    CHECK(cu->DriverGetVersion_v1(&number) == CUDA_SUCCESS && number > 0);
    CHECK(cu->GetErrorName_v1(CUDA_ERROR_NOT_READY, &name) == CUDA_SUCCESS && name != NULL);
    CHECK(cu->GetErrorName_v1((CUresult)12345, &name) == CUDA_ERROR_INVALID_VALUE && name == NULL);
    CHECK(cu->DeviceGetCount_v1(&number) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cu->StreamCreate_v1(&stream, 0) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cu->Init_v1(1) == CUDA_ERROR_INVALID_VALUE);
    CHECK(cu->Init_v1(0) == CUDA_SUCCESS && cu->Init_v1(0) == CUDA_SUCCESS);
    CHECK(cu->DeviceGetCount_v1(&number) == CUDA_SUCCESS && number == 3); /* SOFTCUDA_DEVICES */
    return 0;
}

/* 0 means another stream in each thread; the legacy stream still synchronises with them. */
static int per_thread(void)
{
    CUresult other = CUDA_ERROR_UNKNOWN;
    pthread_t thread;
    CHECK(cu->DevicePrimaryCtxRetain_v1(&context, 2) == CUDA_SUCCESS);
    CHECK(cu->CtxSetCurrent_v1(context) == CUDA_SUCCESS);
    CHECK(cu->StreamAddCallback_v1(NULL, gate, NULL, 0) == CUDA_SUCCESS);
    while (!__atomic_load_n(&reached, __ATOMIC_SEQ_CST))
        usleep(500);
    CHECK(cu->StreamQuery_v1(NULL) == CUDA_ERROR_NOT_READY);
    CHECK(cu->StreamQuery_v1(CU_STREAM_PER_THREAD) == CUDA_ERROR_NOT_READY);
    CHECK(cu->StreamQuery_v1(CU_STREAM_LEGACY) == CUDA_ERROR_NOT_READY);
    CHECK(pthread_create(&thread, NULL, ask_default_stream, &other) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(other == CUDA_SUCCESS);
    __atomic_store_n(&open_gate, 1, __ATOMIC_SEQ_CST);
    CHECK(cu->StreamSynchronize_v1(NULL) == CUDA_SUCCESS);
    return 0;
}

static int in_child(CUstream stream)
{
    int number;
    CHECK(cu->Init_v1(0) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cu->DeviceGetCount_v1(&number) == CUDA_ERROR_NOT_INITIALIZED);
    CHECK(cu->StreamQuery_v1(stream) == CUDA_SUCCESS);
    CHECK(cu->StreamAddCallback_v1(stream, gate, NULL, 0) == CUDA_ERROR_NOT_INITIALIZED);
    return 0;
}

static int forked(void)
{
    int status = -1;
    CUstream stream;
    CHECK(cu->StreamCreate_v1(&stream, 0) == CUDA_SUCCESS);
    pid_t child = fork();
    if (child == 0)
        _exit(in_child(stream));
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    CHECK(cu->StreamAddCallback_v1(stream, gate, NULL, 0) == CUDA_SUCCESS);
    CHECK(cu->StreamSynchronize_v1(stream) == CUDA_SUCCESS);
    CHECK(cu->StreamDestroy_v2(stream) == CUDA_SUCCESS);
    return 0;
}

int main(int argc, char **argv)
{
    const struct cushim_load_options options = {.path = argc > 1 ? argv[1] : NULL};
    if (cushim_load(&options) != CUDA_SUCCESS || cushim_driver_version() < 7000) {
        fprintf(stderr, "%s\n", cushim_get_diagnosis()->message);
        return cushim_driver_version() != 0 ? 77 : 1; /* older drivers lack this stream */
    }
    cu = cushim_table_per_thread();
    return before_init() || per_thread() || forked();
}
