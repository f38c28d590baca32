/* SPDX-License-Identifier: MIT */
#include "expect.hpp"

#include <string>

static std::string what_of(CUresult code)
{
    return cushim::error(code).what();
}

static void test_error_when_cushim_recorded_the_code_then_it_has_the_message()
{
    EXPECT_CODE(cushim_stream_synchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(what_of(CUDA_ERROR_INVALID_HANDLE) == cushim_error_last()->message);
    EXPECT(cushim::error(CUDA_ERROR_INVALID_HANDLE).code() == CUDA_ERROR_INVALID_HANDLE);
}

static void test_error_when_another_code_was_recorded_then_it_has_the_description()
{
    EXPECT_CODE(cushim_stream_synchronize(nullptr), CUDA_ERROR_INVALID_HANDLE);
    EXPECT(what_of(CUDA_ERROR_ASSERT) == cushim_error_string(CUDA_ERROR_ASSERT));
    EXPECT(what_of(CUDA_SUCCESS) == cushim_error_string(CUDA_SUCCESS));
}

#if CUSHIM_EXCEPTIONS
static void test_check_when_given_a_code_then_throws_all_but_success()
{
    cushim::check(CUDA_SUCCESS);
    for (CUresult code : {CUDA_ERROR_INVALID_VALUE, CUDA_ERROR_NOT_READY, CUDA_ERROR_UNKNOWN}) {
        CUresult caught = CUDA_SUCCESS;
        try {
            cushim::check(code);
        } catch (const cushim::error &error) {
            caught = error.code();
        }
        EXPECT(caught == code);
    }
}
#endif

extern const test error_tests[];
const test error_tests[] = {
    TEST(test_error_when_cushim_recorded_the_code_then_it_has_the_message),
    TEST(test_error_when_another_code_was_recorded_then_it_has_the_description),
#if CUSHIM_EXCEPTIONS
    TEST(test_check_when_given_a_code_then_throws_all_but_success),
#endif
    {nullptr, nullptr},
};
