/* SPDX-License-Identifier: MIT */
#include "polyfills.h"

#include <limits.h>

enum { MAX_VIA = 3 };

struct rule {
    cushim_fn functions[CUSHIM_DEFAULT_STREAM_COUNT];
    unsigned slot : 12;
    unsigned before : 18; /* only for drivers older than this CUDA version, by what they show; 0: for any */
    unsigned via_count : 2;
    enum cushim_slot via[MAX_VIA];
};

#define S(slot) CUSHIM_SLOT_##slot
/* clang-format off */
#define RULE_OF(version, slot, legacy, per_thread, count, ...)                                                         \
    {{(cushim_fn)(legacy), (cushim_fn)(per_thread)}, CUSHIM_SLOT_##slot, version, count, {__VA_ARGS__}}
/* For a slot that is the same in both tables. The wrong form does not compile. */
#define RULE(slot, count, ...)                                                                                         \
    RULE_OF(0, slot, cush_polyfill_shared_##slot, cush_polyfill_shared_##slot, count, __VA_ARGS__)
/* For a slot with a stream. */
#define RULE_BY_KIND(slot, count, ...) RULE_BEFORE(0, slot, count, __VA_ARGS__)
#define RULE_BEFORE(version, slot, count, ...)                                                                         \
    RULE_OF(version, slot, cush_polyfill_legacy_##slot, cush_polyfill_per_thread_##slot, count, __VA_ARGS__)
/* clang-format on */

/* In order: a polyfill may call an earlier one. Of a slot's rules, the first that can be followed counts. */
static const struct rule polyfill_rules[] = {
    RULE_BEFORE(10000, LaunchHostFunc_v1, 1, S(StreamAddCallback_v1)),
    RULE_BY_KIND(LaunchHostFunc_v1, 2, S(StreamAddCallback_v1), S(StreamIsCapturing_v1)),
    RULE_BY_KIND(LaunchHostFunc_v2, 1, S(LaunchHostFunc_v1)),
    RULE_BY_KIND(EventRecordWithFlags_v1, 1, S(EventRecord_v1)),
    RULE(EventElapsedTime_v2, 1, S(EventElapsedTime_v1)),

    RULE_BEFORE(10000, StreamIsCapturing_v1, 1, S(StreamGetPriority_v1)),
    RULE_BY_KIND(StreamBeginCapture_v2, 1, S(StreamBeginCapture_v1)),
    RULE_BY_KIND(StreamGetCaptureInfo_v1, 1, S(StreamIsCapturing_v1)),
    RULE_BY_KIND(StreamGetCaptureInfo_v2, 1, S(StreamGetCaptureInfo_v1)),
    RULE_BY_KIND(StreamGetCaptureInfo_v3, 1, S(StreamGetCaptureInfo_v2)),
    RULE_BY_KIND(StreamUpdateCaptureDependencies_v2, 1, S(StreamUpdateCaptureDependencies_v1)),

    RULE(CtxGetDevice_v2, 3, S(CtxGetDevice_v1), S(CtxPushCurrent_v2), S(CtxPopCurrent_v2)),
    RULE(CtxSynchronize_v2, 3, S(CtxSynchronize_v1), S(CtxPushCurrent_v2), S(CtxPopCurrent_v2)),
    RULE(CtxCreate_v3, 1, S(CtxCreate_v2)),
    RULE(CtxCreate_v4, 1, S(CtxCreate_v3)),
    RULE_BY_KIND(StreamGetDevice_v1, 2, S(StreamGetCtx_v1), S(CtxGetDevice_v2)),
    RULE_BY_KIND(StreamGetCtx_v2, 2, S(StreamGetCtx_v1), S(StreamGetGreenCtx_v1)),
    RULE_BEFORE(12040, StreamGetCtx_v2, 1, S(StreamGetCtx_v1)),
    RULE(DevicePrimaryCtxRelease_v2, 1, S(DevicePrimaryCtxRelease_v1)),
    RULE(DevicePrimaryCtxSetFlags_v2, 1, S(DevicePrimaryCtxSetFlags_v1)),

    RULE(GraphInstantiateWithFlags_v1, 1, S(GraphInstantiate_v2)),
    RULE(GraphInstantiateWithFlags_v1, 1, S(GraphInstantiate_v1)),
    RULE(GraphAddDependencies_v2, 1, S(GraphAddDependencies_v1)),
    RULE(GraphRemoveDependencies_v2, 1, S(GraphRemoveDependencies_v1)),
    RULE(GraphGetEdges_v2, 1, S(GraphGetEdges_v1)),
    RULE(GraphNodeGetDependencies_v2, 1, S(GraphNodeGetDependencies_v1)),
    RULE(GraphNodeGetDependentNodes_v2, 1, S(GraphNodeGetDependentNodes_v1)),

    RULE(FuncGetParamCount_v1, 2, S(FuncGetParamInfo_v1), S(FuncGetName_v1)),
    RULE(KernelGetParamCount_v1, 2, S(KernelGetParamInfo_v1), S(KernelGetName_v1)),

    {.slot = CUSHIM_SLOT_COUNT}, /* the end: a subset may have no polyfill (amalgamate.py --slots) */
};

_Static_assert(sizeof polyfill_rules / sizeof polyfill_rules[0] <= UCHAR_MAX,
               "a slot's origin names its rule in a byte");

static bool rule_applies(const struct rule *rule, const struct slot_origin *origins)
{
    if (rule->before != 0 && cush_loaded_driver.version >= (int)rule->before)
        return false;
    for (size_t i = 0; i < rule->via_count; i++) {
        if (origins[rule->via[i]].state == CUSHIM_STATE_MISSING)
            return false;
    }
    return origins[rule->slot].state == CUSHIM_STATE_MISSING;
}

CUSHIM_COLD void cush_polyfills_install(enum cushim_default_stream kind)
{
    struct slot_origin *origins = cush_driver_origins[kind];
    for (const struct rule *rule = polyfill_rules; rule->slot != CUSHIM_SLOT_COUNT; rule++) {
        if (!rule_applies(rule, origins))
            continue;
        cush_driver_tables[kind].slots[rule->slot] = rule->functions[kind];
        origins[rule->slot] = (struct slot_origin){CUSHIM_STATE_POLYFILL, (unsigned char)(rule - polyfill_rules)};
    }
}

CUSHIM_COLD int cush_polyfills_since(enum cushim_slot slot)
{
    int since = cush_symbols_entry(cush_symbols_index(slot)).since;
    for (const struct rule *rule = polyfill_rules; rule->slot != CUSHIM_SLOT_COUNT; rule++) {
        int needed = rule->slot == (unsigned)slot ? OLDEST_VERSION : INT_MAX;
        for (size_t i = 0; i < rule->via_count && needed < since; i++) {
            int via = cush_polyfills_since(rule->via[i]); /* an earlier rule: this ends */
            needed = via > needed ? via : needed;
        }
        if (needed < since && (rule->before == 0 || needed < (int)rule->before))
            since = needed;
    }
    return since;
}

const enum cushim_slot *cush_polyfills_via(unsigned rule, size_t *out_count)
{
    *out_count = polyfill_rules[rule].via_count;
    return polyfill_rules[rule].via;
}
