/* SPDX-License-Identifier: MIT */
/* Polyfills of stream capture: they report what an older driver can report, refuse the rest, and invent nothing. */
#include "mock.h"

#define STREAM HANDLE(CUstream, 7)

/* The state of the stream, as the driver reports it. */
static struct {
    CUstreamCaptureStatus status;
    size_t dependency_count;
    CUgraphNode dependencies[600];
} capture;

static CUresult CUDAAPI get_priority(CUstream stream, int *priority)
{
    *priority = 0;
    return mock_call("GetPriority", "%u", NUMBER(stream));
}

static CUresult CUDAAPI is_capturing(CUstream stream, CUstreamCaptureStatus *status)
{
    CUresult result = mock_call("IsCapturing", "%u", NUMBER(stream));
    if (result == CUDA_SUCCESS)
        *status = capture.status;
    return result;
}

static CUresult CUDAAPI begin_capture(CUstream stream)
{
    return mock_call("BeginCapture", "%u", NUMBER(stream));
}

/* As in real drivers, everything except the status is written only for an active capture. */
static CUresult CUDAAPI capture_info_v1(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id)
{
    CUresult result = mock_call("Info_v1", "%u%s", NUMBER(stream), id != NULL ? ", id" : "");
    if (result != CUDA_SUCCESS)
        return result;
    *status = capture.status;
    if (capture.status == CU_STREAM_CAPTURE_STATUS_ACTIVE && id != NULL)
        *id = 42;
    return result;
}

static CUresult CUDAAPI capture_info_v2(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                                        const CUgraphNode **dependencies, size_t *count)
{
    CUresult result =
        mock_call("Info_v2", "%u%s%s%s%s", NUMBER(stream), id != NULL ? ", id" : "", graph != NULL ? ", graph" : "",
                  dependencies != NULL ? ", dependencies" : "", count != NULL ? ", count" : "");
    if (result != CUDA_SUCCESS)
        return result;
    *status = capture.status;
    if (capture.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return result;
    if (id != NULL)
        *id = 42;
    if (graph != NULL)
        *graph = HANDLE(CUgraph, 43);
    if (dependencies != NULL)
        *dependencies = capture.dependencies;
    if (count != NULL)
        *count = capture.dependency_count;
    return result;
}

static CUresult CUDAAPI update_dependencies(CUstream stream, CUgraphNode *dependencies, size_t count, unsigned flags)
{
    return mock_call("Update", "%u, %u, %u, %u", NUMBER(stream), NUMBER(dependencies), (unsigned)count, flags);
}

static const struct cushim_dispatch_table *load(const char *fake)
{
    struct cushim_dispatch_table *hooks = mock_load(fake, (struct cushim_load_options){0});
    hooks->StreamGetPriority_v1 = get_priority;
    hooks->StreamIsCapturing_v1 = is_capturing;
    hooks->StreamBeginCapture_v1 = begin_capture;
    hooks->StreamGetCaptureInfo_v1 = capture_info_v1;
    hooks->StreamGetCaptureInfo_v2 = capture_info_v2;
    hooks->StreamUpdateCaptureDependencies_v1 = update_dependencies;
    memset(&capture, 0, sizeof capture);
    return cushim_table();
}

/* The outputs of a query. Before a call they have the values of `untouched`. */
struct answer {
    CUstreamCaptureStatus status;
    unsigned no_padding; /* results are compared byte by byte */
    cuuint64_t id;
    CUgraph graph;
    const CUgraphNode *dependencies;
    const CUgraphEdgeData *edges;
    size_t count;
};

static const struct answer untouched = {.status = (CUstreamCaptureStatus)77, .id = 77, .count = 77};

static CUresult ask_v3(const struct cushim_dispatch_table *table, struct answer *answer)
{
    *answer = untouched;
    return table->StreamGetCaptureInfo_v3(STREAM, &answer->status, &answer->id, &answer->graph, &answer->dependencies,
                                          &answer->edges, &answer->count);
}

static CUresult ask_v2(const struct cushim_dispatch_table *table, struct answer *answer)
{
    *answer = untouched;
    return table->StreamGetCaptureInfo_v2(STREAM, &answer->status, &answer->id, &answer->graph, &answer->dependencies,
                                          &answer->count);
}

static void assert_untouched(const struct answer *answer)
{
    assert_memory_equal(answer, &untouched, sizeof untouched);
}

/* The error names the function that was called, even if another polyfill below it detected the error. */
static void assert_refused(CUresult result, const char *called, struct answer *answer)
{
    assert_int_equal(result, CUDA_ERROR_NOT_SUPPORTED);
    assert_string_equal(cushim_error_last()->function, called);
    assert_non_null(strstr(cushim_error_last()->message, " driver for CUDA "));
    assert_untouched(answer);
}

/* Only the status was written. */
static void assert_only_status(struct answer *answer, CUstreamCaptureStatus status)
{
    assert_int_equal(answer->status, status);
    answer->status = untouched.status;
    assert_untouched(answer);
}

MOCK_TEST(test_is_capturing_when_the_driver_cannot_capture_then_none_after_a_check)
{
    const struct cushim_dispatch_table *table = load("fake_9010");
    CUstreamCaptureStatus status = untouched.status;
    assert_int_equal(table->StreamIsCapturing_v1(STREAM, &status), CUDA_SUCCESS);
    assert_int_equal(status, CU_STREAM_CAPTURE_STATUS_NONE);
    mock_assert_calls("GetPriority(7) ");
    mock_fail("GetPriority", CUDA_ERROR_CONTEXT_IS_DESTROYED);
    status = untouched.status;
    assert_int_equal(table->StreamIsCapturing_v1(STREAM, &status), CUDA_ERROR_CONTEXT_IS_DESTROYED);
    assert_int_equal(status, untouched.status);
    assert_int_equal(table->StreamIsCapturing_v1(STREAM, NULL), CUDA_ERROR_INVALID_VALUE);
}

MOCK_TEST(test_capture_info_when_the_driver_cannot_capture_then_idle)
{
    const struct cushim_dispatch_table *table = load("fake_9010");
    struct answer answer = untouched;
    assert_int_equal(table->StreamGetCaptureInfo_v1(STREAM, &answer.status, &answer.id), CUDA_SUCCESS);
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(ask_v2(table, &answer), CUDA_SUCCESS);
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_NONE);
    assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_NONE);
    mock_assert_calls("GetPriority(7) GetPriority(7) GetPriority(7) ");
}

/* 10.0: relaxed captures, and whether a capture exists. */

MOCK_TEST(test_begin_capture_when_relaxed_then_the_older_one_is_called)
{
    const struct cushim_dispatch_table *table = load("fake_10000");
    assert_int_equal(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_RELAXED), CUDA_SUCCESS);
    mock_assert_calls("BeginCapture(7) ");
    mock_fail("BeginCapture", CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    assert_int_equal(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_RELAXED),
                     CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

MOCK_TEST(test_begin_capture_when_in_another_mode_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_10000");
    mock_assert_refused(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_GLOBAL), "cuStreamBeginCapture_v2");
    mock_assert_refused(table->StreamBeginCapture_v2(STREAM, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
                        "cuStreamBeginCapture_v2");
    assert_int_equal(table->StreamBeginCapture_v2(STREAM, (CUstreamCaptureMode)3), CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
}

MOCK_TEST(test_capture_info_when_driver_reports_only_the_status_then_refuses_more)
{
    const struct cushim_dispatch_table *table = load("fake_10000");
    struct answer answer = untouched;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(table->StreamGetCaptureInfo_v1(STREAM, &answer.status, NULL), CUDA_SUCCESS);
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_refused(table->StreamGetCaptureInfo_v1(STREAM, &answer.status, &answer.id), "cuStreamGetCaptureInfo",
                   &answer);
    assert_int_equal(table->StreamGetCaptureInfo_v3(STREAM, &answer.status, NULL, NULL, NULL, NULL, NULL),
                     CUDA_SUCCESS);
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_refused(ask_v2(table, &answer), "cuStreamGetCaptureInfo_v2", &answer);
    assert_refused(ask_v3(table, &answer), "cuStreamGetCaptureInfo_v3", &answer);
    mock_assert_calls("IsCapturing(7) IsCapturing(7) IsCapturing(7) IsCapturing(7) IsCapturing(7) ");
    assert_refused(table->StreamGetCaptureInfo_v3(STREAM, &answer.status, &answer.id, NULL, NULL, NULL, NULL),
                   "cuStreamGetCaptureInfo_v3", &answer);
    assert_refused(table->StreamGetCaptureInfo_v2(STREAM, &answer.status, &answer.id, NULL, NULL, NULL),
                   "cuStreamGetCaptureInfo_v2", &answer);
}

MOCK_TEST(test_capture_info_when_idle_or_invalidated_then_the_status_is_all_there_is)
{
    static const char *const fakes[] = {"fake_10000", "fake_10010", "fake_12020"};
    static const CUstreamCaptureStatus statuses[] = {CU_STREAM_CAPTURE_STATUS_NONE,
                                                     CU_STREAM_CAPTURE_STATUS_INVALIDATED};
    for (size_t i = 0; i < 6; i++) {
        struct answer answer;
        mock_reset(state);
        const struct cushim_dispatch_table *table = load(fakes[i / 2]);
        capture.status = statuses[i % 2];
        assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
        assert_only_status(&answer, statuses[i % 2]);
        assert_int_equal(ask_v2(table, &answer), CUDA_SUCCESS);
        assert_only_status(&answer, statuses[i % 2]);
    }
}

MOCK_TEST(test_capture_info_when_driver_reports_the_id_then_refuses_more)
{
    const struct cushim_dispatch_table *table = load("fake_10010");
    struct answer answer = untouched;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(table->StreamGetCaptureInfo_v3(STREAM, &answer.status, &answer.id, NULL, NULL, NULL, NULL),
                     CUDA_SUCCESS);
    mock_assert_calls("Info_v1(7, id) ");
    assert_int_equal(answer.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(answer.id, 42);
    assert_int_equal(table->StreamGetCaptureInfo_v2(STREAM, &answer.status, NULL, NULL, NULL, NULL), CUDA_SUCCESS);
    mock_assert_calls("Info_v1(7) ");
    assert_refused(ask_v2(table, &answer), "cuStreamGetCaptureInfo_v2", &answer);
    assert_refused(ask_v3(table, &answer), "cuStreamGetCaptureInfo_v3", &answer);
}

/* 11.3: everything except edge data; all edges were plain. */

MOCK_TEST(test_capture_info_when_driver_lacks_edge_data_then_edges_are_plain)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    struct answer answer;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    capture.dependency_count = 3;
    assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
    mock_assert_calls("Info_v2(7, id, graph, dependencies, count) ");
    assert_int_equal(answer.status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    assert_int_equal(answer.id, 42);
    assert_int_equal(NUMBER(answer.graph), 43);
    assert_ptr_equal(answer.dependencies, capture.dependencies);
    assert_int_equal(answer.count, 3);
    static const CUgraphEdgeData plain[3];
    assert_memory_equal(answer.edges, plain, sizeof plain);
}

MOCK_TEST(test_capture_info_when_less_is_requested_then_requests_less_from_the_driver)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    struct answer answer = untouched;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    capture.dependency_count = 600;
    assert_int_equal(table->StreamGetCaptureInfo_v3(STREAM, &answer.status, NULL, NULL, NULL, NULL, NULL),
                     CUDA_SUCCESS);
    mock_assert_calls("Info_v2(7) ");
    assert_int_equal(
        table->StreamGetCaptureInfo_v3(STREAM, &answer.status, NULL, NULL, &answer.dependencies, NULL, &answer.count),
        CUDA_SUCCESS);
    mock_assert_calls("Info_v2(7, dependencies, count) ");
    assert_int_equal(answer.count, 600);
}

MOCK_TEST(test_capture_info_when_there_are_no_dependencies_then_no_edges)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    struct answer answer;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
    assert_int_equal(answer.count, 0);
    assert_null(answer.edges);
}

MOCK_TEST(test_capture_info_when_there_are_more_edges_than_we_can_show_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    struct answer answer;
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    capture.dependency_count = 512;
    assert_int_equal(ask_v3(table, &answer), CUDA_SUCCESS);
    capture.dependency_count = 513;
    assert_refused(ask_v3(table, &answer), "cuStreamGetCaptureInfo_v3", &answer);
    unit_assert_contains(cushim_error_last()->message, "512");
}

MOCK_TEST(test_capture_info_when_arguments_are_bad_then_as_in_a_driver)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    struct answer answer = untouched;
    assert_int_equal(table->StreamGetCaptureInfo_v3(STREAM, NULL, NULL, NULL, NULL, NULL, NULL),
                     CUDA_ERROR_INVALID_VALUE);
    mock_assert_calls("");
    capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    assert_int_equal(
        table->StreamGetCaptureInfo_v3(STREAM, &answer.status, NULL, NULL, NULL, &answer.edges, &answer.count),
        CUDA_ERROR_INVALID_VALUE);
    /* Driver 580 has written the status by then (info.active in tests/conformance). */
    assert_only_status(&answer, CU_STREAM_CAPTURE_STATUS_ACTIVE);
}

MOCK_TEST(test_capture_info_when_the_driver_fails_then_results_are_untouched)
{
    static const char *const fakes[] = {"fake_9010", "fake_10000", "fake_10010", "fake_12020"};
    static const char *const questions[] = {"GetPriority", "IsCapturing", "Info_v1", "Info_v2"};
    for (size_t i = 0; i < 4; i++) {
        struct answer answer;
        mock_reset(state);
        const struct cushim_dispatch_table *table = load(fakes[i]);
        capture.status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        mock_fail(questions[i], CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        assert_int_equal(ask_v3(table, &answer), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
        assert_untouched(&answer);
        if (i < 3) {
            assert_int_equal(ask_v2(table, &answer), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
            assert_untouched(&answer);
        }
    }
}

MOCK_TEST(test_update_dependencies_when_edges_are_plain_then_the_older_one_is_called)
{
    static const CUgraphEdgeData plain[2];
    const struct cushim_dispatch_table *table = load("fake_12020");
    CUgraphNode *nodes = HANDLE(CUgraphNode *, 9);
    assert_int_equal(table->StreamUpdateCaptureDependencies_v2(STREAM, nodes, NULL, 2, 1), CUDA_SUCCESS);
    assert_int_equal(table->StreamUpdateCaptureDependencies_v2(STREAM, nodes, plain, 2, 0), CUDA_SUCCESS);
    mock_assert_calls("Update(7, 9, 2, 1) Update(7, 9, 2, 0) ");
    mock_fail("Update", CUDA_ERROR_ILLEGAL_STATE);
    assert_int_equal(table->StreamUpdateCaptureDependencies_v2(STREAM, NULL, NULL, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
}

MOCK_TEST(test_update_dependencies_when_an_edge_is_not_plain_then_refused)
{
    const struct cushim_dispatch_table *table = load("fake_12020");
    for (size_t i = 0; i < 2 * sizeof(CUgraphEdgeData); i++) {
        CUgraphEdgeData edges[2];
        memset(edges, 0, sizeof edges);
        ((unsigned char *)edges)[i] = 1;
        mock_assert_refused(table->StreamUpdateCaptureDependencies_v2(STREAM, NULL, edges, 2, 0),
                            "cuStreamUpdateCaptureDependencies_v2");
    }
}
