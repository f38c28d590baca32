/* SPDX-License-Identifier: MIT */
/*
 * The ranges of NVTX 3. Each copy of its header in a program loads the library of NVTX_INJECTION64_PATH at its first
 * use, calls InitializeInjectionNvtx2() in it, and then the functions that this has put into its tables. The
 * declarations follow nvToolsExt.h and nvtxDetail/nvtxTypes.h (github.com/NVIDIA/NVTX).
 *
 * Handles that a program gets are pointers to the characters of names, which stay: nothing is allocated, because a
 * signal handler or the child of a fork() can be the caller.
 */
#include <stddef.h>
#include <string.h>
#include <wchar.h>

#include "cushim/attributes.h"
#include "record.h"

typedef void (*nvtx_function)(void);
typedef const void *(*nvtx_export_table)(uint32_t id);
enum { NVTX_TABLE_OF_CALLBACKS = 1, NVTX_MODULE_CORE = 1, NVTX_MODULE_CORE2 = 5 };
enum { NVTX_ASCII = 1, NVTX_UNICODE, NVTX_REGISTERED };
enum { NVTX_NO_PUSH_POP_TRACKING = -2 }; /* as without a tool: nobody counts the levels of ranges */

struct nvtx_callbacks {
    size_t size;
    int (*find)(int module, nvtx_function ***out_table, unsigned *out_count);
};

/* An event. It can be longer. */
struct nvtx_attributes {
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *unicode;
        const char *registered;
    } message;
};

/* ---- names ---- */

struct name {
    size_t length;
    char text[TRACE_TEXT_MAX + 1];
};

static void name_add(struct name *name, const char *text)
{
    size_t length = text != NULL ? strnlen(text, TRACE_TEXT_MAX - name->length) : 0;
    memcpy(name->text + name->length, text != NULL ? text : "", length);
    name->length += length;
}

/* As UTF-8. */
static void name_add_wide(struct name *name, const wchar_t *text)
{
    for (; text != NULL && *text != L'\0'; text++) {
        uint32_t code = (uint32_t)*text;
        unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
        static const unsigned char first[] = {0, 0xc0, 0xe0, 0xf0};
        if (TRACE_TEXT_MAX - name->length < more + 1)
            break;
        name->text[name->length++] = (char)(first[more] | (code >> 6 * more & (more == 0 ? 0x7f : 0x3f)));
        while (more-- > 0)
            name->text[name->length++] = (char)(0x80 | (code >> 6 * more & 0x3f));
    }
}

static void name_add_message(struct name *name, const struct nvtx_attributes *event)
{
    if (event == NULL || event->size < sizeof *event)
        return;
    if (event->message_type == NVTX_ASCII || event->message_type == NVTX_REGISTERED)
        name_add(name, event->message.ascii);
    else if (event->message_type == NVTX_UNICODE)
        name_add_wide(name, event->message.unicode);
}

/* Keeps a name for the life of the process. Returns its characters, or NULL if there is no more room. */
static const char *name_keep(struct name *name)
{
    static char kept[1 << 20];
    static atomic_size_t used;
    size_t size = name->length + 1, at = atomic_load(&used);
    do {
        if (size > sizeof kept - at)
            return NULL;
    } while (!atomic_compare_exchange_weak(&used, &at, at + size));
    memcpy(kept + at, name->text, name->length);
    return kept + at;
}

/* ---- what happens to ranges ---- */

/* The words of a TRACE_RANGE. A range of a domain has its name in front. */
static void range_write(enum trace_range_event what, const char *domain, uint64_t number, const struct name *name)
{
    uint64_t words[TRACE_RANGE_WORDS + TRACE_WORDS_OF(TRACE_TEXT_MAX + 1)];
    size_t length = name != NULL ? name->length : 0, count = TRACE_RANGE_WORDS + TRACE_WORDS_OF(length);
    words[count - 1] = 0;
    words[0] = what;
    words[1] = (uint64_t)(uintptr_t)domain;
    words[2] = number;
    words[3] = length;
    if (length > 0)
        memcpy(&words[TRACE_RANGE_WORDS], name->text, length);
    record_range(words, count);
}

/* The message is one of the three. Returns the number of a range that starts. */
static uint64_t range_begin(enum trace_range_event what, const char *domain, const struct nvtx_attributes *event,
                            const char *ascii, const wchar_t *wide)
{
    static _Atomic uint64_t started;
    struct name name;
    name.length = 0;
    if (domain != NULL) {
        name_add(&name, domain);
        name_add(&name, ": ");
    }
    name_add_message(&name, event);
    name_add(&name, ascii);
    name_add_wide(&name, wide);
    uint64_t number = what == TRACE_RANGE_START ? atomic_fetch_add(&started, 1) + 1 : 0;
    range_write(what, domain, number, &name);
    return number;
}

/* ---- the functions of NVTX ---- */

static void mark(const struct nvtx_attributes *event)
{
    (void)range_begin(TRACE_RANGE_MARK, NULL, event, NULL, NULL);
}

static void mark_ascii(const char *message)
{
    (void)range_begin(TRACE_RANGE_MARK, NULL, NULL, message, NULL);
}

static void mark_wide(const wchar_t *message)
{
    (void)range_begin(TRACE_RANGE_MARK, NULL, NULL, NULL, message);
}

static void mark_in_domain(const char *domain, const struct nvtx_attributes *event)
{
    (void)range_begin(TRACE_RANGE_MARK, domain, event, NULL, NULL);
}

static uint64_t start(const struct nvtx_attributes *event)
{
    return range_begin(TRACE_RANGE_START, NULL, event, NULL, NULL);
}

static uint64_t start_ascii(const char *message)
{
    return range_begin(TRACE_RANGE_START, NULL, NULL, message, NULL);
}

static uint64_t start_wide(const wchar_t *message)
{
    return range_begin(TRACE_RANGE_START, NULL, NULL, NULL, message);
}

static uint64_t start_in_domain(const char *domain, const struct nvtx_attributes *event)
{
    return range_begin(TRACE_RANGE_START, domain, event, NULL, NULL);
}

static void end(uint64_t number)
{
    range_write(TRACE_RANGE_END, NULL, number, NULL);
}

static void end_in_domain(const char *domain, uint64_t number)
{
    range_write(TRACE_RANGE_END, domain, number, NULL);
}

static int push_in_domain(const char *domain, const struct nvtx_attributes *event)
{
    (void)range_begin(TRACE_RANGE_PUSH, domain, event, NULL, NULL);
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int push(const struct nvtx_attributes *event)
{
    return push_in_domain(NULL, event);
}

static int push_ascii(const char *message)
{
    (void)range_begin(TRACE_RANGE_PUSH, NULL, NULL, message, NULL);
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int push_wide(const wchar_t *message)
{
    (void)range_begin(TRACE_RANGE_PUSH, NULL, NULL, NULL, message);
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int pop_in_domain(const char *domain)
{
    range_write(TRACE_RANGE_POP, domain, 0, NULL);
    return NVTX_NO_PUSH_POP_TRACKING;
}

static int pop(void)
{
    return pop_in_domain(NULL);
}

/* A string and a domain are the characters of their names. */
static const char *keep_ascii(const char *text)
{
    struct name name;
    name.length = 0;
    name_add(&name, text);
    return name_keep(&name);
}

static const char *keep_wide(const wchar_t *text)
{
    struct name name;
    name.length = 0;
    name_add_wide(&name, text);
    return name_keep(&name);
}

static const char *string_ascii(const char *domain, const char *text)
{
    (void)domain;
    return keep_ascii(text);
}

static const char *string_wide(const char *domain, const wchar_t *text)
{
    (void)domain;
    return keep_wide(text);
}

/* ---- injection ---- */

static const struct {
    int module;
    unsigned id; /* in the table of the module */
    nvtx_function function;
} nvtx_functions[] = {
    {NVTX_MODULE_CORE, 1, (nvtx_function)mark},
    {NVTX_MODULE_CORE, 2, (nvtx_function)mark_ascii},
    {NVTX_MODULE_CORE, 3, (nvtx_function)mark_wide},
    {NVTX_MODULE_CORE, 4, (nvtx_function)start},
    {NVTX_MODULE_CORE, 5, (nvtx_function)start_ascii},
    {NVTX_MODULE_CORE, 6, (nvtx_function)start_wide},
    {NVTX_MODULE_CORE, 7, (nvtx_function)end},
    {NVTX_MODULE_CORE, 8, (nvtx_function)push},
    {NVTX_MODULE_CORE, 9, (nvtx_function)push_ascii},
    {NVTX_MODULE_CORE, 10, (nvtx_function)push_wide},
    {NVTX_MODULE_CORE, 11, (nvtx_function)pop},
    {NVTX_MODULE_CORE2, 1, (nvtx_function)mark_in_domain},
    {NVTX_MODULE_CORE2, 2, (nvtx_function)start_in_domain},
    {NVTX_MODULE_CORE2, 3, (nvtx_function)end_in_domain},
    {NVTX_MODULE_CORE2, 4, (nvtx_function)push_in_domain},
    {NVTX_MODULE_CORE2, 5, (nvtx_function)pop_in_domain},
    {NVTX_MODULE_CORE2, 10, (nvtx_function)string_ascii},
    {NVTX_MODULE_CORE2, 11, (nvtx_function)string_wide},
    {NVTX_MODULE_CORE2, 12, (nvtx_function)keep_ascii},
    {NVTX_MODULE_CORE2, 13, (nvtx_function)keep_wide},
};

/* Returns 0 if this process records nothing: then each function of NVTX does nothing. */
CUSHIM_LAYER_EXPORT int InitializeInjectionNvtx2(nvtx_export_table export_table);

int InitializeInjectionNvtx2(nvtx_export_table export_table)
{
    const struct nvtx_callbacks *callbacks = export_table != NULL ? export_table(NVTX_TABLE_OF_CALLBACKS) : NULL;
    if (callbacks == NULL || callbacks->size < sizeof *callbacks || !record_prepare(NULL))
        return 0;
    for (size_t i = 0; i < sizeof nvtx_functions / sizeof nvtx_functions[0]; i++) {
        nvtx_function **table = NULL;
        unsigned count = 0;
        if (callbacks->find(nvtx_functions[i].module, &table, &count) != 0 && table != NULL
            && nvtx_functions[i].id < count && table[nvtx_functions[i].id] != NULL)
            *table[nvtx_functions[i].id] = nvtx_functions[i].function;
    }
    return 1;
}
