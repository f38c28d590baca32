/* SPDX-License-Identifier: MIT */
/* A program with known calls, linked to a driver. Its argument says what it does. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"

static CUstream stream;
static CUcontext context;

static void count(int calls)
{
    int version;
    for (int i = 0; i < calls; i++)
        cuDriverGetVersion(&version);
}

/* Makes a call below so many frames. */
static int call_below(int frames)
{
    volatile int more = frames - 1; /* read after the call, so that it is no jump */
    if (more > 0)
        return call_below(more) + more;
    count(1);
    return more;
}

static void start(void)
{
    CUdevice device;
    cuInit(0);
    cuDeviceGet(&device, 0);
    cuDevicePrimaryCtxRetain(&context, device);
    cuCtxSetCurrent(context);
    cuStreamCreate(&stream, 1);
}

static void make_calls(void)
{
    CUgraph graph;
    CUfunction function;
    CUstreamCaptureStatus status;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
    start();
    cuStreamQuery(stream);
    cuStreamIsCapturing(stream, &status);
    cuStreamIsCapturing(stream, NULL);
    cuThreadExchangeStreamCaptureMode(&mode);
    cuModuleGetFunction(&function, NULL, "a \"kernel\"");
    cuStreamBeginCapture_v2(stream, 1);
    cuStreamEndCapture(stream, &graph);
    cuStreamSynchronize(CU_STREAM_PER_THREAD);
    cuStreamDestroy_v2(stream);
}

static void use_flags(void)
{
    static const unsigned flags[] = {0, 1, 3, 0x103, 0x100};
    unsigned got;
    CUevent event;
    void *memory;
    start();
    for (size_t i = 0; i < sizeof flags / sizeof flags[0]; i++)
        cuEventCreate(&event, flags[i]);
    cuStreamGetFlags(stream, &got);
    cuStreamWaitValue32_v2(stream, 0, 0, 1u << 30 | 3);
    cuMemHostAlloc(&memory, 16, 0);
    cuMemHostAlloc(&memory, 16, 6);
}

static void do_nothing(void *unused)
{
    (void)unused;
}

/* Work in two streams, a capture, and one that a call of another thread invalidates. */
static void *thread_synchronize(void *other)
{
    cuCtxSetCurrent(context);
    cuStreamSynchronize(other);
    return NULL;
}

static void use_streams(void)
{
    CUstream other;
    pthread_t thread;
    CUevent event;
    CUgraph graph;
    start();
    cuStreamCreate(&other, 1);
    cuEventCreate(&event, 2);
    cuLaunchHostFunc(stream, do_nothing, NULL);
    cuEventRecord(event, stream);
    cuStreamWaitEvent(other, event, 0);
    cuLaunchHostFunc(other, do_nothing, NULL);
    cuStreamSynchronize(other);
    for (int i = 0; i < 2; i++) {
        cuStreamBeginCapture_v2(stream, 0);
        cuLaunchHostFunc(stream, do_nothing, NULL);
        if (i == 1) {
            pthread_create(&thread, NULL, thread_synchronize, stream);
            pthread_join(thread, NULL);
        }
        cuStreamEndCapture(stream, &graph);
    }
}

/* Many calls of a kind that real programs make, some of which fail. */
static int mix_calls;
static void *thread_mix(void *unused)
{
    CUstream own;
    CUevent event;
    cuCtxSetCurrent(context);
    cuStreamCreate(&own, 1);
    cuEventCreate(&event, 2);
    for (int i = 0; i < mix_calls / 4; i++) {
        cuLaunchHostFunc(own, do_nothing, NULL);
        cuEventRecord(event, own);
        cuStreamWaitEvent(stream, event, 0);
        if (i % 1000 == 0)
            cuStreamIsCapturing(own, NULL);
        else if (i % 100 == 1)
            cuStreamSynchronize(own);
        else
            cuStreamQuery(own);
    }
    return unused;
}

static void mix(int calls)
{
    pthread_t threads[4];
    start();
    mix_calls = calls / 4;
    for (int i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, thread_mix, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
}

static void *thread_count(void *unused)
{
    count(2);
    return unused;
}

static void make_threads(void)
{
    pthread_t threads[100];
    for (int round = 0; round < 20; round++) {
        for (int i = 0; i < 100; i++)
            pthread_create(&threads[i], NULL, thread_count, NULL);
        for (int i = 0; i < 100; i++)
            pthread_join(threads[i], NULL);
    }
}

/* Destructors that call again after the layer's own. */
static pthread_key_t key;
static void destructor(void *rounds)
{
    count(1);
    if (rounds != (void *)1)
        pthread_setspecific(key, (char *)rounds - 1);
}

static void *thread_late(void *unused)
{
    count(1);
    pthread_setspecific(key, (void *)3);
    return unused;
}

static void run_late(void)
{
    pthread_t thread;
    count(1); /* the layer has made its key */
    pthread_key_create(&key, destructor);
    pthread_create(&thread, NULL, thread_late, NULL);
    pthread_join(thread, NULL);
}

static void run_child(int raw)
{
    count(1);
    pid_t child = raw ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();
    if (child == 0) {
        count(2);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    count(4);
}

/* The first thread sets it immediately before cuStreamSynchronize(). */
static atomic_bool is_synchronizing;

static void until_synchronizing(void)
{
    while (!atomic_load(&is_synchronizing))
        usleep(1000);
}

static bool first_thread_sleeps(void)
{
    char path[64], state = 0;
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", (int)getpid());
    FILE *file = fopen(path, "r");
    if (file == NULL)
        return false;
    if (fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        state = 0;
    fclose(file);
    return state == 'S';
}

/* Kills the program when it has been asleep in cuStreamSynchronize() for a while. */
static void block(void *unused)
{
    (void)unused;
    until_synchronizing();
    for (int times = 0, i = 0; times < 10 && i < 1000; i++) {
        usleep(10000);
        times = first_thread_sleeps() ? times + 1 : 0;
    }
    raise(SIGKILL);
}

/* Launches of two kernels, and copies. */
static void launch(void)
{
    static const char bytes[4096];
    static char host[1024];
    CUmodule module;
    CUfunction scale, fill;
    CUdeviceptr memory;
    start();
    cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n");
    cuModuleGetFunction(&scale, module, "_ZN4game5scaleIfLi4EEEvPT_i");
    cuModuleGetFunction(&fill, module, "fill");
    for (int i = 0; i < 3; i++)
        cuLaunchKernel(scale, 8, 2, 1, 128, 1, 1, 512, stream, NULL, NULL);
    cuLaunchKernel(scale, 16, 1, 1, 64, 1, 1, 0, stream, NULL, NULL);
    cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuMemAlloc_v2(&memory, sizeof bytes);
    cuMemcpyHtoD_v2(memory, bytes, sizeof bytes);
    cuMemcpyHtoD_v2(memory, bytes, 1000);
    cuMemcpyDtoD_v2(memory + 1024, memory, 1000);
    cuMemcpyDtoH_v2(host, memory, 200);
    cuMemcpy(memory, (CUdeviceptr)(uintptr_t)host, 300);
    const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_HOST,
                                .srcHost = bytes,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = memory,
                                .dstPitch = 64,
                                .WidthInBytes = 48,
                                .Height = 10};
    const CUDA_MEMCPY2D back = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                                .srcDevice = memory,
                                .srcPitch = 64,
                                .dstMemoryType = CU_MEMORYTYPE_HOST,
                                .dstHost = host,
                                .dstPitch = 64,
                                .WidthInBytes = 32,
                                .Height = 2};
    cuMemcpy2D_v2(&copy);
    cuMemcpy2D_v2(&back);
}

/* Kernels whose names differ in their last character. */
static void launch_long_names(void)
{
    char name[401];
    CUmodule module;
    CUfunction function;
    start();
    cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n");
    memset(name, 'k', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    for (int i = 0; i < 3; i++) {
        name[sizeof name - 2] = (char)('a' + i % 2);
        cuModuleGetFunction(&function, module, name);
        cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL);
    }
}

/* A child in a sandbox, which refuses madvise(), makes more calls than a chunk has room for; then the parent does. */
static int use_sandbox(void)
{
    struct sock_filter filters[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_madvise, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof filters / sizeof filters[0], filters};
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        count(1);
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
            _exit(77);
        count(5000);
        _exit(0);
    }
    waitpid(child, &status, 0);
    count(5000);
    return WEXITSTATUS(status);
}

/* Kernels that arrive in arrays, which are longer than the number of kernels. Under enumerating_layer.c. */
static void enumerate(void)
{
    CUmodule module;
    CUlibrary library;
    CUfunction functions[8];
    CUkernel kernels[8];
    start();
    memset(functions, 0x5a, sizeof functions);
    memset(kernels, 0x5a, sizeof kernels);
    cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n");
    cuLibraryLoadData(&library, ".version 7.0\n.target sm_50\n.address_size 64\n", NULL, NULL, 0, NULL, NULL, 0);
    cuModuleEnumerateFunctions(functions, 8, module);
    cuModuleEnumerateFunctions(functions, 1, module);
    cuLibraryEnumerateKernels(kernels, 8, library);
    cuModuleEnumerateFunctions(functions, 8, NULL); /* an error */
    cuLaunchKernel(functions[1], 8, 2, 1, 128, 1, 1, 512, stream, NULL, NULL);
    cuLaunchKernel((CUfunction)kernels[2], 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
}

static void sleep_a_while(void *unused)
{
    const struct timespec time = {0, 200000000};
    (void)unused;
    until_synchronizing();
    nanosleep(&time, NULL);
}

/* A node with a kernel, and a wait for kernels. */
static void wait_for_kernels(void)
{
    CUmodule module;
    CUfunction scale, fill;
    CUgraph graph;
    CUgraphNode node;
    start();
    cuModuleLoadData(&module, ".version 7.0\n.target sm_50\n.address_size 64\n");
    cuModuleGetFunction(&scale, module, "_ZN4game5scaleIfLi4EEEvPT_i");
    cuModuleGetFunction(&fill, module, "fill");
    const CUDA_KERNEL_NODE_PARAMS_v2 kernel = {scale, 8, 2, 1, 128, 1, 1, 0, NULL, NULL, NULL, NULL};
    cuGraphCreate(&graph, 0);
    cuGraphAddKernelNode_v2(&node, graph, NULL, 0, &kernel);
    cuGraphAddKernelNode_v2(&node, graph, NULL, 0, NULL); /* an error */
    cuLaunchKernel(fill, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
    cuLaunchHostFunc(stream, sleep_a_while, NULL);
    cuLaunchKernel(scale, 8, 2, 1, 128, 1, 1, 512, stream, NULL, NULL);
    cuLaunchKernel(scale, 8, 2, 1, 128, 1, 1, 512, stream, NULL, NULL);
    atomic_store(&is_synchronizing, true);
    cuStreamSynchronize(stream);
}

/* Asks whether a context is current; for functions, of which the driver has one; and with an argument that is an
 * error. */
static void look_up(void)
{
    void *function;
    CUdriverProcAddressQueryResult status;
    CUdevice device;
    cuInit(0);
    cuCtxGetDevice(&device);
    cuGetProcAddress("cuFuture", &function, 11040, 0);
    cuGetProcAddress("cuStreamQuery", &function, 11040, 0);
    cuGetProcAddress_v2("cuFuture", &function, 12000, 0, &status);
    cuGetProcAddress_v2("cuStreamQuery", &function, 12000, 0, &status);
    cuGetProcAddress_v2("cuStreamQuery", NULL, 12000, 0, &status);
}

/* Calls whose failure the driver explains. */
static void CUDA_CB count_line(void *lines, CUlogLevel level, char *line, size_t length)
{
    (void)level, (void)line, (void)length;
    ++*(int *)lines;
}

static void fail_calls(int calls)
{
    CUdeviceptr memory;
    CUgraph graph;
    CUlogsCallbackHandle handle;
    int lines = 0;
    start();
    cuLogsRegisterCallback(count_line, &lines, &handle);
    cuStreamBeginCapture_v2(stream, 0);
    for (int i = 0; i < calls; i++)
        cuMemAlloc_v2(&memory, 8);
    cuStreamQuery(CU_STREAM_PER_THREAD);
    cuStreamEndCapture(stream, &graph);
    cuCtxSetCurrent(NULL);
    cuStreamCreate(&stream, 1 << 30);
    cuLogsUnregisterCallback(handle);
    printf("%d\n", lines);
}

/* The first call of a thread that is about to be cancelled, and calls of others at the same time. */
static void *thread_cancelled(void *barrier)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_barrier_wait(barrier);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    count(1);
    return NULL;
}

static void *thread_after(void *barrier)
{
    pthread_barrier_wait(barrier);
    count(1);
    return NULL;
}

static void cancel_threads(void)
{
    pthread_t threads[2];
    pthread_barrier_t barrier;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&threads[0], NULL, thread_cancelled, &barrier);
    pthread_create(&threads[1], NULL, thread_after, &barrier);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    count(1);
}

/* Signal handlers that call the driver while this thread calls it. */
static volatile sig_atomic_t handled;
static void handler(int number)
{
    int version;
    (void)number;
    cuDriverGetVersion(&version);
    handled++;
}

static void *send_signals(void *target)
{
    while (handled < 2000) {
        pthread_kill(*(pthread_t *)target, SIGUSR1);
        usleep(20);
    }
    return NULL;
}

static void handle_signals(void)
{
    pthread_t self = pthread_self(), sender;
    CUfunction function;
    int calls = 0;
    count(1);
    signal(SIGUSR1, handler);
    pthread_create(&sender, NULL, send_signals, &self);
    for (; handled < 2000; calls++)
        cuModuleGetFunction(&function, NULL, "a kernel with a long name, so that its record takes a while");
    signal(SIGUSR1, SIG_IGN);
    pthread_join(sender, NULL);
    printf("%d %d\n", 1 + calls, (int)handled);
}

/* The number of signals that are pending, and of those that come less than a second later. */
static int count_signals(int number)
{
    sigset_t set;
    int count = 0;
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_BLOCK, &set, NULL);
    while (sigtimedwait(&set, NULL, &(const struct timespec){1, 0}) == number)
        count++;
    return count;
}

/* The same call fails in a signal handler and outside. */
static void fail_in_handler(int number)
{
    CUfunction function;
    cuModuleGetFunction(&function, NULL, number != 0 ? "handler" : "program");
}

/* Each program makes as many calls as its number, and becomes the next one. */
static int exec_again(char *program, int rounds)
{
    char number[16];
    count(1000);
    snprintf(number, sizeof number, "%d", rounds - 1);
    return rounds > 1 ? execl(program, program, "again", number, (char *)NULL) : 0;
}

/* A child that still calls when its parent has ended: it waits for the end of its standard input. */
static void leave_child(void)
{
    char byte;
    count(1);
    if (fork() != 0)
        _exit(0);
    fclose(stderr);
    while (read(STDIN_FILENO, &byte, 1) > 0)
        continue;
    count(50000);
    puts("survived");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "deep") == 0) {
        call_below(60);
    } else if (strcmp(what, "calls") == 0) {
        make_calls();
    } else if (strcmp(what, "lookup") == 0) {
        look_up();
    } else if (strcmp(what, "launch") == 0) {
        launch();
    } else if (strcmp(what, "launch-long-names") == 0) {
        launch_long_names();
    } else if (strcmp(what, "sandbox") == 0) {
        return use_sandbox();
    } else if (strcmp(what, "enumerate") == 0) {
        enumerate();
    } else if (strcmp(what, "wait-for-kernels") == 0) {
        wait_for_kernels();
    } else if (strcmp(what, "streams") == 0) {
        use_streams();
    } else if (strcmp(what, "flags") == 0) {
        use_flags();
    } else if (strcmp(what, "text") == 0) {
        CUfunction function;
        cuModuleGetFunction(&function, NULL, argv[2]);
    } else if (strcmp(what, "fail") == 0) {
        fail_calls(atoi(argv[2]));
    } else if (strcmp(what, "count") == 0) {
        count(atoi(argv[2]));
    } else if (strcmp(what, "mix") == 0) {
        mix(atoi(argv[2]));
    } else if (strcmp(what, "kill") == 0) {
        count(5);
        raise(SIGKILL);
    } else if (strcmp(what, "crash") == 0) {
        count(5);
        cuDriverGetVersion((int *)8);
    } else if (strcmp(what, "hang") == 0) {
        start();
        cuLaunchHostFunc(stream, block, NULL);
        atomic_store(&is_synchronizing, true);
        cuStreamSynchronize(stream);
        pause();
    } else if (strcmp(what, "fork") == 0 || strcmp(what, "raw-fork") == 0) {
        run_child(what[0] == 'r');
    } else if (strcmp(what, "exec") == 0) {
        count(3);
        execl(argv[0], argv[0], "count", "4", (char *)NULL);
    } else if (strcmp(what, "spawn") == 0) {
        count(1);
        char command[4096];
        snprintf(command, sizeof command, "%s count 2", argv[0]);
        return system(command);
    } else if (strcmp(what, "close") == 0) {
        count(1);
        for (int i = 3; i < 256; i++)
            close(i);
        count(20000);
    } else if (strcmp(what, "threads") == 0) {
        make_threads();
    } else if (strcmp(what, "late") == 0) {
        run_late();
    } else if (strcmp(what, "nested") == 0) {
        cuStreamQuery(NULL);
        count(1);
    } else if (strcmp(what, "failing-handler") == 0) {
        fail_in_handler(0);
        signal(SIGUSR1, fail_in_handler);
        raise(SIGUSR1);
        fail_in_handler(0);
    } else if (strcmp(what, "cancel") == 0) {
        cancel_threads();
    } else if (strcmp(what, "signals") == 0) {
        handle_signals();
    } else if (strcmp(what, "count-signals") == 0) {
        printf("%d\n", count_signals(SIGUSR1));
    } else if (strcmp(what, "again") == 0) {
        return exec_again(argv[0], atoi(argv[2]));
    } else if (strcmp(what, "leave") == 0) {
        leave_child();
    } else if (strcmp(what, "print") == 0) {
        count(1);
        puts("printed");
        return 3;
    }
    return 0;
}
