/* SPDX-License-Identifier: MIT */
/* The variables of softcuda with any content: each fault and each hidden name is a whole item of the list. */
#include "../../subprojects/softcuda/src/control/deny.c"
#include "../../subprojects/softcuda/src/control/environment.c"
#include "../../subprojects/softcuda/src/control/visible.c"

#include "fuzz.h"

static const char *faults, *names;

static bool is_item(const char *list, const char *symbol, const char *ends)
{
    size_t length = strlen(symbol);
    for (const char *at = list; (at = strstr(at, symbol)) != NULL; at++) {
        if ((at == list || at[-1] == ',') && strchr(ends, at[length]) != NULL)
            return true;
        if (*at == '\0')
            break;
    }
    return false;
}

bool fault_add(const char *symbol, unsigned nth, int code)
{
    (void)nth, (void)code;
    HOLDS(is_item(faults, symbol, ":="));
    return true;
}

bool os_hide_symbol(const char *symbol)
{
    HOLDS(is_item(names, symbol, ","));
    return true;
}

void fault_set_delay(uint64_t nanoseconds)
{
    (void)nanoseconds;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char fault_text[2048], name_text[2048], number[256];
    faults = fuzz_text(&bytes, fault_text, sizeof fault_text);
    names = fuzz_text(&bytes, name_text, sizeof name_text);
    (void)fuzz_text(&bytes, number, sizeof number);
    setenv("SOFTCUDA_FAIL", faults, 1);
    setenv("SOFTCUDA_HIDE", names, 1);
    setenv("SOFTCUDA_DEVICES", number, 1);
    setenv("SOFTCUDA_MEMORY", number, 1);
    setenv("SOFTCUDA_LATE_CALLBACKS", number, 1);
    setenv("SOFTCUDA_VALUE_OPS", number, 1);
    memset(hidden, 0, sizeof hidden);
    read_environment();
    setenv("CUDA_VISIBLE_DEVICES", names, 1);
    HOLDS((devices_find() == CUDA_SUCCESS) == (device_count() > 0) && device_count() <= device_count_of_machine());
    HOLDS(!device_exists(-1) && !device_exists(device_count()));
    for (int i = 0; i < device_count(); i++)
        HOLDS(device_in_machine(i) >= 0 && device_in_machine(i) < device_count_of_machine());
    (void)device_memory();
    (void)device_has_value_ops();
    HOLDS(!symbol_is_hidden("cuStreamGetId") || is_item(names, "cuStreamGetId", ","));
    return 0;
}
