/* SPDX-License-Identifier: MIT */
/* As much of EGL as <cudaEGL.h> wants, for machines that have no <EGL/egl.h>. */
#include <stdint.h>
typedef int32_t EGLint;
