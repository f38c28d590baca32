/* SPDX-License-Identifier: MIT */
/* The companions of the driver: each a name and a library, for lists. */
#ifndef CUSHIM_LOADER_COMPANION_NAMES_H
#define CUSHIM_LOADER_COMPANION_NAMES_H

#if defined(_WIN64)
#    define COMPANION_NAME(posix, windows32, windows64) windows64
#elif defined(_WIN32)
#    define COMPANION_NAME(posix, windows32, windows64) windows32
#else
#    define COMPANION_NAME(posix, windows32, windows64) posix
#endif
#define COMPANION_NVCUVID "NVCUVID", COMPANION_NAME("libnvcuvid.so.1", "nvcuvid.dll", "nvcuvid.dll")
#define COMPANION_NVENC "NVENC", COMPANION_NAME("libnvidia-encode.so.1", "nvEncodeAPI.dll", "nvEncodeAPI64.dll")
#define COMPANION_NVML "NVML", COMPANION_NAME("libnvidia-ml.so.1", "nvml.dll", "nvml.dll")

#endif
