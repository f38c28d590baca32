/* SPDX-License-Identifier: MIT */
/* Situations in which programs that wait for a GPU by callbacks hang or crash. Each check has a process of its own and
 * a watchdog. */
#if !defined(_WIN32)
#    define _GNU_SOURCE
#    include <stdlib.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif
#include "completion.h"

static void count_call(CUresult status, void *user)
{
    (void)status;
    atomic_fetch_add((atomic_int *)user, 1);
}

/* Launches a kernel that faults, held back until everything is registered. */
static bool launch_fault(struct gate *gate, struct cushim_stream *stream)
{
    CUfunction function = NULL;
    return need("kernel", kernel_get("conformance_fault", &function)) && gate_close(gate, cushim_stream_handle(stream))
           && need("launch", kernel_launch(function, cushim_stream_handle(stream), NULL));
}

static void fault_after(void)
{
    struct gate gate;
    atomic_int releases = 0;
    atomic_int calls = 0;
    cushim_descriptor descriptor;
    struct cushim_completion *with_work = NULL;
    struct cushim_stream *stream = layer_stream();
    if (!launch_fault(&gate, stream))
        return;
    struct cushim_completion *completion = completion_new(stream);
    done("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &with_work));
    done("set-callback", cushim_completion_set_inline_callback(completion, count_call, &calls, count_release));
    need("descriptor", cushim_completion_descriptor(completion, &descriptor));
    gate_open(&gate);
    passed_on("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    refused("wait", cushim_completion_wait(completion, soon()), CUDA_ERROR_ILLEGAL_ADDRESS, "cushim_completion_wait");
    refused("poll", cushim_completion_poll(completion), CUDA_ERROR_ILLEGAL_ADDRESS, "cushim_completion_poll");
    rule_fact("readable", readable(descriptor));
    refused("wait-with-work", cushim_completion_wait(with_work, soon()), CUDA_ERROR_ILLEGAL_ADDRESS,
            "cushim_completion_wait");
    rule_number("released", atomic_load(&releases), 1);
    for (int i = 0; i < 500 && atomic_load(&calls) < 2; i++) /* the completion fires a moment before its callback */
        pause_shortly();
    rule_number("called-and-released", atomic_load(&calls), 2);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&with_work);
    rule("stream-destroy", cushim_stream_destroy(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

static void fault_before(void)
{
    struct gate gate;
    atomic_int releases = 0;
    CUresult status = CUDA_SUCCESS;
    struct cushim_completion *completion = NULL;
    struct cushim_completion *notification = NULL;
    struct cushim_completion *with_work = NULL;
    struct cushim_stream *stream = layer_stream();
    if (!launch_fault(&gate, stream))
        return;
    gate_open(&gate);
    passed_on("synchronize", cushim_stream_synchronize(stream), CUDA_ERROR_ILLEGAL_ADDRESS);
    done("completion", cushim_stream_completion(stream, &completion));
    done("status", cushim_completion_status(completion, &status));
    rule("status-is", status, CUDA_ERROR_ILLEGAL_ADDRESS);
    done("notification", cushim_stream_capturable_completion(stream, &notification));
    refused("notification-wait", cushim_completion_wait(notification, soon()), CUDA_ERROR_ILLEGAL_ADDRESS,
            "cushim_completion_wait");
    done("enqueue", cushim_stream_enqueue(stream, body_does_nothing, &releases, count_release, &with_work));
    refused("enqueue-wait", cushim_completion_wait(with_work, soon()), CUDA_ERROR_ILLEGAL_ADDRESS,
            "cushim_completion_wait");
    rule_number("released", atomic_load(&releases), 1);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&notification);
    cushim_completion_destroy(&with_work);
    rule("stream-destroy", cushim_stream_destroy(&stream), CUDA_ERROR_ILLEGAL_ADDRESS);
}

struct beside {
    const char *where;
    struct cushim_stream *stream;
};

static void beside_capture(void *user)
{
    const struct beside *beside = user;
    atomic_int releases = 0;
    cushim_descriptor descriptor;
    struct cushim_completion *with_work = NULL;
    struct cushim_completion *completion = completion_new(beside->stream);
    done(key_of(beside->where, "descriptor", NULL), cushim_completion_descriptor(completion, &descriptor));
    rule(key_of(beside->where, "wait", NULL), cushim_completion_wait(completion, soon()), CUDA_SUCCESS);
    rule(key_of(beside->where, "poll", NULL), cushim_completion_poll(completion), CUDA_SUCCESS);
    done(key_of(beside->where, "enqueue", NULL),
         cushim_stream_enqueue(beside->stream, body_does_nothing, &releases, count_release, &with_work));
    rule(key_of(beside->where, "enqueue-wait", NULL), cushim_completion_wait(with_work, soon()), CUDA_SUCCESS);
    cushim_completion_destroy(&completion);
    cushim_completion_destroy(&with_work);
}

static void capture_in_progress(void)
{
    struct cushim_capture *capture = NULL;
    struct cushim_graph *graph = NULL;
    struct cushim_stream *capturing = layer_stream();
    struct cushim_stream *other = layer_stream();
    struct beside here = {"same-thread", other};
    struct beside there = {"another-thread", other};
    done("begin", cushim_capture_begin(capturing, CU_STREAM_CAPTURE_MODE_GLOBAL, &capture));
    beside_capture(&here);
    on_thread(beside_capture, &there);
    rule_status("status", capturing, "active");
    done("end", cushim_capture_end(&capture, &graph));
    cushim_graph_destroy(&graph);
    layer_stream_end(capturing);
    layer_stream_end(other);
}

#if !defined(_WIN32)

static int in_child(struct cushim_completion *pending, struct cushim_completion *fired,
                    struct cushim_dispatcher *dispatcher, struct cushim_context *context)
{
    static atomic_int releases;
    bool right = cushim_completion_poll(pending) == CUDA_ERROR_NOT_INITIALIZED
                 && cushim_completion_wait(pending, CUSHIM_FOREVER) == CUDA_ERROR_NOT_INITIALIZED
                 && cushim_completion_wait(fired, CUSHIM_FOREVER) == CUDA_SUCCESS
                 && cushim_dispatcher_run(dispatcher, NULL) == CUDA_ERROR_NOT_INITIALIZED;
    /* Neither waits for what only the parent can finish. */
    cushim_completion_set_inline_callback(pending, count_call, &releases, count_release);
    cushim_context_destroy(&context);
    cushim_completion_destroy(&pending);
    cushim_completion_detach(&fired);
    cushim_dispatcher_destroy(&dispatcher);
    return right ? 0 : 1;
}

static void forked(void)
{
    struct gate gate;
    int status = -1;
    atomic_int calls = 0;
    cushim_descriptor descriptor = -1;
    struct cushim_dispatcher *dispatcher = NULL;
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *fired = completion_new(stream);
    rule("wait", cushim_completion_wait(fired, soon()), CUDA_SUCCESS);
    need("dispatcher", cushim_dispatcher_create(&dispatcher));
    need("descriptor", cushim_dispatcher_descriptor(dispatcher, &descriptor));
    done("set-callback", cushim_completion_set_callback(fired, dispatcher, count_call, &calls, NULL));
    gate_close(&gate, cushim_stream_handle(stream));
    struct cushim_completion *pending = completion_new(stream);
    struct cushim_context *context = NULL;
    need("context", cushim_context_create_preferred(0, &context));
    pid_t child = fork();
    if (child == 0) {
        alarm(10);
        _exit(in_child(pending, fired, dispatcher, context));
    }
    waitpid(child, &status, 0);
    rule_number("child", status, 0);
    rule_fact("still-readable", readable(descriptor));
    done("run", cushim_dispatcher_run(dispatcher, NULL));
    rule_number("called", atomic_load(&calls), 1);
    cushim_dispatcher_destroy(&dispatcher);
    gate_open(&gate);
    rule("parent", cushim_completion_wait(pending, soon()), CUDA_SUCCESS);
    cushim_context_destroy(&context);
    cushim_completion_destroy(&pending);
    cushim_completion_destroy(&fired);
    layer_stream_end(stream);
}

static void CUDA_CB sleep_a_while(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    (void)user;
    for (int i = 0; i < 20; i++)
        pause_shortly();
}

/*
 * LeakSanitizer calls __lsan_is_turned_off() at the end of the process. While other threads run, its check sometimes
 * stops them and itself for ever (gcc 12).
 */
static bool is_leaving;
int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
    return is_leaving;
}

/* The process ends while completions with descriptors and callbacks are pending. */
static void leave_with_outstanding(void)
{
    static atomic_int calls;
    struct cushim_completion *completion = NULL;
    struct cushim_stream *stream = NULL;
    struct cushim_dispatcher *dispatcher = NULL;
    cushim_descriptor descriptor;
    is_leaving = true;
    alarm(10);
    if (fixture_open() != CUDA_SUCCESS)
        _exit(2);
    stream = layer_stream();
    cushim_dispatcher_create(&dispatcher);
    cu->StreamAddCallback_v1(cushim_stream_handle(stream), sleep_a_while, NULL, 0);
    for (int i = 0; i < 30; i++) {
        if (cushim_stream_completion(stream, &completion) != CUDA_SUCCESS)
            _exit(3);
        cushim_completion_descriptor(completion, &descriptor);
        if (i % 3 == 0)
            cushim_completion_set_callback(completion, dispatcher, count_call, &calls, count_release);
        if (i % 3 == 1)
            cushim_completion_set_inline_callback(completion, count_call, &calls, count_release);
    }
    exit(0);
}

static void exited(void)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        leave_with_outstanding();
    waitpid(child, &status, 0);
    rule_number("status", status, 0);
}

#endif

/* On an idle stream the driver's thread often calls the callback before the registration has returned. */
static void before_registration_returns(void)
{
    enum { ROUNDS = 20000 };
    atomic_int calls = 0;
    int fired = 0;
    struct cushim_stream *stream = layer_stream();
    for (int i = 0; i < ROUNDS; i++) {
        struct cushim_completion *completion = completion_new(stream);
        if (i % 2 == 0) {
            fired += cushim_completion_wait(completion, soon()) == CUDA_SUCCESS;
            cushim_completion_destroy(&completion);
        } else {
            cushim_completion_set_inline_callback(completion, count_call, &calls, NULL);
            cushim_completion_detach(&completion);
        }
    }
    need("synchronize", cushim_stream_synchronize(stream));
    rule_number("fired", fired, ROUNDS / 2);
    rule_number("called", atomic_load(&calls), ROUNDS / 2);
    layer_stream_end(stream);
}

/* Detached completions fire late, when other completions could long use their memory: those do not change. */
static void long_after_detach(void)
{
    enum { COUNT = 200 };
    struct cushim_completion *pending[COUNT];
    int still_pending = 0;
    struct cushim_stream *stream = layer_stream();
    struct cushim_stream *other = layer_stream();
    unsigned *flag = stream_block(stream);
    for (int i = 0; i < COUNT; i++) {
        struct cushim_completion *completion = completion_new(stream);
        if (i % 2 == 0)
            cushim_completion_detach(&completion);
        else
            cushim_completion_destroy(&completion);
    }
    unsigned *other_flag = stream_block(other);
    for (int i = 0; i < COUNT; i++)
        pending[i] = completion_new(other);
    stream_unblock(flag);
    need("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < COUNT; i++)
        still_pending += cushim_completion_poll(pending[i]) == CUDA_ERROR_NOT_READY;
    rule_number("still-pending", still_pending, COUNT);
    stream_unblock(other_flag);
    for (int i = 0; i < COUNT; i++) {
        need("wait", cushim_completion_wait(pending[i], soon()));
        cushim_completion_destroy(&pending[i]);
    }
    layer_stream_end(stream);
    layer_stream_end(other);
    host_free(flag);
    host_free(other_flag);
}

static const struct check checks[] = {
    {"trap.fault-after", fault_after, CHECK_ALONE, {0}},
    {"trap.fault-before", fault_before, CHECK_ALONE, {0}},
    {"trap.capture-in-progress", capture_in_progress, 0, {S(ThreadExchangeStreamCaptureMode_v1)}},
#if !defined(_WIN32)
    {"trap.forked", forked, CHECK_ALONE, {0}},
    {"trap.exited", exited, CHECK_NO_INIT, {0}},
#endif
    {"trap.before-registration-returns", before_registration_returns, 0, {0}},
    {"trap.long-after-detach", long_after_detach, 0, {0}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_trap = {"trap", checks};
