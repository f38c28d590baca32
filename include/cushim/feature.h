/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Features: what a program can do with a device on this machine, as opposed to which functions the driver has. A driver
 * has cuMemPoolCreate for every device, but some devices have no memory pools. loader.h has the general rules.
 *
 * features.h is the list of the features and of what each one needs: slots, device attributes, platforms.
 *
 * @code
 * #include <cushim/cushim.h>
 * #include <stdio.h>
 *
 * int can_use_pools(CUdevice device) // after cuInit; a context is not needed
 * {
 *     struct cushim_feature_info info;
 *     CUresult result = cushim_feature_get_info(CUSHIM_FEATURE_MEMORY_POOLS, device, &info);
 *     if (result == CUDA_SUCCESS && info.is_usable)
 *         return 1;
 *     // "memory-pools: the device reports no support (CU_DEVICE_ATTRIBUTE_... is 0)."
 *     puts(result == CUDA_SUCCESS ? info.message : cushim_error_last()->message);
 *     return 0;
 * }
 * @endcode
 */
#ifndef CUSHIM_FEATURE_H
#define CUSHIM_FEATURE_H

#include <stdbool.h>
#include <stddef.h>

#include "cushim/attributes.h"
#include "cushim/abi/cuda_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The features of features.h: CUSHIM_FEATURE_MEMORY_POOLS. */
enum cushim_feature {
#define CUSHIM_FEATURE(id, name, description, source) CUSHIM_FEATURE_##id,
#include "cushim/features.h"
    CUSHIM_FEATURE_COUNT
};

/** Pass this instead of a device: only the needs that do not depend on the device are compared. */
#define CUSHIM_DRIVER_ALONE (-1)

/** Why a feature cannot be used. cushim_obstacle_name() returns its name. */
enum cushim_obstacle {
    CUSHIM_OBSTACLE_NONE,      /**< "none": the feature can be used. */
    CUSHIM_OBSTACLE_NO_DRIVER, /**< "no-driver": no driver is loaded. */
    CUSHIM_OBSTACLE_VERSION,   /**< "version": the driver, or the version limit, is too old. */
    CUSHIM_OBSTACLE_FUNCTION,  /**< "function": the driver is new enough, but lacks a function, or it is hidden. */
    CUSHIM_OBSTACLE_PLATFORM,  /**< "platform": the feature does not work on this operating system. */
    CUSHIM_OBSTACLE_NOT_INITIALIZED, /**< "not-initialised": the device can be asked only after cuInit. */
    CUSHIM_OBSTACLE_DEVICE,          /**< "device": the device does not support the feature, or is not in that state. */
    CUSHIM_OBSTACLE_UNKNOWN,         /**< "unknown": the driver does not report it. */
    CUSHIM_OBSTACLE_COUNT
};

/** Properties: values that other calls than cuDeviceGetAttribute return. */
enum cushim_feature_property {
    CUSHIM_PROPERTY_GRANULARITY = 1000, /**< Sizes and addresses of virtual memory are multiples of it, in bytes. */
    CUSHIM_PROPERTY_RECOMMENDED_GRANULARITY, /**< The granularity that performs best, in bytes. */
    CUSHIM_PROPERTY_PEER_COUNT,              /**< The number of other devices whose memory the device can access. */
    /** The newest PTX version that the driver compiles, 10 * major + minor; for a driver newer than this release of
     * cushim, the newest one that this release knows. */
    CUSHIM_PROPERTY_PTX_VERSION,
    CUSHIM_PROPERTY_LOADING_MODE,  /**< A CUmoduleLoadingMode: 1 for eager loading, 2 for lazy loading. */
    CUSHIM_PROPERTY_GPU_IS_PARTED, /**< 1: the device is a part of a GPU. */
    CUSHIM_PROPERTY_CONFIDENTIAL   /**< Confidential computing, which no call of the driver reports. */
};

/** A value that belongs to a feature. */
struct cushim_feature_value {
    int id;            /**< A CUdevice_attribute, or an enum cushim_feature_property. */
    const char *name;  /**< Its name without CU_DEVICE_ATTRIBUTE_ or CUSHIM_PROPERTY_: "MULTIPROCESSOR_COUNT". */
    long long value;   /**< The value. */
    void *reserved[1]; /**< Zero. */
};

/** A feature on a device. */
struct cushim_feature_info {
    const char *name;              /**< The name in features.h: "memory-pools". */
    bool is_usable;                /**< The feature can be used: `obstacle` is CUSHIM_OBSTACLE_NONE. */
    enum cushim_obstacle obstacle; /**< The first obstacle, in the order of the rows of features.h. */
    int since;                     /**< The CUDA version that the feature needs, 11020; 0 if it needs no function. */
    char message[256];             /**< A sentence about the obstacle that begins with the name; "" without one. */
    size_t value_count;            /**< The number of values that the driver returned: it may not return all. */
    /** The values of the rows DEVICE and PROPERTY of features.h, in that order. Find a value by its id. */
    struct cushim_feature_value values[8];
    void *reserved[4]; /**< Zero. */
};

/**
 * Compares the needs of a feature with the driver and with a device. Version limit, hidden functions and layers apply.
 * Loads the driver. Needs cuInit for a device, but no context; does no work on the device and allocates nothing.
 *
 * @param feature   The feature.
 * @param device    The device, from cuDeviceGet, or ::CUSHIM_DRIVER_ALONE, which also works before cuInit.
 * @param out_info  Receives the result. Its strings stay valid for the life of the process.
 * @retval CUDA_SUCCESS              *out_info reports whether the feature can be used, also without a driver.
 * @retval CUDA_ERROR_INVALID_DEVICE The device does not exist.
 * @retval CUDA_ERROR_INVALID_VALUE  feature is not a feature, or out_info is NULL.
 */
CUSHIM_API CUresult cushim_feature_get_info(enum cushim_feature feature, CUdevice device,
                                            struct cushim_feature_info *out_info);

/**
 * Compares all features, as cushim_feature_get_info() does for one.
 *
 * @param device     The device, or ::CUSHIM_DRIVER_ALONE.
 * @param count      The size of the array: CUSHIM_FEATURE_COUNT.
 * @param out_infos  Receives the result of each feature at the index of the feature. A feature that the library does
 *                   not know gets zeros: its name is NULL.
 * @retval CUDA_ERROR_INVALID_DEVICE The device does not exist.
 * @retval CUDA_ERROR_INVALID_VALUE  out_infos is NULL.
 */
CUSHIM_API CUresult cushim_feature_get_all(CUdevice device, size_t count, struct cushim_feature_info *out_infos);

/**
 * Finds a feature by its name, such as "memory-pools". Never loads.
 *
 * @retval CUDA_ERROR_NOT_FOUND      No feature has that name.
 * @retval CUDA_ERROR_INVALID_VALUE  An argument is NULL.
 */
CUSHIM_API CUresult cushim_feature_find(const char *name, enum cushim_feature *out_feature);

/** Returns the name of an obstacle, such as "version", never NULL; for another number, "unknown". */
CUSHIM_API const char *cushim_obstacle_name(enum cushim_obstacle obstacle);

#ifdef __cplusplus
}
#endif

#endif
