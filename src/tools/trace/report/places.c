/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "table.h"

/* The name of each address is made once. */
struct place {
    struct trace_key key; /* the address; the kind is the number of its module, from 1 */
    char *name;
};
static struct trace_table places = {.size = sizeof(struct place)};

/* The name of the file, without directories. */
static const char *module_name(const struct trace_module *module)
{
    const char *slash = strrchr(module->path, '/');
    return slash != NULL ? slash + 1 : module->path;
}

/* Programs call these, and they call the driver. */
static bool is_layer(const struct trace_module *module)
{
    static const char *const layers[] = {"libcudart", "libcuda.so", "libcushim", "libffi", "_ctypes", "trace.so"};
    if (module == NULL)
        return false;
    bool found = false;
    for (size_t i = 0; i < sizeof layers / sizeof layers[0]; i++)
        found |= strncmp(module_name(module), layers[i], strlen(layers[i])) == 0;
    return found;
}

size_t trace_first_frame(const struct trace_reader *reader, const struct trace_call *call)
{
    for (size_t i = 0; i < call->stack_count; i++) {
        if (!is_layer(trace_module_find(reader, call->process, call->stack[i])))
            return i;
    }
    return 0;
}

uint64_t trace_site_of(const struct trace_reader *reader, const struct trace_call *call)
{
    return call->stack_count > 0 ? call->stack[trace_first_frame(reader, call)] : call->caller;
}

bool trace_is_called_from(const struct trace_reader *reader, const struct trace_call *call, const char *text)
{
    for (size_t i = 0; i <= call->stack_count; i++) {
        const struct trace_module *module =
            trace_module_find(reader, call->process, i == 0 ? call->caller : call->stack[i - 1]);
        if (module != NULL && strstr(module->path, text) != NULL)
            return true;
    }
    return false;
}

static char *place_describe(const struct trace_module *module, uint64_t address)
{
    char *name = NULL, source[512];
    int length;
    if (module == NULL || module->path[0] == '\0')
        length = asprintf(&name, "0x%" PRIx64, address);
    else if (trace_source_find(module, address, source, sizeof source))
        length = asprintf(&name, "%s+0x%" PRIx64 " (%s)", module_name(module), address - module->base, source);
    else
        length = asprintf(&name, "%s+0x%" PRIx64, module_name(module), address - module->base);
    return length >= 0 ? name : NULL;
}

const char *trace_place_name(const struct trace_reader *reader, size_t process, uint64_t address)
{
    const struct trace_module *module = trace_module_find(reader, process, address);
    uint32_t number = module != NULL ? (uint32_t)(module - reader->processes[process].modules) + 1 : UINT32_MAX;
    struct place *place =
        address != 0 ? trace_table_add(&places, (struct trace_key){address, (uint32_t)process, number}) : NULL;
    if (place != NULL && place->name == NULL)
        place->name = place_describe(module, address);
    return place != NULL && place->name != NULL ? place->name : "";
}

void trace_places_free(void)
{
    for (struct place *place = NULL; (place = trace_table_next(&places, place)) != NULL;)
        free(place->name);
    free(places.entries);
    places = (struct trace_table){.size = sizeof(struct place)};
    trace_sources_free();
}
