/* SPDX-License-Identifier: MIT */
/* Uses the ranges of NVTX before, around and after calls of the driver. */
#if defined(HAS_NVTX)
#    include <nvtx3/nvToolsExt.h>
#else
#    include "nvtx_stand_in.h"
#endif
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "functions.h"

static nvtxEventAttributes_t event_of(int type)
{
    nvtxEventAttributes_t event = {.version = NVTX_VERSION, .size = NVTX_EVENT_ATTRIB_STRUCT_SIZE};
    event.messageType = type;
    return event;
}

static void push_nested(void)
{
    nvtxEventAttributes_t wide = event_of(NVTX_MESSAGE_TYPE_UNICODE), known = event_of(NVTX_MESSAGE_TYPE_REGISTERED);
    nvtxDomainHandle_t domain = nvtxDomainCreateA("library");
    wide.message.unicode = L"gr\u00fcn \u4e09 \U0001f600";
    known.message.registered = nvtxDomainRegisterStringA(domain, "kernel <3>");
    nvtxRangePushEx(&wide);
    nvtxDomainRangePushEx(domain, &known);
    cuCtxSynchronize(); /* fails: no context is current */
    nvtxMarkA("mark");
    nvtxRangePop(); /* that of its own domain: the ranges overlap */
    cuCtxSynchronize();
    nvtxDomainRangePop(domain);
}

static void *end_range(void *number)
{
    cuCtxSynchronize(); /* not within the range that another thread has started */
    nvtxRangeEnd(*(nvtxRangeId_t *)number);
    return NULL;
}

static void *push_in_thread(void *unused)
{
    nvtxRangePushA("of a thread without calls");
    nvtxRangePop();
    return unused;
}

static void ranges(void)
{
    int version;
    pthread_t threads[2];
    nvtxRangePushA("before the first call");
    nvtxRangePushA("outer");
    cuInit(0);
    cuDriverGetVersion(&version);
    push_nested();
    nvtxRangeId_t number = nvtxRangeStartA("started");
    cuCtxSynchronize();
    pthread_create(&threads[0], NULL, end_range, &number);
    pthread_create(&threads[1], NULL, push_in_thread, NULL);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    nvtxRangePop();
    cuCtxSynchronize();
    nvtxRangePop();
    nvtxRangePop(); /* one too many */
    nvtxRangeStartW(L"never ends");
}

static sem_t is_written;

static void use_ranges(int signal)
{
    (void)signal;
    nvtxRangePushA("of a signal handler");
    nvtxRangePop();
}

/* Ranges of a thread that a signal handler with ranges interrupts all the time. */
static void *push_often(void *unused)
{
    for (int i = 0; i < 200000; i++) {
        nvtxRangePushA("often");
        nvtxRangePop();
    }
    sem_post(&is_written);
    return unused;
}

static void signals(void)
{
    pthread_t thread;
    sem_init(&is_written, 0, 0);
    signal(SIGUSR1, use_ranges);
    pthread_create(&thread, NULL, push_often, NULL);
    while (sem_trywait(&is_written) != 0)
        pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
    cuInit(0);
}

/* The first range of a thread whose cancellation is pending. */
static void *push_cancelled(void *unused)
{
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
    pthread_cancel(pthread_self());
    pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, NULL);
    nvtxRangePushA("cancelled");
    return unused;
}

static void cancel(void)
{
    pthread_t thread;
    void *result;
    (void)nvtxDomainCreateA("loads the tool"); /* which is a point of cancellation itself; the file is not open yet */
    for (int i = 0; i < 20; i++) {
        pthread_create(&thread, NULL, push_cancelled, NULL);
        pthread_join(thread, &result);
    }
    cuInit(0);
}

static void children(void)
{
    nvtxRangePushA("parent");
    cuInit(0);
    if (fork() == 0) {
        nvtxRangePushA("child");
        cuCtxSynchronize();
        _exit(0);
    }
    wait(NULL);
    nvtxRangePop();
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    if (strcmp(what, "ranges") == 0)
        ranges();
    else if (strcmp(what, "alone") == 0)
        nvtxMarkA("alone");
    else if (strcmp(what, "signals") == 0)
        signals();
    else if (strcmp(what, "cancel") == 0)
        cancel();
    else if (strcmp(what, "children") == 0)
        children();
    int level = nvtxRangePushA("");
    printf("%d\n", level == 0 || level == -2); /* as without a tool */
    return 0;
}
