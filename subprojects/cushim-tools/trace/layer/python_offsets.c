/* SPDX-License-Identifier: MIT */
/*
 * Up to 3.12, the offsets are in a table: these versions do not change any more. From 3.13 on, the interpreter itself
 * publishes them at the start of _PyRuntime (struct _Py_DebugOffsets), for debuggers and profilers.
 */
#include "python_offsets.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
#define OBJECTS(ascii, compact) 8, 16, 32, 16, 32, ascii, compact, 2, 0, 0
static const struct python_offsets known[] = {
    {6,  24, -1, 32, 24, 120, -1,  96, 104,  -1, 36,  -1, OBJECTS(48, 72)},
    {7,  24, -1, 32, 24, 104, -1,  96, 104,  -1, 36,  -1, OBJECTS(48, 72)},
    {8,  24, -1, 32, 24, 104, -1, 104, 112,  -1, 40,  -1, OBJECTS(48, 72)},
    {9,  24, -1, 32, 24, 104, -1, 104, 112,  -1, 40,  -1, OBJECTS(48, 72)},
    {10, 24, -1, 32, 24,  96, -1, 104, 112,  -1, 40,  -1, OBJECTS(48, 72)},
    {11, 56,  8, 32, 48,  56, 69, 112, 128, 136, 72, 184, OBJECTS(48, 72)},
    {12, 56,  0,  0,  8,  56, 70, 112, 128, 136, 68, 192, OBJECTS(40, 56)},
};
/* clang-format on */

/* The words of _PyRuntime with which the members of its structs begin. */
static const struct published {
    unsigned char minor, thread, frame, code, object, bytes, string;
} published[] = {{13, 19, 28, 34, 44, 64, 67}, {14, 22, 31, 39, 50, 74, 77}, {15, 22, 39, 47, 58, 86, 89}};

static void offsets_read(const uint64_t *words, const struct published *row, struct python_offsets *at)
{
    const uint64_t *frame = words + row->frame, *code = words + row->code, *string = words + row->string;
    const uint64_t *bytes = words + row->bytes;
    bool is_without_lock = words[2] != 0, has_copies = is_without_lock && row->minor >= 14;
    *at = (struct python_offsets){
        .thread_frame = (short)words[row->thread + 4],
        .cframe = -1,
        .back = (short)frame[1],
        .code = (short)frame[2],
        .instruction = (short)frame[3],
        .owner = (short)frame[5],
        .file = (short)code[1],
        .name = (short)code[3],
        .lines = (short)code[4],
        .first = (short)code[5],
        .bytecode = (short)code[9],
        .type = (short)words[row->object + 1],
        .bytes_size = (short)bytes[1],
        .bytes = (short)bytes[2],
        .state = (short)string[1],
        .length = (short)string[2],
        .ascii = (short)string[3],
        .compact = (short)(string[3] + 16), /* the UTF-8 of a string that is not ASCII, and its length */
        .kind_bit = has_copies ? 8 : 2,
        .thread_code = (short)(has_copies ? frame[7] : 0),
        .thread_codes = (short)(has_copies ? code[10] : 0),
    };
}

static bool offsets_find(int minor, struct python_offsets *at)
{
    static const char cookie[8] = "xdebugpy";
    const uint64_t *words = dlsym(RTLD_DEFAULT, "_PyRuntime");
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (known[i].minor == minor) {
            *at = known[i];
            return true;
        }
    }
    for (size_t i = 0; i < sizeof published / sizeof published[0]; i++) {
        if (published[i].minor == minor && words != NULL && memcmp(words, cookie, sizeof cookie) == 0
            && words[1] >> 16 == (0x300U | (unsigned)minor)) {
            offsets_read(words, &published[i], at);
            return true;
        }
    }
    return false;
}

/* Writes the address of a symbol, or NULL. Returns whether there is one. */
static bool symbol_find(const char *name, void *out_address)
{
    void *address = dlsym(RTLD_DEFAULT, name);
    memcpy(out_address, &address, sizeof address);
    return address != NULL;
}

static size_t frame_size(const struct python_offsets *at)
{
    const short members[] = {at->code, at->back, at->instruction, at->owner, at->thread_code};
    size_t size = 0;
    for (size_t i = 0; i < sizeof members / sizeof members[0]; i++) {
        if (members[i] >= 0 && (size_t)members[i] + sizeof(void *) > size)
            size = (size_t)members[i] + sizeof(void *);
    }
    return size;
}

/* Whether the type of code objects, as any type, has the type of types: not if each object begins with more members, as
 * in some builds for debugging. */
static bool has_types(const struct python *python)
{
    const void *type_type, *type;
    if (!symbol_find("PyType_Type", &type_type))
        return false;
    memcpy(&type, (const char *)python->code_type + python->at.type, sizeof type);
    return type == type_type;
}

bool python_find(struct python *python, int *out_unknown)
{
    const char *(*version)(void);
    bool has_version = symbol_find("Py_GetVersion", &version) && strncmp(version(), "3.", 2) == 0;
    int minor = has_version ? (int)strtol(version() + 2, NULL, 10) : -1;
    bool is_known =
        minor >= 0 && sizeof(void *) == 8 && symbol_find("PyCode_Type", &python->code_type)
        && symbol_find("PyUnicode_Type", &python->string_type) && symbol_find("PyBytes_Type", &python->bytes_type)
        && symbol_find("PyGILState_GetThisThreadState", &python->of_thread)
        && symbol_find("Py_IsInitialized", &python->is_initialized) && symbol_find("PyCode_Addr2Line", &python->line)
        && offsets_find(minor, &python->at) && has_types(python) && frame_size(&python->at) <= PYTHON_FRAME_MAX;
    *out_unknown = is_known ? -1 : minor;
    if (is_known && minor > 11) /* before, the attached state is that of any thread */
        (void)symbol_find(minor == 12 ? "_PyThreadState_UncheckedGet" : "PyThreadState_GetUnchecked",
                          &python->attached);
    python->frame_size = frame_size(&python->at);
    return is_known;
}
