/* SPDX-License-Identifier: MIT */
/* The part of OpenGL that <cudaGL.h> needs, for machines without <GL/gl.h>. */
typedef unsigned int GLuint;
typedef unsigned int GLenum;
