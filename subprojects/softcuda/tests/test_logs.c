/* SPDX-License-Identifier: MIT */
/* The log of failed calls, and the functions that get its lines. */
#define _GNU_SOURCE
#include "support.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The lines that a function got, each with a newline at its end. */
struct record {
    char text[1024];
    CUlogsCallbackHandle unregisters; /* in the first call */
    CUresult (*calls)(void);          /* in each call */
};

static void CUDA_CB record_line(void *user, CUlogLevel level, char *line, size_t length)
{
    struct record *record = user;
    size_t used = strlen(record->text);
    assert_int_equal(level, CU_LOG_LEVEL_ERROR);
    snprintf(record->text + used, sizeof record->text - used, "%.*s\n", (int)length, line);
    if (record->calls != NULL)
        record->calls();
    if (record->unregisters != NULL)
        assert_cu(0, cu->LogsUnregisterCallback_v1(record->unregisters));
    record->unregisters = NULL;
}

static struct record before; /* registered before cushim is loaded, and before cuInit */

static CUlogsCallbackHandle record_begin(struct record *record)
{
    CUlogsCallbackHandle callback = NULL;
    memset(record, 0, sizeof *record);
    assert_cu(0, cu->LogsRegisterCallback_v1(record_line, record, &callback));
    return callback;
}

static void record_end(const struct record *record, CUlogsCallbackHandle callback, const char *expected)
{
    assert_cu(0, cu->LogsUnregisterCallback_v1(callback));
    assert_string_equal(record->text, expected);
}

TEST(test_text_when_a_kernel_is_not_registered_then_says_that_softcuda_runs_none)
{
    struct record record;
    CUmodule module;
    CUfunction function;
    assert_cu(0, cu->ModuleLoadData_v1(&module, "any image"));
    CUlogsCallbackHandle callback = record_begin(&record);
    assert_cu(500, cu->ModuleGetFunction_v1(&function, module, "unknown"));
    assert_cu(0, cu->LogsUnregisterCallback_v1(callback));
    assert_non_null(strstr(record.text, "softcuda runs no kernels: register \"unknown\""));
    assert_cu(0, cu->ModuleUnload_v1(module));
}

TEST(test_texts_when_calls_fail_then_those_of_the_driver)
{
    struct record record;
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUlogsCallbackHandle callback = record_begin(&record);
    CUstream other;
    CUgraph graph;
    CUdeviceptr memory;
    assert_cu(0, cu->CtxSetCurrent_v1(NULL));
    assert_cu(201, cu->StreamCreate_v1(&other, 0));
    assert_cu(0, cu->CtxSetCurrent_v1(context));
    assert_cu(1, cu->StreamWriteValue32_v2(stream, 0, 1, 0));
    assert_cu(0, cu->StreamBeginCapture_v2(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
    assert_cu(900, cu->MemAlloc_v2(&memory, 16));
    assert_cu(901, cu->StreamEndCapture_v1(stream, &graph));
    assert_cu(801, cu->MemGetInfo_v1(NULL, NULL));
    control->fail_call("cuMemAlloc_v2", 1, 2);
    assert_cu(2, cu->MemAlloc_v2(&memory, 16));
    assert_cu(400, cushim_table_per_thread()->StreamQuery_v1((CUstream)&record));
    record_end(&record, callback,
               "NULL is not a valid context\n"
               "Returning 201 (CUDA_ERROR_INVALID_CONTEXT) from cuStreamCreate\n"
               "Batch memory address 0x0 is not valid\n"
               "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuStreamWriteValue32_v2\n"
               "API call conflicts with a stream capture sequence initiated from the calling thread\n"
               "Returning 900 (CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED) from cuMemAlloc_v2\n"
               "Capture was invalidated by a prior API call\n"
               "Returning 901 (CUDA_ERROR_STREAM_CAPTURE_INVALIDATED) from cuStreamEndCapture\n"
               "Returning 801 (CUDA_ERROR_NOT_SUPPORTED) from cuMemGetInfo\n"
               "Returning 2 (CUDA_ERROR_OUT_OF_MEMORY) from cuMemAlloc_v2\n"
               "Returning 400 (CUDA_ERROR_INVALID_HANDLE) from cuStreamQuery_ptsz\n");
}

TEST(test_texts_when_a_call_succeeds_or_is_not_ready_then_none)
{
    struct record record;
    struct gate gate = {0, 0};
    CUstream stream = support_stream(CU_STREAM_NON_BLOCKING);
    CUlogsCallbackHandle callback = record_begin(&record);
    assert_cu(0, cu->LaunchHostFunc_v1(stream, support_gate, &gate));
    assert_cu(600, cu->StreamQuery_v1(stream));
    support_open(&gate);
    assert_cu(0, cu->StreamSynchronize_v1(stream));
    record_end(&record, callback, "");
}

#define NO_BYTES "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2\n"

static CUresult allocate_no_bytes(void)
{
    CUdeviceptr memory;
    return cu->MemAlloc_v2(&memory, 0);
}

static void fail_a_call(void *unused)
{
    assert_cu(1, allocate_no_bytes());
}

static int reports;

static void CUDA_CB count_own_thread(void *thread, CUlogLevel level, char *line, size_t length)
{
    (void)level, (void)line, (void)length;
    static _Thread_local char here;
    if (*(char **)thread == NULL)
        *(char **)thread = &here;
    reports += *(char **)thread == &here;
}

static void fail_on_other_thread(void *unused)
{
    char *thread = NULL;
    CUlogsCallbackHandle callback;
    assert_cu(0, cu->LogsRegisterCallback_v1(count_own_thread, &thread, &callback));
    for (int i = 0; i < 3; i++)
        fail_a_call(NULL);
    assert_cu(0, cu->LogsUnregisterCallback_v1(callback));
}

TEST(test_function_when_a_call_fails_then_it_runs_on_that_thread)
{
    reports = 0;
    support_on_thread(fail_on_other_thread, NULL);
    assert_int_equal(reports, 3);
}

TEST(test_functions_when_several_are_registered_then_each_gets_the_lines)
{
    struct record one, two;
    CUlogsCallbackHandle first = record_begin(&one), second = record_begin(&two);
    before.text[0] = '\0';
    assert_cu(1, CUSHIM_CALL(MemAlloc_v2, NULL, 0));
    assert_string_equal(before.text, NO_BYTES);
    assert_string_equal(cushim_error_last()->driver_message,
                        "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuMemAlloc_v2");
    record_end(&one, first, NO_BYTES);
    fail_a_call(NULL);
    record_end(&two, second, NO_BYTES NO_BYTES);
    assert_cu(1, cu->LogsUnregisterCallback_v1(first));
    assert_cu(1, cu->LogsUnregisterCallback_v1(NULL));
    assert_cu(1, cu->LogsRegisterCallback_v1(NULL, NULL, NULL));
}

TEST(test_function_when_it_calls_the_driver_then_it_is_not_called_for_that)
{
    struct record record;
    CUlogsCallbackHandle callback = record_begin(&record);
    record.calls = allocate_no_bytes;
    fail_a_call(NULL);
    record_end(&record, callback, NO_BYTES);
}

TEST(test_function_when_it_unregisters_itself_then_it_was_called_once)
{
    struct record record;
    record.unregisters = record_begin(&record);
    fail_a_call(NULL);
    fail_a_call(NULL);
    assert_string_equal(record.text, NO_BYTES);
}

static int running, ended;

static void CUDA_CB run_slowly(void *user, CUlogLevel level, char *line, size_t length)
{
    (void)user, (void)level, (void)line, (void)length;
    __atomic_store_n(&running, 1, __ATOMIC_SEQ_CST);
    support_sleep(50);
    __atomic_store_n(&ended, 1, __ATOMIC_SEQ_CST);
}

static CUlogsCallbackHandle slow;

static void *fail_slowly(void *unused)
{
    (void)cu->CtxSetCurrent_v1(context);
    fail_a_call(unused);
    return NULL;
}

TEST(test_function_when_unregistered_while_it_runs_then_it_has_ended)
{
    pthread_t thread;
    running = ended = 0;
    assert_cu(0, cu->LogsRegisterCallback_v1(run_slowly, NULL, &slow));
    assert_int_equal(pthread_create(&thread, NULL, fail_slowly, NULL), 0);
    while (!__atomic_load_n(&running, __ATOMIC_SEQ_CST))
        support_sleep(1);
    assert_cu(0, cu->LogsUnregisterCallback_v1(slow));
    assert_int_equal(__atomic_load_n(&ended, __ATOMIC_SEQ_CST), 1);
    pthread_join(thread, NULL);
}

/* The parts of the lines of a dump after "[CUDA][E] ", with their newlines. */
static void assert_dump(const char *dump, const char *expected)
{
    char lines[2048] = "";
    for (const char *at = dump; *at != '\0'; at = strchr(at, '\n') + 1) {
        const char *line = strstr(at, "[CUDA][E] ");
        assert_non_null(line);
        strncat(lines, line + 10, strcspn(line + 10, "\n") + 1);
    }
    assert_string_equal(lines, expected);
}

TEST(test_dump_when_read_from_an_iterator_then_the_lines_since_then)
{
    static char dump[25600];
    size_t size = sizeof dump;
    CUlogIterator iterator, start;
    assert_cu(0, cu->LogsCurrent_v1(&iterator, 0));
    start = iterator;
    fail_a_call(NULL);
    assert_cu(0, cu->LogsDumpToMemory_v1(&iterator, dump, &size, 0));
    assert_int_equal(size, strlen(dump));
    assert_dump(dump, NO_BYTES);
    size = sizeof dump;
    assert_cu(0, cu->LogsDumpToMemory_v1(&iterator, dump, &size, 0));
    assert_int_equal(size, 0);
    assert_string_equal(dump, "");
    size = 10;
    assert_cu(1, cu->LogsDumpToMemory_v1(&start, dump, &size, 0));
    assert_int_equal(size, 0);
    assert_cu(1, cu->LogsDumpToMemory_v1(&start, NULL, &size, 0));
    assert_cu(1, cu->LogsCurrent_v1(NULL, 0));
    assert_cu(1, cu->LogsCurrent_v1(&iterator, 1));
    size = sizeof dump;
    assert_cu(0, cu->LogsDumpToMemory_v1(&start, dump, &size, 0));
    assert_dump(dump, NO_BYTES "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLogsDumpToMemory\n"
                               "buffer cannot be NULL\n"
                               "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLogsDumpToMemory\n"
                               "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLogsCurrent\n"
                               "Returning 1 (CUDA_ERROR_INVALID_VALUE) from cuLogsCurrent\n");
}

TEST(test_dump_when_lines_are_lost_then_the_newest_and_a_note)
{
    static char dump[25601], small[256];
    size_t size = sizeof dump;
    for (int i = 0; i < 150; i++)
        fail_a_call(NULL);
    assert_cu(0, cu->LogsDumpToMemory_v1(NULL, dump, &size, 0));
    assert_int_equal(strncmp(dump, "Older ", 6), 0);
    int lines = 0;
    for (const char *at = dump; (at = strchr(at, '\n')) != NULL; at++)
        lines++;
    assert_int_equal(lines, 101);
    size = sizeof small;
    assert_cu(0, cu->LogsDumpToMemory_v1(NULL, small, &size, 0));
    assert_in_range(size, 100, sizeof small - 1);
    assert_string_equal(strrchr(small, 'R'), "R_INVALID_VALUE) from cuMemAlloc_v2\n");
}

TEST(test_dump_when_to_a_file_then_the_same_lines)
{
    char path[] = "/tmp/softcuda-log-XXXXXX", text[512] = "";
    CUlogIterator iterator;
    int file = mkstemp(path);
    assert_true(file >= 0);
    assert_cu(0, cu->LogsCurrent_v1(&iterator, 0));
    fail_a_call(NULL);
    assert_cu(0, cu->LogsDumpToFile_v1(&iterator, path, 0));
    assert_true(read(file, text, sizeof text - 1) > 0);
    assert_dump(text, NO_BYTES);
    assert_cu(1, cu->LogsDumpToFile_v1(&iterator, "/nowhere/file", 0));
    assert_cu(1, cu->LogsDumpToFile_v1(&iterator, NULL, 0));
    assert_cu(1, cu->LogsDumpToFile_v1(&iterator, path, 1));
    close(file);
    unlink(path);
}

static void register_before_load(const char *path)
{
    union {
        void *object;
        CUresult(CUDAAPI *function)(CUlogsCallback, void *, CUlogsCallbackHandle *);
    } found = {dlsym(dlopen(path, RTLD_NOW | RTLD_LOCAL), "cuLogsRegisterCallback")};
    if (found.object == NULL || found.function(record_line, &before, NULL) != CUDA_SUCCESS)
        exit(1);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        register_before_load(argv[1]);
    support_load(argc, argv);
    return test_list_run();
}
