/* SPDX-License-Identifier: MIT */
/* cuStreamGetAttribute, cuStreamSetAttribute, cuStreamCopyAttributes. */
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static const struct {
    CUstreamAttrID id;
    const char *name;
    CUresult expected; /* of a query */
} ids[] = {
    {(CUstreamAttrID)0, "ignore", CUDA_ERROR_INVALID_VALUE},
    {(CUstreamAttrID)1, "access-policy-window", CUDA_SUCCESS},
    {(CUstreamAttrID)2, "cooperative", CUDA_ERROR_INVALID_VALUE},
    {(CUstreamAttrID)3, "synchronization-policy", CUDA_SUCCESS},
    {(CUstreamAttrID)4, "cluster-dimension", CUDA_ERROR_INVALID_VALUE},
    {(CUstreamAttrID)8, "priority", CUDA_SUCCESS},
    {(CUstreamAttrID)9, "mem-sync-domain-map", CUDA_SUCCESS},
    {(CUstreamAttrID)10, "mem-sync-domain", CUDA_SUCCESS},
    {(CUstreamAttrID)13, "device-updatable", CUDA_ERROR_INVALID_VALUE},
    {(CUstreamAttrID)16, "nvlink-util", CUDA_ERROR_INVALID_VALUE},
    {(CUstreamAttrID)99, "unknown", CUDA_ERROR_INVALID_VALUE},
};

CHECK(get, "attribute.get", .needs = {S(StreamGetAttribute_v1)})
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        memset(&value, 0x5a, sizeof value);
        expect(ids[i].name, cu->StreamGetAttribute_v1(stream, ids[i].id, &value), ids[i].expected);
    }
    require("no-context", cu->CtxSetCurrent_v1(NULL));
    expect("no-context", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value), CUDA_SUCCESS);
    expect("no-context-zero", cu->StreamGetAttribute_v1(NULL, (CUstreamAttrID)3, &value), CUDA_ERROR_INVALID_CONTEXT);
}

CHECK(get_null, "attribute.get-null", .flags = CHECK_ALONE, .needs = {S(StreamGetAttribute_v1)})
{
    observe("value", cu->StreamGetAttribute_v1(stream_new(), (CUstreamAttrID)3, NULL));
}

CHECK(set_null, "attribute.set-null", .flags = CHECK_ALONE, .needs = {S(StreamSetAttribute_v1)})
{
    observe("value", cu->StreamSetAttribute_v1(stream_new(), (CUstreamAttrID)3, NULL));
}

CHECK(get_special, "attribute.get-special", .needs = {S(StreamGetAttribute_v1)})
{
    CUlaunchAttributeValue value = {{0}};
    for (int i = 0; i < 3; i++)
        expect(specials[i].name, cu->StreamGetAttribute_v1(specials[i].stream, (CUstreamAttrID)3, &value),
               CUDA_SUCCESS);
}

CHECK(set_policy, "attribute.policy", .needs = {S(StreamSetAttribute_v1)})
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value = {{0}};
    static const char *const names[] = {"0", "auto", "spin", "yield", "blocking", "5"};
    expect("default", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value), CUDA_SUCCESS);
    expect_number("default-is", (long long)value.syncPolicy, 4294967295);
    for (int i = 0; i < 6; i++) {
        memset(&value, 0, sizeof value);
        value.syncPolicy = (CUsynchronizationPolicy)i;
        observe(names[i], cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)3, &value));
        memset(&value, 0, sizeof value);
        require("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)3, &value));
        observe_number(key_of(names[i], "is", NULL), (long long)value.syncPolicy);
    }
}

CHECK(set_window, "attribute.window", .needs = {S(StreamSetAttribute_v1)})
{
    CUstream stream = stream_new();
    CUdeviceptr memory = memory_new(4096, 0);
    CUlaunchAttributeValue value;
    memset(&value, 0x5a, sizeof value);
    expect("default", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    expect_number("default-bytes", (long long)value.accessPolicyWindow.num_bytes, 0);
    memset(&value, 0, sizeof value);
    value.accessPolicyWindow.base_ptr = (void *)(size_t)memory;
    value.accessPolicyWindow.num_bytes = 4096;
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.hitProp = CU_ACCESS_PROPERTY_PERSISTING;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_STREAMING;
    expect("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    memset(&value, 0, sizeof value);
    expect("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_SUCCESS);
    expect_true("same-base", value.accessPolicyWindow.base_ptr == (void *)(size_t)memory);
    expect_number("bytes", (long long)value.accessPolicyWindow.num_bytes, 4096);
    expect_number("hit-property", (long long)value.accessPolicyWindow.hitProp, CU_ACCESS_PROPERTY_PERSISTING);
    value.accessPolicyWindow.hitRatio = 1.5f;
    expect("ratio-above-one", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_ERROR_INVALID_VALUE);
    value.accessPolicyWindow.hitRatio = 0.5f;
    value.accessPolicyWindow.missProp = CU_ACCESS_PROPERTY_PERSISTING;
    expect("persisting-misses", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)1, &value), CUDA_ERROR_INVALID_VALUE);
}

CHECK(set_priority, "attribute.priority", .needs = {S(StreamSetAttribute_v1)})
{
    CUstream stream = stream_new();
    CUlaunchAttributeValue value = {{0}};
    int priority = 99;
    expect("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)8, &value), CUDA_SUCCESS);
    expect_number("default-is", value.priority, 0);
    value.priority = -3;
    expect("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)8, &value), CUDA_SUCCESS);
    require("priority", cu->StreamGetPriority_v1(stream, &priority));
    expect_number("priority-is", priority, -3);
    value.priority = -100;
    expect("set-outside", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)8, &value), CUDA_SUCCESS);
    require("priority", cu->StreamGetPriority_v1(stream, &priority));
    expect_number("priority-then", priority, -5);
}

/* Toolkits older than 12.0 have no member for this attribute. */
static CUlaunchAttributeValue domain_value(CUlaunchMemSyncDomain domain)
{
    CUlaunchAttributeValue value = {{0}};
    memcpy(&value, &domain, sizeof domain);
    return value;
}

CHECK(set_domain, "attribute.domain", .needs = {S(StreamSetAttribute_v1)})
{
    CUstream stream = stream_new();
    CUlaunchMemSyncDomain domain;
    CUlaunchAttributeValue value = domain_value(CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE);
    expect("set", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)10, &value), CUDA_SUCCESS);
    memset(&value, 0, sizeof value);
    expect("get", cu->StreamGetAttribute_v1(stream, (CUstreamAttrID)10, &value), CUDA_SUCCESS);
    memcpy(&domain, &value, sizeof domain);
    expect_number("is", (long long)domain, 1);
    value = domain_value((CUlaunchMemSyncDomain)7);
    expect("set-unknown", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)10, &value), CUDA_ERROR_INVALID_VALUE);
    memset(&value, 0, sizeof value);
    value.cooperative = 1;
    expect("set-cooperative", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)2, &value), CUDA_ERROR_INVALID_VALUE);
    expect("set-unknown-id", cu->StreamSetAttribute_v1(stream, (CUstreamAttrID)99, &value), CUDA_ERROR_INVALID_VALUE);
}

CHECK(copy, "attribute.copy", .needs = {S(StreamCopyAttributes_v1)})
{
    CUstream from = stream_new();
    CUstream to = stream_new();
    CUlaunchAttributeValue value = {{0}};
    value.syncPolicy = CU_SYNC_POLICY_YIELD;
    require("set", cu->StreamSetAttribute_v1(from, (CUstreamAttrID)3, &value));
    expect("code", cu->StreamCopyAttributes_v1(to, from), CUDA_SUCCESS);
    memset(&value, 0, sizeof value);
    require("get", cu->StreamGetAttribute_v1(to, (CUstreamAttrID)3, &value));
    expect_number("copied", (long long)value.syncPolicy, CU_SYNC_POLICY_YIELD);
    expect("to-itself", cu->StreamCopyAttributes_v1(to, to), CUDA_SUCCESS);
    expect("to-zero", cu->StreamCopyAttributes_v1(NULL, from), CUDA_SUCCESS);
    expect("from-zero", cu->StreamCopyAttributes_v1(to, NULL), CUDA_SUCCESS);
    (void)context_second();
    expect("from-other-context", cu->StreamCopyAttributes_v1(to, stream_new()), CUDA_ERROR_INVALID_VALUE);
}
