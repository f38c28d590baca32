/* SPDX-License-Identifier: MIT */
/**
 * @file
 * For programs that stay unchanged: before nv-codec-headers on the include path, this header puts cushim/ffnvcodec.h in
 * front of the original.
 */
#if defined(__GNUC__)
#    pragma GCC system_header /* allows #include_next */
#endif
#include "cushim/ffnvcodec.h"
#include_next <ffnvcodec/dynlink_loader.h>
