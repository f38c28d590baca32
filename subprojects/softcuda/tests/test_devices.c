/* SPDX-License-Identifier: MIT */
/* Devices: the attributes that programs use to choose one and to lay out their launches; and the use of a context by
 * several parts of a program. */
#include "support.h"

#include <stdio.h>

static int attribute(CUdevice_attribute which)
{
    int value = -1;
    assert_cu(0, cu->DeviceGetAttribute_v1(&value, which, 0));
    return value;
}

/* Programs refuse a device or divide by zero if one of these is 0. */
TEST(test_attribute_when_of_a_multiprocessor_then_that_of_a_gpu)
{
    assert_true(attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) > 0);
    assert_true(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE) > 0);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR), 65536);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR), 32);
    int block = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
    int optin = attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    int reserved = attribute(CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK);
    assert_int_equal(block, 48 << 10);
    assert_true(optin >= block);
    assert_true(attribute(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR) >= optin + reserved);
}

TEST(test_attribute_when_of_the_bus_then_agrees_with_the_bus_id)
{
    char text[32];
    unsigned bus;
    assert_cu(0, cu->DeviceGetPCIBusId_v1(text, sizeof text, 0));
    assert_int_equal(sscanf(text, "%*x:%x:", &bus), 1);
    assert_int_equal(attribute(CU_DEVICE_ATTRIBUTE_PCI_BUS_ID), bus);
}

TEST(test_attribute_when_the_driver_knows_an_h200_then_that_of_one)
{
    static const struct {
        CUdevice_attribute which;
        int value;
    } expected[] = {
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 9},
        {CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 0},
        {CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 132},
        {CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE, 62914560},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR, 233472},
        {CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN, 232448},
        {CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK, 1024},
    };
    if (!support_has(11080))
        skip();
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(attribute(expected[i].which), expected[i].value);
}

TEST(test_context_when_attached_then_the_last_detach_destroys_it)
{
    CUcontext made, got = NULL, now = NULL;
    assert_cu(0, cu->CtxCreate_v2(&made, 0, 0));
    assert_cu(1, cu->CtxAttach_v1(&got, 1));
    assert_cu(1, cu->CtxAttach_v1(NULL, 0));
    assert_cu(0, cu->CtxAttach_v1(&got, 0));
    assert_ptr_equal(got, made);
    assert_cu(201, cu->CtxDetach_v1(context)); /* it is not current */
    assert_cu(201, cu->CtxDetach_v1(NULL));
    assert_cu(0, cu->CtxDetach_v1(made));
    assert_cu(0, cu->CtxGetCurrent_v1(&now));
    assert_ptr_equal(now, made);
    assert_cu(0, cu->CtxDetach_v1(made));
    assert_cu(0, cu->CtxGetCurrent_v1(&now));
    assert_ptr_equal(now, context);
    assert_cu(201, cu->CtxSetCurrent_v1(made));
    assert_cu(0, cu->CtxSetCurrent_v1(NULL));
    assert_cu(201, cu->CtxAttach_v1(&got, 0));
}
