/* SPDX-License-Identifier: MIT */
/* The part of EGL's extensions that <cudaEGL.h> needs. */
typedef void *EGLImageKHR;
typedef void *EGLStreamKHR;
typedef void *EGLSyncKHR;
