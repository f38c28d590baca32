/* SPDX-License-Identifier: MIT */
#include "support.h"

#include <string.h>

const char *const mode_names[3] = {"global", "thread-local", "relaxed"};

void refused(const char *key, CUresult result, CUresult expected, const char *function)
{
    const struct cushim_error *error = cushim_last_error();
    rule(key, result, expected);
    if (error->code != expected || strcmp(error->function, function) != 0 || error->message[0] == '\0')
        rule_fact(key_of(key, "message", NULL), false);
}

void passed_on(const char *key, CUresult result, CUresult expected)
{
    const struct cushim_error *error = cushim_last_error();
    rule(key, result, expected);
    if (error->code != result || strncmp(error->function, "cu", 2) != 0 || strncmp(error->function, "cushim", 6) == 0
        || error->message[0] == '\0')
        rule_fact(key_of(key, "message", NULL), false);
}

bool done(const char *key, CUresult result)
{
    return rule(key, result, CUDA_SUCCESS) == CUDA_SUCCESS;
}

struct cushim_context *context_new(void)
{
    struct cushim_context *context = NULL;
    need("context", cushim_context_borrow(the_context, &context));
    return context;
}

struct cushim_stream *layer_stream(void)
{
    struct cushim_stream *stream = NULL;
    struct cushim_context *context = context_new();
    need("stream", cushim_stream_create(context, CU_STREAM_NON_BLOCKING, 0, &stream));
    need("context-destroy", cushim_context_destroy(&context));
    return stream;
}

void layer_stream_end(struct cushim_stream *stream)
{
    need("close", cushim_stream_close(&stream));
}

void rule_current(const char *key, CUcontext expected)
{
    CUcontext current = NULL;
    need("current", cu->CtxGetCurrent_v1(&current));
    rule_fact(key, current == expected);
}

const char *layer_status(struct cushim_stream *stream)
{
    return capture_status(cushim_stream_handle(stream));
}

void rule_status(const char *key, struct cushim_stream *stream, const char *expected)
{
    if (strcmp(layer_status(stream), expected) == 0)
        saw_text(key, expected);
    else
        rule_fact(key_of(key, "is", expected), false);
}

static void CUDA_CB count_if_asked(void *user)
{
    if (user != NULL)
        atomic_fetch_add((atomic_int *)user, 1);
}

CUresult body_adds_work(struct cushim_stream *stream, void *user)
{
    return cushim_stream_launch_host(stream, count_if_asked, user, NULL);
}

int node_count(CUgraph graph)
{
    size_t count = 0;
    return cu->GraphGetNodes_v1(graph, NULL, &count) == CUDA_SUCCESS ? (int)count : -1;
}

void count_release(void *user)
{
    atomic_fetch_add((atomic_int *)user, 1);
}
