/* SPDX-License-Identifier: MIT */
#include "allocation.h"

#include <stdlib.h>

struct allocation allocation;

static bool allocation_fails(void)
{
    if (!allocation.counts || allocation.countdown < 0)
        return false;
    if (allocation.countdown > 0) {
        allocation.countdown--;
        return false;
    }
    allocation.failed = true;
    if (allocation.only_one)
        allocation.countdown = -1;
    return true;
}

#if defined(TAKES_THE_PLACE_OF_MALLOC)

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *old, size_t size);

void *malloc(size_t size)
{
    return allocation_fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return allocation_fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return allocation_fails() ? NULL : __libc_realloc(old, size);
}

#else

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

void *__wrap_malloc(size_t size)
{
    return allocation_fails() ? NULL : __real_malloc(size);
}

#endif

void allocation_fail_each(void (*scene)(void), void (*after)(void))
{
    for (int round = 0; round < 2; round++) {
        allocation.failed = true;
        for (long turn = 0; allocation.failed; turn++) {
            mock_reset(NULL);
            assert_true(turn < 10000);
            allocation.failed = false;
            allocation.only_one = round == 0;
            allocation.countdown = turn;
            allocation.counts = true;
            scene();
            allocation.counts = false;
            after();
        }
    }
}

void allocation_assert_consistent(CUresult result)
{
    const struct cushim_diagnosis *diagnosis = cushim_diagnosis_get();
    assert_int_equal(diagnosis->code, result);
    assert_non_null(diagnosis->message);
    assert_non_null(diagnosis->advice);
    if (result == CUDA_SUCCESS) {
        assert_int_equal(cushim_table()->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
        assert_int_equal(cushim_driver_version(), 12040);
        assert_non_null(diagnosis->path);
        assert_int_equal(diagnosis->cuda_version, 12040);
    } else {
        assert_int_equal(cushim_table()->StreamQuery_v1(NULL), CUDA_ERROR_NO_DEVICE);
        assert_string_not_equal(diagnosis->message, "");
        assert_string_not_equal(cushim_error_last()->message, "");
    }
}
