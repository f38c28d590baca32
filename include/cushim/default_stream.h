/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The two default streams of CUDA.
 */
#ifndef CUSHIM_DEFAULT_STREAM_H
#define CUSHIM_DEFAULT_STREAM_H

/**
 * Which default stream a table uses for stream 0. CUDA has two since 7.0, so there are two tables. Each is complete,
 * and components of one process can use different ones.
 */
enum cushim_default_stream {
    CUSHIM_DEFAULT_STREAM_LEGACY,
    CUSHIM_DEFAULT_STREAM_PER_THREAD,
    CUSHIM_DEFAULT_STREAM_COUNT
};

/** The kind for which this translation unit is compiled, as in <cuda.h>. */
#if defined(CUDA_API_PER_THREAD_DEFAULT_STREAM)
#    define CUSHIM_DEFAULT_STREAM_AS_COMPILED CUSHIM_DEFAULT_STREAM_PER_THREAD
#else
#    define CUSHIM_DEFAULT_STREAM_AS_COMPILED CUSHIM_DEFAULT_STREAM_LEGACY
#endif

#endif
