/* SPDX-License-Identifier: MIT */
/* The companions of the driver: each a name and a library, in the order of enum cushim_companion_id. */
#ifndef CUSHIM_LOADER_COMPANION_NAMES_H
#define CUSHIM_LOADER_COMPANION_NAMES_H

#if defined(_WIN64)
#    define COMPANION_NAME(posix, windows32, windows64) windows64
#elif defined(_WIN32)
#    define COMPANION_NAME(posix, windows32, windows64) windows32
#else
#    define COMPANION_NAME(posix, windows32, windows64) posix
#endif
#define COMPANION_LIST(use)                                                                                            \
    use(NVCUVID, COMPANION_NAME("libnvcuvid.so.1", "nvcuvid.dll", "nvcuvid.dll"))                                      \
        use(NVENC, COMPANION_NAME("libnvidia-encode.so.1", "nvEncodeAPI.dll", "nvEncodeAPI64.dll"))                    \
            use(NVML, COMPANION_NAME("libnvidia-ml.so.1", "nvml.dll", "nvml.dll"))

#endif
