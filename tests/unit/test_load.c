/* SPDX-License-Identifier: MIT */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cushim/cushim.h"
#include "load.h"

static int reset(void **state)
{
    (void)state;
    load_reset_for_tests();
    return 0;
}

static void test_load_when_not_wanted_then_the_table_is_absent(void **state)
{
    (void)state;
    struct cushim_load_options options = {.path = "none"};
    int version = -1;
    int count = -1;
    assert_int_equal(cushim_load(&options), CUDA_ERROR_FILE_NOT_FOUND);
    assert_int_equal(cushim_diagnosis()->reason, CUSHIM_REASON_NOT_WANTED);
    assert_int_equal(cushim_table()->Init_v1(0), CUDA_ERROR_NO_DEVICE);
    assert_int_equal(cushim_table()->DriverGetVersion_v1(&version), CUDA_SUCCESS);
    assert_int_equal(version, 0);
    assert_int_equal(cushim_table()->DeviceGetCount_v1(&count), CUDA_SUCCESS);
    assert_int_equal(count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_load_when_not_wanted_then_the_table_is_absent, reset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
