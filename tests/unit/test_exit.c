/* SPDX-License-Identifier: MIT */
/* Slots that are called while the process is ending. POSIX only. */
#include "unit.h"

#include "process.h"

static void assert_told(const char *when, CUresult query, int version, const char *reason)
{
    char line[128];
    snprintf(line, sizeof line, "%s=%d 0 %d %s\n", when, (int)query, version, reason);
    process_assert_printed(line);
}

UNIT_TEST(test_slots_when_called_at_exit_then_the_driver_is_still_there)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_true(process_run(PROGRAMS "/at_exit", NULL, NULL));
    assert_told("main", FAKE_CODE(ENTRY_StreamQuery_v1, 0), 12040, "none");
    assert_told("atexit", FAKE_CODE(ENTRY_StreamQuery_v1, 0), 12040, "none");
    assert_told("destructor", FAKE_CODE(ENTRY_StreamQuery_v1, 0), 12040, "none");
}

UNIT_TEST(test_slots_when_first_called_at_exit_then_they_load_the_driver)
{
    unit_set_variable("CUSHIM_DRIVER", unit_fake("fake_12040"));
    assert_true(process_run(PROGRAMS "/at_exit", "first", NULL));
    assert_false(process_printed("main"));
    assert_told("atexit", FAKE_CODE(ENTRY_StreamQuery_v1, 0), 12040, "none");
    assert_told("destructor", FAKE_CODE(ENTRY_StreamQuery_v1, 0), 12040, "none");
}

UNIT_TEST(test_slots_when_called_at_exit_without_a_driver_then_it_is_absent)
{
    unit_set_variable("CUSHIM_DRIVER", "none");
    assert_true(process_run(PROGRAMS "/at_exit", NULL, NULL));
    assert_told("destructor", CUDA_ERROR_NO_DEVICE, 0, "not-wanted");
    assert_true(process_run(PROGRAMS "/at_exit", "first", NULL));
    assert_told("destructor", CUDA_ERROR_NO_DEVICE, 0, "not-wanted");
}
