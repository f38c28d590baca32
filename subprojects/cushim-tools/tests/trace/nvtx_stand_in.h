/* SPDX-License-Identifier: MIT */
/* The part of NVTX 3 that ranges.c uses, for machines without its header. It loads a tool as that does. */
#ifndef CUSHIM_TESTS_NVTX_STAND_IN_H
#define CUSHIM_TESTS_NVTX_STAND_IN_H

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

enum { NVTX_VERSION = 3, NVTX_MESSAGE_TYPE_ASCII = 1, NVTX_MESSAGE_TYPE_UNICODE, NVTX_MESSAGE_TYPE_REGISTERED };
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef struct nvtxDomainRegistration *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration *nvtxStringHandle_t;
typedef uint64_t nvtxRangeId_t;
typedef struct {
    uint16_t version, size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType, reserved0;
    uint64_t payload;
    int32_t messageType;
    union {
        const char *ascii;
        const wchar_t *unicode;
        nvtxStringHandle_t registered;
    } message;
} nvtxEventAttributes_t;

/* module, number, name, result, parameters, arguments */
#define NVTX_FUNCTIONS(X)                                                                                              \
    X(1, 6, RangeStartW, nvtxRangeId_t, (const wchar_t *message), (message))                                           \
    X(1, 5, RangeStartA, nvtxRangeId_t, (const char *message), (message))                                              \
    X(1, 8, RangePushEx, int, (const nvtxEventAttributes_t *event), (event))                                           \
    X(1, 9, RangePushA, int, (const char *message), (message))                                                         \
    X(1, 11, RangePop, int, (void), ())                                                                                \
    X(5, 4, DomainRangePushEx, int, (nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event), (domain, event))  \
    X(5, 5, DomainRangePop, int, (nvtxDomainHandle_t domain), (domain))                                                \
    X(5, 10, DomainRegisterStringA, nvtxStringHandle_t, (nvtxDomainHandle_t domain, const char *text), (domain, text)) \
    X(5, 12, DomainCreateA, nvtxDomainHandle_t, (const char *name), (name))

#define NVTX_VOID_FUNCTIONS(X)                                                                                         \
    X(1, 2, MarkA, void, (const char *message), (message))                                                             \
    X(1, 7, RangeEnd, void, (nvtxRangeId_t id), (id))

typedef void (*nvtx_any)(void);
enum { NVTX_IDS = 16 };
static nvtx_any nvtx_found[6][NVTX_IDS], *nvtx_table[6][NVTX_IDS];

static inline int nvtx_module(int module, nvtx_any ***out_table, unsigned *out_size)
{
    *out_table = nvtx_table[module];
    *out_size = NVTX_IDS;
    return 1;
}

static inline const void *nvtx_export(uint32_t id)
{
    static const struct {
        size_t size;
        int (*module)(int, nvtx_any ***, unsigned *);
    } callbacks = {sizeof callbacks, nvtx_module};
    return id == 1 ? &callbacks : NULL;
}

static inline void nvtx_load(void)
{
    static int is_loaded;
    const char *path = getenv("NVTX_INJECTION64_PATH");
    int (*begin)(const void *(*)(uint32_t)) = NULL;
    if (is_loaded++ != 0)
        return;
#define X(module, id, name, result, parameters, arguments) nvtx_table[module][id] = &nvtx_found[module][id];
    NVTX_FUNCTIONS(X)
    NVTX_VOID_FUNCTIONS(X)
#undef X
    void *tool = path != NULL ? dlopen(path, RTLD_LAZY) : NULL;
    void *found = tool != NULL ? dlsym(tool, "InitializeInjectionNvtx2") : NULL;
    memcpy(&begin, &found, sizeof begin);
    if (begin == NULL || begin(nvtx_export) == 0)
        memset(nvtx_found, 0, sizeof nvtx_found);
}

#define X(module, id, name, result, parameters, arguments)                                                             \
    static inline result nvtx##name parameters                                                                         \
    {                                                                                                                  \
        nvtx_load();                                                                                                   \
        result(*function) parameters;                                                                                  \
        memcpy(&function, &nvtx_found[module][id], sizeof function);                                                   \
        return function != NULL ? function arguments : (result)0;                                                      \
    }
NVTX_FUNCTIONS(X)
#undef X
#define X(module, id, name, result, parameters, arguments)                                                             \
    static inline result nvtx##name parameters                                                                         \
    {                                                                                                                  \
        nvtx_load();                                                                                                   \
        result(*function) parameters;                                                                                  \
        memcpy(&function, &nvtx_found[module][id], sizeof function);                                                   \
        if (function != NULL)                                                                                          \
            function arguments;                                                                                        \
    }
NVTX_VOID_FUNCTIONS(X)
#undef X

#endif
