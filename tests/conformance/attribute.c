/* SPDX-License-Identifier: MIT */
/* cuStreamGetAttribute, cuStreamSetAttribute, cuStreamCopyAttributes. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static const struct {
    CUstreamAttrID id;
    const char *name;
} ids[] = {
    {(CUstreamAttrID)0, "ignore"},
    {(CUstreamAttrID)1, "access-policy-window"},
    {(CUstreamAttrID)2, "cooperative"},
    {(CUstreamAttrID)3, "synchronization-policy"},
    {(CUstreamAttrID)4, "cluster-dimension"},
    {(CUstreamAttrID)8, "priority"},
    {(CUstreamAttrID)9, "mem-sync-domain-map"},
    {(CUstreamAttrID)10, "mem-sync-domain"},
    {(CUstreamAttrID)13, "device-updatable"},
    {(CUstreamAttrID)16, "nvlink-util"},
    {(CUstreamAttrID)99, "unknown"},
};

static void get(void)
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        memset(&value, 0x5a, sizeof value);
        saw(ids[i].name, cu->StreamGetAttribute_v1(stream, ids[i].id, &value));
    }
    need("no-context", cu->CtxSetCurrent_v1(NULL));
    saw("no-context", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value));
    saw("no-context-zero", cu->StreamGetAttribute_v1(NULL, (CUstreamAttrID)3, &value));
    stream_end(stream);
}

static void get_null(void)
{
    CUstream stream = stream_new();
    saw("value", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, NULL));
    stream_end(stream);
}

static void set_null(void)
{
    CUstream stream = stream_new();
    saw("value", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)3, NULL));
    stream_end(stream);
}

static void get_special(void)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    saw("zero", cu->StreamGetAttribute_v1(NULL, (CUstreamAttrID)3, &value));
    saw("legacy", cu->StreamGetAttribute_v1(CU_STREAM_LEGACY, (CUstreamAttrID)3, &value));
    saw("per-thread", cu->StreamGetAttribute_v1(CU_STREAM_PER_THREAD, (CUstreamAttrID)3, &value));
}

static void set_policy(void)
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value;
    static const char *const names[] = {"0", "auto", "spin", "yield", "blocking", "5"};
    memset(&value, 0, sizeof value);
    rule("default", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value), CUDA_SUCCESS);
    saw_number("default-is", (long long)value.syncPolicy);
    for (int i = 0; i < 6; i++) {
        memset(&value, 0, sizeof value);
        value.syncPolicy = (CUsynchronizationPolicy)i;
        saw(names[i], cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)3, &value));
        memset(&value, 0, sizeof value);
        need("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value));
        saw_number(key_of(names[i], "is", NULL), (long long)value.syncPolicy);
    }
    stream_end(stream);
}

static void set_window(void)
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(4096, 0);
    CUlaunchAttributeValue value;
    memset(&value, 0x5a, sizeof value);
    rule("default", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    saw_number("default-bytes", (long long)value.accessPolicyWindow.num_bytes);
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.base_ptr = (void *)(size_t)memory;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
    rule("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    memset(&value, 0, sizeof value);
    rule("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    rule_fact("same-base", value.accessPolicyWindow.base_ptr == (void *)(size_t)memory);
    rule_number("bytes", (long long)value.accessPolicyWindow.num_bytes, 4096);
    rule_number("hit-property", (long long)value.accessPolicyWindow.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
    value.accessPolicyWindow.hitRatio = 1.5f;
    saw("ratio-above-one", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value));
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
    saw("persisting-misses", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value));
    stream_end(stream);
    need("free", cu->MemFree_v2(memory));
}

static void set_priority(void)
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value;
    int priority = 99;
    memset(&value, 0, sizeof value);
    saw("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)8, &value));
    saw_number("default-is", value.priority);
    value.priority = -3;
    saw("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)8, &value));
    need("priority", cu->StreamGetPriority_v1(stream, &priority));
    saw_number("priority-is", priority);
    value.priority = -100;
    saw("set-outside", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)8, &value));
    need("priority", cu->StreamGetPriority_v1(stream, &priority));
    saw_number("priority-then", priority);
    stream_end(stream);
}

/* Toolkits older than 12.0 have no member for this attribute. */
static CUlaunchAttributeValue domain_value(CUlaunchMemSyncDomain domain)
{
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    memcpy(&value, &domain, sizeof domain);
    return value;
}

static void set_domain(void)
{
    CUstream stream = stream_new();
    CUlaunchMemSyncDomain domain;
    CUlaunchAttributeValue value = domain_value(CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    saw("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)10, &value));
    memset(&value, 0, sizeof value);
    saw("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)10, &value));
    memcpy(&domain, &value, sizeof domain);
    saw_number("is", (long long)domain);
    value = domain_value((CUlaunchMemSyncDomain)7);
    saw("set-unknown", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)10, &value));
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    saw("set-cooperative", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)2, &value));
    saw("set-unknown-id", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)99, &value));
    stream_end(stream);
}

static void copy(void)
{
    CUstream from = stream_new();
    CUstream to = stream_new();
    CUcontext second = NULL;
    CUcontext popped = NULL;
    CUlaunchAttributeValue value;
    memset(&value, 0, sizeof value);
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    need("set", cu->StreamSetAttribute_v1(from, (CUstreamAttrID)3, &value));
    rule("code", cu->StreamCopyAttributes_v1(to, from), CUDA_SUCCESS);
    memset(&value, 0, sizeof value);
    need("get", cu->StreamGetAttribute_v1(to, (CUstreamAttrID)3, &value));
    rule_number("copied", (long long)value.syncPolicy, CU_SYNC_POLICY_YIELD);
    saw("to-itself", cu->StreamCopyAttributes_v1(to, to));
    saw("to-zero", cu->StreamCopyAttributes_v1(NULL, from));
    saw("from-zero", cu->StreamCopyAttributes_v1(to, NULL));
    if (need("context", cu->CtxCreate_v2(&second, 0, the_device))) {
        CUstream elsewhere = stream_new();
        saw("from-other-context", cu->StreamCopyAttributes_v1(to, elsewhere));
        stream_end(elsewhere);
        need("pop", cu->CtxPopCurrent_v2(&popped));
        need("context-destroy", cu->CtxDestroy_v2(second));
    }
    stream_end(from);
    stream_end(to);
}

static const struct check checks[] = {
    {"attribute.get", get, 0, {S(StreamGetAttribute_v1)}},
    {"attribute.get-null", get_null, CHECK_ALONE, {S(StreamGetAttribute_v1)}},
    {"attribute.set-null", set_null, CHECK_ALONE, {S(StreamSetAttribute_v1)}},
    {"attribute.get-special", get_special, 0, {S(StreamGetAttribute_v1)}},
    {"attribute.policy", set_policy, 0, {S(StreamSetAttribute_v1)}},
    {"attribute.window", set_window, 0, {S(StreamSetAttribute_v1)}},
    {"attribute.priority", set_priority, 0, {S(StreamSetAttribute_v1)}},
    {"attribute.domain", set_domain, 0, {S(StreamSetAttribute_v1)}},
    {"attribute.copy", copy, 0, {S(StreamCopyAttributes_v1)}},
    {NULL, NULL, 0, {0}},
};

const struct subject subject_attribute = {"attribute", checks};
