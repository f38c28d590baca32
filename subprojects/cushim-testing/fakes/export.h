/* SPDX-License-Identifier: MIT */
/* EXPORT shows a function to the programs that load the library. */
#ifndef FAKE_EXPORT_H
#define FAKE_EXPORT_H

#if defined(_WIN32)
#    define EXPORT __declspec(dllexport)
#else
#    define EXPORT __attribute__((visibility("default")))
#endif

#endif
