/* SPDX-License-Identifier: MIT */
/* Sets: each completion comes out once, when it has fired, with its pointer, unless it has left the set before. */
#include "completion_set.h"

struct cushim_completion_set *set_new(void)
{
    struct cushim_completion_set *set = NULL;
    need("set", cushim_completion_set_create(&set));
    return set;
}

struct cushim_completion *come_out(struct cushim_completion_set *set, void **out_user)
{
    struct cushim_completion *completion = NULL;
    need("come-out", cushim_completion_set_wait(set, soon(), &completion, out_user));
    return completion;
}

void rule_nothing(const char *key, struct cushim_completion_set *set)
{
    struct cushim_completion *completion = NULL;
    void *user = &completion;
    refused(key, cushim_completion_set_wait(set, 0, &completion, &user), CUDA_ERROR_TIMEOUT,
            "cushim_completion_set_wait");
    rule_fact(key_of(key, "untouched", NULL), completion == NULL && user == &completion);
}

static void comes_out(void)
{
    struct gate gate;
    cushim_descriptor descriptor;
    int users[3];
    void *user = NULL;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completions[3];
    need("descriptor", cushim_completion_set_descriptor(set, &descriptor));
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < 3; i++) {
        completions[i] = completion_new(stream);
        done(key_of("add", turns[i], NULL), cushim_completion_set_add(set, completions[i], &users[i]));
    }
    rule_nothing("nothing-has-fired", set);
    rule_fact("silent", silent(descriptor));
    gate_open(&gate);
    int times[3] = {0};
    for (int i = 0; i < 3; i++) {
        rule_fact(key_of("readable", turns[i], NULL), readable(descriptor));
        struct cushim_completion *out = come_out(set, &user);
        rule(key_of("poll", turns[i], NULL), cushim_completion_poll(out), CUDA_SUCCESS);
        for (int j = 0; j < 3; j++)
            times[j] += out == completions[j] && user == &users[j];
    }
    for (int i = 0; i < 3; i++)
        rule_number(key_of("once-with-its-pointer", turns[i], NULL), times[i], 1);
    rule_nothing("each-once", set);
    rule_fact("silent-again", silent(descriptor));
    struct cushim_completion *late = completion_new(stream);
    rule("wait-late", cushim_completion_wait(late, soon()), CUDA_SUCCESS);
    done("add-late", cushim_completion_set_add(set, late, NULL));
    rule_fact("readable-late", readable(descriptor));
    rule_fact("late", come_out(set, NULL) == late);
    cushim_completion_destroy(&late);
    for (int i = 0; i < 3; i++)
        cushim_completion_destroy(&completions[i]);
    cushim_completion_set_destroy(&set);
    rule_fact("set-is-null", set == NULL);
    layer_stream_end(stream);
}

/* The first completion has fired before the second one exists. */
static void in_order(void)
{
    cushim_descriptor descriptor;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    need("descriptor", cushim_completion_set_descriptor(set, &descriptor));
    struct cushim_completion *first = completion_new(stream);
    done("add-first", cushim_completion_set_add(set, first, NULL));
    rule_fact("readable", readable(descriptor));
    struct cushim_completion *second = completion_new(stream);
    done("add-second", cushim_completion_set_add(set, second, NULL));
    rule("wait", cushim_completion_wait(second, soon()), CUDA_SUCCESS);
    rule_fact("first", come_out(set, NULL) == first);
    rule_fact("second", come_out(set, NULL) == second);
    cushim_completion_destroy(&first);
    cushim_completion_destroy(&second);
    cushim_completion_set_destroy(&set);
    layer_stream_end(stream);
}

/* The descriptor stays readable until the last completion has come out. */
static void descriptor_of_many(void)
{
    enum { COUNT = 5 };
    struct gate gate;
    cushim_descriptor descriptor;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completions[COUNT];
    int not_readable = 0;
    need("descriptor", cushim_completion_set_descriptor(set, &descriptor));
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < COUNT; i++) {
        completions[i] = completion_new(stream);
        done(key_of("add", turns[i], NULL), cushim_completion_set_add(set, completions[i], NULL));
    }
    gate_open(&gate);
    done("synchronize", cushim_stream_synchronize(stream));
    for (int i = 0; i < COUNT; i++) {
        not_readable += !readable(descriptor);
        (void)come_out(set, NULL);
    }
    rule_number("not-readable", not_readable, 0);
    rule_fact("silent", silent(descriptor));
    for (int i = 0; i < COUNT; i++)
        cushim_completion_destroy(&completions[i]);
    cushim_completion_set_destroy(&set);
    layer_stream_end(stream);
}

/* Before and after they fire, completions leave the set by being detached or destroyed. */
static void left(void)
{
    struct gate gate;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completions[5];
    gate_close(&gate, cushim_stream_handle(stream));
    for (int i = 0; i < 5; i++) {
        completions[i] = completion_new(stream);
        done(key_of("add", turns[i], NULL), cushim_completion_set_add(set, completions[i], NULL));
    }
    cushim_completion_destroy(&completions[0]);
    cushim_completion_detach(&completions[1]);
    gate_open(&gate);
    rule("wait", cushim_completion_wait(completions[4], soon()), CUDA_SUCCESS);
    done("synchronize", cushim_stream_synchronize(stream));
    cushim_completion_destroy(&completions[2]);
    cushim_completion_detach(&completions[3]);
    rule_fact("the-rest", come_out(set, NULL) == completions[4]);
    rule_nothing("nothing-more", set);
    cushim_completion_destroy(&completions[4]);
    cushim_completion_set_destroy(&set);
    layer_stream_end(stream);
}

static void argument(void)
{
    struct cushim_completion_set *set = set_new();
    struct cushim_completion_set *other = set_new();
    struct cushim_completion_set *none = NULL;
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = completion_new(stream);
    cushim_descriptor descriptor;
    refused("null-output", cushim_completion_set_create(NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_set_create");
    refused("add-to-null", cushim_completion_set_add(NULL, completion, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_set_add");
    refused("add-null", cushim_completion_set_add(set, NULL, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_set_add");
    done("add", cushim_completion_set_add(set, completion, NULL));
    refused("add-again", cushim_completion_set_add(other, completion, NULL), CUDA_ERROR_ILLEGAL_STATE,
            "cushim_completion_set_add");
    refused("wait-null", cushim_completion_set_wait(NULL, 0, &completion, NULL), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_set_wait");
    refused("wait-null-output", cushim_completion_set_wait(set, 0, NULL, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_set_wait");
    refused("descriptor-of-null", cushim_completion_set_descriptor(NULL, &descriptor), CUDA_ERROR_INVALID_HANDLE,
            "cushim_completion_set_descriptor");
    refused("descriptor-null-output", cushim_completion_set_descriptor(set, NULL), CUDA_ERROR_INVALID_VALUE,
            "cushim_completion_set_descriptor");
    cushim_completion_set_destroy(NULL);
    cushim_completion_set_destroy(&none);
    cushim_completion_destroy(&completion);
    cushim_completion_set_destroy(&set);
    cushim_completion_set_destroy(&other);
    layer_stream_end(stream);
}

/* The set ends before the completions in it have fired, and after that. */
static void destroyed(void)
{
    struct cushim_stream *stream = layer_stream();
    for (int fired = 0; fired < 2; fired++) {
        struct gate gate;
        struct cushim_completion_set *set = set_new();
        struct cushim_completion *first;
        struct cushim_completion *completions[3];
        gate_close(&gate, cushim_stream_handle(stream));
        for (int i = 0; i < 3; i++) {
            completions[i] = completion_new(stream);
            done(key_of(fired ? "add-fired" : "add", turns[i], NULL),
                 cushim_completion_set_add(set, completions[i], NULL));
        }
        if (fired) {
            gate_open(&gate);
            first = come_out(set, NULL);
            rule_fact("first", first == completions[0] || first == completions[1] || first == completions[2]);
        }
        cushim_completion_set_destroy(&set);
        if (!fired)
            gate_open(&gate);
        for (int i = 0; i < 3; i++) {
            rule(key_of(fired ? "wait-fired" : "wait", turns[i], NULL), cushim_completion_wait(completions[i], soon()),
                 CUDA_SUCCESS);
            cushim_completion_destroy(&completions[i]);
        }
    }
    layer_stream_end(stream);
}

static CUresult body_works(struct cushim_stream *stream, void *user)
{
    (void)user;
    return body_adds_work(stream, NULL);
}

/* The release function is called when the completion comes out, or if it has left the set. */
static void enqueued(void)
{
    atomic_int releases = 0;
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    for (int leaves = 0; leaves < 2; leaves++) {
        struct cushim_completion *completion = NULL;
        need("enqueue", cushim_stream_enqueue(stream, body_works, &releases, count_release, &completion));
        done(key_of("add", turns[leaves], NULL), cushim_completion_set_add(set, completion, NULL));
        done(key_of("synchronize", turns[leaves], NULL), cushim_stream_synchronize(stream));
        rule_number(key_of("not-yet", turns[leaves], NULL), atomic_load(&releases), leaves);
        if (leaves)
            cushim_completion_detach(&completion);
        else
            rule_fact("out", come_out(set, NULL) == completion);
        for (int i = 0; i < 200 && atomic_load(&releases) == leaves; i++)
            pause_shortly();
        rule_number(key_of("released", turns[leaves], NULL), atomic_load(&releases), leaves + 1);
        cushim_completion_destroy(&completion);
    }
    cushim_completion_set_destroy(&set);
    rule_number("released-once", atomic_load(&releases), 2);
    layer_stream_end(stream);
}

/* A captured completion comes out after each launch. */
static void captured(void)
{
    struct cushim_completion_set *set = set_new();
    struct cushim_stream *stream = layer_stream();
    struct cushim_completion *completion = NULL;
    struct cushim_graph_exec *executable = NULL;
    need("capture",
         cushim_stream_capture_executable(stream, RELAXED, 0, body_captures_completion, &completion, &executable));
    done("add", cushim_completion_set_add(set, completion, NULL));
    for (int i = 1; i <= 3; i++) {
        done(key_of("launch", turns[i], NULL), cushim_graph_exec_launch(executable, stream));
        rule_fact(key_of("out", turns[i], NULL), come_out(set, NULL) == completion);
        rule_number(key_of("count", turns[i], NULL), (long long)cushim_completion_count(completion), i);
        rule_nothing(key_of("once", turns[i], NULL), set);
    }
    done("synchronize", cushim_stream_synchronize(stream));
    done("launch-then", cushim_graph_exec_launch(executable, stream));
    done("launch-twice", cushim_graph_exec_launch(executable, stream));
    done("synchronize-twice", cushim_stream_synchronize(stream));
    rule_fact("out-again", come_out(set, NULL) == completion);
    rule_nothing("both-at-a-time", set);
    cushim_completion_set_destroy(&set);
    done("launch-without-set", cushim_graph_exec_launch(executable, stream));
    done("synchronize-without-set", cushim_stream_synchronize(stream));
    cushim_completion_destroy(&completion);
    cushim_graph_exec_destroy(&executable);
    layer_stream_end(stream);
}

static const struct check checks[] = {
    {"completion_set.comes-out", comes_out, 0, {0}},
    {"completion_set.in-order", in_order, 0, {0}},
    {"completion_set.descriptor-of-many", descriptor_of_many, 0, {0}},
    {"completion_set.left", left, 0, {0}},
    {"completion_set.argument", argument, 0, {0}},
    {"completion_set.destroyed", destroyed, 0, {0}},
    {"completion_set.enqueued", enqueued, 0, {0}},
    {"completion_set.captured", captured, 0, {S(UserObjectCreate_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_completion_set = {"completion_set", checks};
