/* SPDX-License-Identifier: MIT */
/* The short way to a library's symbols leads where dlsym() does. */
#include "unit.h"

#include "os_symbols.h"

static void assert_agreement(const char *fake)
{
    void *library = unit_open(fake);
    struct os_symbols symbols;
    cush_os_symbols_open(&symbols, library);
#if defined(__GLIBC__)
    assert_non_null(symbols.table); /* it is taken at all */
#endif
    for (size_t row = 0; row < ROW_COUNT; row++) {
        const char *name = cush_symbols_row(row).symbol;
        if (cush_os_symbols_find(&symbols, name) != cush_os_library_symbol(library, name))
            fail_msg("%s: %s", fake, name);
    }
    /* An object is no function, a dependency's function is found as well, and then there is what nobody has. */
    static const char *const others[] = {"fake_hooks", "malloc", "", "c", "cuStreamQuer", "cuStreamQueryy"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_true(cush_os_symbols_find(&symbols, others[i]) == cush_os_library_symbol(library, others[i]));
}

static void test_symbols_when_every_name_is_asked_for_then_dlsym_agrees(void **state)
{
    (void)state;
    assert_agreement("fake_6050");
    assert_agreement("fake_12040");
    assert_agreement(FAKE_OF_LIST_VERSION);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        UNIT_TEST(test_symbols_when_every_name_is_asked_for_then_dlsym_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
