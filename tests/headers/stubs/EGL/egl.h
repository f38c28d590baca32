/* SPDX-License-Identifier: MIT */
/* The part of EGL that <cudaEGL.h> needs, for machines without <EGL/egl.h>. */
#include <stdint.h>
typedef int32_t EGLint;
