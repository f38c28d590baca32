/* SPDX-License-Identifier: MIT */
/* The shared library is opened and closed again: it stays mapped, because the program may still call its table. POSIX
 * only. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

/* Only types: this program is not linked to cushim. */
#include "cushim/cushim.h"
#include "fake.h"
#include "test_list.h"

static void *find(void *library, const char *name)
{
    void *found = dlsym(library, name);
    if (found == NULL)
        fail_msg("%s", dlerror());
    return found;
}

TEST_WITH(test_library_when_closed_then_it_stays_and_its_tables_can_be_called, NULL, NULL)
{
    __typeof__(cushim_load) *load;
    __typeof__(cushim_driver_version) *version;
    setenv("CUSHIM_DRIVER", FAKES "/fake_12040.so", 1);
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL)
        fail_msg("%s", dlerror());
    *(void **)&load = find(library, "cushim_load");
    *(void **)&version = find(library, "cushim_driver_version");
    const struct cushim_dispatch_table *const *current = find(library, "cushim_current_legacy_0_2");
    const struct cushim_dispatch_table *bootstrap = *current;
    assert_int_equal(load(NULL), CUDA_SUCCESS);
    const struct cushim_dispatch_table *driver = *current;

    assert_int_equal(dlclose(library), 0);
    assert_ptr_equal(dlopen(LIBRARY, RTLD_NOW | RTLD_NOLOAD), library);
    assert_int_equal(driver->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(bootstrap->StreamQuery_v1(NULL), FAKE_CODE(ENTRY_StreamQuery_v1, 0));
    assert_int_equal(version(), 12040);
}

int main(void)
{
    return test_list_run();
}
