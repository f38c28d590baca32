/* SPDX-License-Identifier: MIT */
/* The variables of softcuda with any content: each fault and each hidden name is a whole item of the list, and a
 * setting that is not refused is within its limit. */
#include <stdio.h>
#include <unistd.h>

static FILE *messages; /* a message for each wrong setting */
#undef stderr
#define stderr messages
#include "../../subprojects/softcuda/src/control/text.c"
#undef stderr

#include "../../subprojects/softcuda/src/control/names.c"

#include "../../subprojects/softcuda/src/control/deny.c"
#include "../../subprojects/softcuda/src/control/settings.c"
#include "../../subprojects/softcuda/src/control/visible.c"

#include "fuzz.h"

static const char *faults, *hidden_names;

static bool is_item(const char *list, const char *text, const char *ends)
{
    size_t length = strlen(text);
    for (const char *at = list; (at = strstr(at, text)) != NULL; at++) {
        if ((at == list || strchr(", ", at[-1]) != NULL) && strchr(ends, at[length]) != NULL)
            return true;
        if (*at == '\0')
            break;
    }
    return false;
}

CUresult fault_add(const char *where, const char *function, unsigned nth, int code)
{
    (void)where, (void)nth;
    HOLDS(is_item(faults, function, ":=") && code >= 0);
    return CUDA_SUCCESS;
}

/* Some version of the function is an item. */
bool os_hide_symbol(const char *symbol)
{
    char function[MAX_ITEM];
    snprintf(function, sizeof function, "%s", symbol);
    if (strstr(function, "_v") != NULL)
        *strstr(function, "_v") = '\0';
    if (is_per_thread(function))
        function[strlen(function) - 5] = '\0';
    HOLDS(is_item(hidden_names, function, ", _"));
    return true;
}

void fault_set_delay(uint64_t nanoseconds)
{
    HOLDS(nanoseconds <= MAX_DELAY * (uint64_t)1000000);
}

char **os_environment(void)
{
    return environ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, data + size};
    char fault_text[2048], name_text[2048], number[256];
    if (messages == NULL)
        messages = fopen("/dev/null", "w");
    faults = fuzz_text(&bytes, fault_text, sizeof fault_text);
    hidden_names = fuzz_text(&bytes, name_text, sizeof name_text);
    (void)fuzz_text(&bytes, number, sizeof number);
    setenv("SOFTCUDA_FAIL", faults, 1);
    setenv("SOFTCUDA_HIDE", hidden_names, 1);
    setenv("SOFTCUDA_DEVICES", number, 1);
    setenv("SOFTCUDA_MEMORY", number, 1);
    setenv("SOFTCUDA_LATE_CALLBACKS", number, 1);
    setenv("SOFTCUDA_VALUE_OPS", number, 1);
    memset(is_hidden, 0, sizeof is_hidden);
    any_hidden = false;
    settings_read();
    setenv("CUDA_VISIBLE_DEVICES", hidden_names, 1);
    HOLDS((devices_find() == CUDA_SUCCESS) == (device_count() > 0) && device_count() <= device_count_of_machine());
    HOLDS(device_count_of_machine() <= MAX_DEVICES);
    HOLDS(!device_exists(-1) && !device_exists(device_count()));
    for (int i = 0; i < device_count(); i++)
        HOLDS(device_in_machine(i) >= 0 && device_in_machine(i) < device_count_of_machine());
    (void)device_memory();
    (void)device_has_value_ops();
    HOLDS(!symbol_is_hidden("cuStreamGetId") || is_item(hidden_names, "cuStreamGetId", ", _"));
    return 0;
}
