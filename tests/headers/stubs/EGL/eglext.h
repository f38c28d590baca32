/* SPDX-License-Identifier: MIT */
/* As much of EGL's extensions as <cudaEGL.h> wants. */
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef void *EGLSyncKHR;
