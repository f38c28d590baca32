/* SPDX-License-Identifier: MIT */
/* The properties of a stream: property.c. */
#ifndef CUSHIM_PROPERTY_H
#define CUSHIM_PROPERTY_H

#include "stream_object.h"

/* Remembers the properties of a stream that was just created, so that no later call needs to ask the driver. */
void cush_stream_remember(struct cushim_stream *stream, unsigned flags);

/*
 * Returns whether the stream is in a capture, active or invalidated. If the driver does not answer, it returns false
 * and records no error.
 */
bool cush_stream_is_capturing(CUstream handle);

/* Writes the contexts of a stream that is not special like cushim_stream_driver_context(), but records no error. */
CUresult cush_stream_find_context(struct cushim_stream *stream, CUcontext *out_context, CUgreenCtx *out_green);

#endif
