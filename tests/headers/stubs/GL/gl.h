/* SPDX-License-Identifier: MIT */
/* As much of OpenGL as <cudaGL.h> wants, for machines that have no <GL/gl.h>. */
typedef unsigned int GLuint;
typedef unsigned int GLenum;
