/* SPDX-License-Identifier: MIT */
/*
 * companion.c - a fake NVCUVID, NVENC or NVML. Like the real ones, each has its soname, and NVENC needs NVCUVID.
 * COMPANION_NVCUVID or COMPANION_NVENC is defined, or it is NVML.
 */
#if !defined(_GNU_SOURCE)
#    define _GNU_SOURCE /* RTLD_DEFAULT */
#endif
#include "constructor.h"
#include "export.h"

EXPORT int cuvidCreateDecoder(void *out_decoder, void *info);
EXPORT int NvEncodeAPICreateInstance(void *functions);
EXPORT int NvEncodeAPIGetMaxSupportedVersion(unsigned *version);
EXPORT int nvmlInit_v2(void);

#if defined(COMPANION_NVCUVID)
int cuvidCreateDecoder(void *out_decoder, void *info)
{
    (void)out_decoder;
    (void)info;
    return 0;
}
#elif defined(COMPANION_NVENC)
int NvEncodeAPICreateInstance(void *functions)
{
    return cuvidCreateDecoder(functions, functions);
}

int NvEncodeAPIGetMaxSupportedVersion(unsigned *version)
{
    *version = 12 << 4 | 2;
    return 0;
}
#else
int nvmlInit_v2(void)
{
    return 0;
}
#endif
