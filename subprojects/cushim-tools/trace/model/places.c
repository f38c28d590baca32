/* SPDX-License-Identifier: MIT */
#include "places.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sources.h"
#include "texts.h"
#include "text.h"

/* The name of each address is made once. */
struct place {
    struct trace_key key; /* the address; the kind is the number of its module, from 1 */
    char *name;
};
static struct trace_table places = {.size = sizeof(struct place)};

static struct trace_texts lines;
static bool has_failed;

/* The name of the file, without directories. */
static const char *module_name(const struct trace_module *module)
{
    const char *slash = strrchr(module->path, '/');
    return slash != NULL ? slash + 1 : module->path;
}

/* The words are parted by spaces. */
static bool starts_with_any(const char *text, const char *words)
{
    bool found = false;
    for (size_t length; *words != '\0' && !found; words += length + (words[length] != '\0')) {
        length = strcspn(words, " ");
        found = strncmp(text, words, length) == 0;
    }
    return found;
}

/* Programs call these, and they call the driver. */
static bool is_layer(const struct trace_module *module)
{
    return module != NULL
           && starts_with_any(module_name(module), "libcudart libcuda.so libcushim libffi _ctypes trace.so");
}

bool trace_is_cuda_library(const char *path)
{
    const char *slash = strrchr(path, '/');
    return starts_with_any(slash != NULL ? slash + 1 : path,
                           "libcublas libcudnn libcufft libcurand libcusolver libcusparse libcutensor libcupti libnccl "
                           "libnvrtc libnvJitLink libnvjpeg libnpp libnvinfer libnvshmem libnvidia-");
}

/* The file without the directory in which packages are installed. */
static const char *package_name(const char *path)
{
    static const char *const directories[] = {"/site-packages/", "/dist-packages/"};
    for (size_t i = 0; i < sizeof directories / sizeof directories[0]; i++) {
        const char *found = strstr(path, directories[i]);
        if (found != NULL)
            return found + strlen(directories[i]);
    }
    return NULL;
}

/* Of the program, and not of the system, a package, the interpreter or CUDA. */
static bool is_own(const struct trace_module *module)
{
    return module != NULL && module->path[0] != '\0' && !is_layer(module) && !trace_is_cuda_library(module->path)
           && package_name(module->path) == NULL && strstr(module->path, "/lib-dynload/") == NULL
           && strstr(module->path, "/.triton/cache/") == NULL
           && !starts_with_any(module->path,
                               "/lib/ /lib32/ /lib64/ /usr/lib /usr/local/lib /usr/local/cuda /usr/local/nvidia [")
           && !starts_with_any(module_name(module), "python libpython ld-linux");
}

/* Whose code is at an address. A call has up to 32 of them, mostly the same as other calls, so answers are kept, until
 * the process has more modules. */
static struct owner {
    uint64_t address;
    size_t process, modules;
    bool is_layer, is_own;
} owners[4096];

static const struct owner *owner_find(const struct trace_reader *reader, size_t process, uint64_t address)
{
    struct owner *owner = &owners[(address ^ address >> 12) % (sizeof owners / sizeof owners[0])];
    size_t modules = reader->processes[process].module_count;
    if (owner->address != address || owner->process != process || owner->modules != modules) {
        const struct trace_module *module = trace_module_find(reader, process, address);
        *owner = (struct owner){address, process, modules, is_layer(module), is_own(module)};
    }
    return owner;
}

size_t trace_first_frame(const struct trace_reader *reader, const struct trace_call *call)
{
    size_t found = call->stack_count;
    for (size_t i = 0; i < call->stack_count; i++) {
        const struct owner *owner = owner_find(reader, call->process, call->stack[i]);
        if (owner->is_own)
            return i;
        if (!owner->is_layer && found == call->stack_count)
            found = i;
    }
    return found < call->stack_count ? found : 0;
}

bool trace_is_from_cuda_library(const struct trace_reader *reader, const struct trace_call *call)
{
    const struct trace_module *module = trace_module_find(reader, call->process, call->caller);
    for (size_t i = 0; i < call->stack_count && (module == NULL || is_layer(module)); i++)
        module = trace_module_find(reader, call->process, call->stack[i]);
    return module != NULL && trace_is_cuda_library(module->path);
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
    for (size_t i = 0; i < call->python_count; i++) {
        if (strstr(call->python[i].file, text) != NULL || strstr(call->python[i].function, text) != NULL)
            return true;
    }
    return false;
}

const char *trace_python_lines(const struct trace_call *call)
{
    char text[8 * TRACE_PYTHON_WORDS + 32 * TRACE_PYTHON_FRAMES];
    size_t used = 0;
    for (size_t i = 0; i < call->python_count; i++) {
        const struct trace_python_frame *frame = &call->python[i];
        const char *name = package_name(frame->file);
        size_t start = used;
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s:%u (%s)", i > 0 ? "\n" : "",
                                 name != NULL ? name : frame->file, frame->line, frame->function);
        for (size_t at = start + (i > 0); at < used; at++) /* a line is one line */
            text[at] = (unsigned char)text[at] < ' ' ? '?' : text[at];
    }
    const char *kept = used > 0 ? trace_text_keep(&lines, text, used) : NULL;
    has_failed |= used > 0 && kept == NULL;
    return kept;
}

const char *trace_place_lines(const struct trace_reader *reader, size_t process, uint64_t site, const char *python)
{
    if (python == NULL)
        return trace_place_name(reader, process, site);
    char *both = NULL;
    if (!is_own(trace_module_find(reader, process, site)))
        return python;
    bool is_made = asprintf(&both, "%s\n%s", trace_place_name(reader, process, site), python) >= 0;
    const char *kept = is_made ? trace_text_keep(&lines, both, strlen(both)) : NULL;
    has_failed |= kept == NULL;
    if (is_made)
        free(both);
    return kept != NULL ? kept : python;
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
    has_failed |= address != 0 && (place == NULL || place->name == NULL);
    return place != NULL && place->name != NULL ? place->name : "";
}

void trace_places_free(void)
{
    for (struct place *place = NULL; (place = trace_table_next(&places, place)) != NULL;)
        free(place->name);
    free(places.entries);
    places = (struct trace_table){.size = sizeof(struct place)};
    trace_texts_free(&lines);
    lines = (struct trace_texts){.table = {.size = 0}};
    memset(owners, 0, sizeof owners);
    has_failed = false;
    trace_sources_free();
}

bool trace_places_have_failed(void)
{
    return has_failed;
}

bool trace_is_python(const struct trace_process *process)
{
    for (size_t i = 0; i < process->module_count; i++) {
        const char *slash = strrchr(process->modules[i].path, '/');
        const char *name = slash != NULL ? slash + 1 : process->modules[i].path;
        if (text_starts_with(name, "python3") || text_starts_with(name, "libpython3"))
            return true;
    }
    return process->has_python;
}
