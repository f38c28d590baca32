/* SPDX-License-Identifier: MIT */
/*
 * reasons.h - why there is no usable driver, as one row per reason.
 *
 *   CUSHIM_REASON(name, word, code, message, advice)
 *
 *   name     CUSHIM_REASON_<name>
 *   word     the same for programs; stable
 *   code     what the failing function returns, or CUDA_SUCCESS where the driver's own code is kept
 *   message  what is wrong; a load replaces it where it can say more
 *   advice   what a person can do
 *
 * Define CUSHIM_REASON before including this file; it is undefined at the end. Rows are only ever appended.
 */
#include "cushim/abi/cuda_abi.h"

#ifndef CUSHIM_REASON
#    define CUSHIM_REASON(name, word, code, message, advice)
#endif

/* clang-format off */
CUSHIM_REASON(NONE, "none", CUDA_SUCCESS, "", "")
CUSHIM_REASON(NOT_TRIED, "not-tried", CUDA_SUCCESS, "The driver has not been looked for yet.", "")
CUSHIM_REASON(NOT_WANTED, "not-wanted", CUDA_ERROR_FILE_NOT_FOUND, "The driver was switched off on request.",
              "Unset CUSHIM_DRIVER, or give it the path of a driver, to use the GPU.")
CUSHIM_REASON(NOT_FOUND, "not-found", CUDA_ERROR_FILE_NOT_FOUND, "This machine has no NVIDIA driver library.",
              "If there is an NVIDIA GPU, install NVIDIA's driver (on Linux, with the package manager); in a "
              "container, start it with GPU access (for Docker: --gpus all).")
CUSHIM_REASON(NO_SUCH_FILE, "no-such-file", CUDA_ERROR_FILE_NOT_FOUND,
              "The driver library that was asked for is not there.",
              "Correct CUSHIM_DRIVER, or the path that the program was given; without one the driver is searched for.")
CUSHIM_REASON(NOT_LOADABLE, "not-loadable", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "An NVIDIA driver library was found, but the system cannot open it.",
              "Reinstall NVIDIA's driver, and make sure that it is made for the same kind of program (64-bit or "
              "32-bit) and processor as this one.")
CUSHIM_REASON(NOT_A_DRIVER, "not-a-driver", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The library that was found is not a CUDA driver.",
              "Remove or rename that file, or set CUSHIM_DRIVER to the real driver's path.")
CUSHIM_REASON(STUB, "stub", CUDA_ERROR_STUB_LIBRARY,
              "Only the CUDA Toolkit's stand-in for the driver was found, which programs are linked against and "
              "which can do nothing.",
              "Install NVIDIA's driver; if it is installed, take the Toolkit's \"stubs\" "
              "directory off LD_LIBRARY_PATH.")
CUSHIM_REASON(TOO_OLD, "too-old", CUDA_ERROR_NOT_SUPPORTED, "The NVIDIA driver is older than this program needs.",
              "Update NVIDIA's driver.")
CUSHIM_REASON(BAD_OPTION, "bad-option", CUDA_ERROR_INVALID_VALUE, "A setting makes no sense.", "Correct or unset it.")
CUSHIM_REASON(NO_DEVICE, "no-device", CUDA_SUCCESS, "The driver works, but finds no GPU that it supports.",
              "Check that the GPU is seated, powered and not handed to a virtual machine, and that this driver "
              "still supports its generation.")
CUSHIM_REASON(MODULE_MISMATCH, "module-mismatch", CUDA_SUCCESS,
              "The driver library and the kernel's part of the driver are of different versions.",
              "Restart the machine if the driver was just updated; in a container, use the driver library that the "
              "host provides.")
CUSHIM_REASON(COMPAT_REFUSED, "compat-refused", CUDA_SUCCESS,
              "This is a forward-compatibility driver library, which this GPU or the kernel's part of the driver "
              "refuses.",
              "Take the cuda-compat directory off LD_LIBRARY_PATH, or update the driver itself; forward compatibility "
              "is for data centre GPUs.")
CUSHIM_REASON(NO_DEVICE_NODES, "no-device-nodes", CUDA_SUCCESS,
              "The system shows no NVIDIA device (/dev/nvidiactl, /dev/nvidia0), so the driver cannot reach a GPU.",
              "Load the kernel module (modprobe nvidia) or run nvidia-smi once as root; in a container, start it "
              "with GPU access (for Docker: --gpus all).")
CUSHIM_REASON(NODES_DENIED, "device-nodes-denied", CUDA_SUCCESS,
              "This user may not open the NVIDIA devices (/dev/nvidiactl, /dev/nvidia0).",
              "Ask the administrator for access: often membership of the group that \"ls -l /dev/nvidia0\" shows, "
              "such as video or render.")
CUSHIM_REASON(HIDDEN, "hidden", CUDA_SUCCESS, "CUDA_VISIBLE_DEVICES hides every GPU from this program.",
              "Unset CUDA_VISIBLE_DEVICES, or set it to the numbers of the GPUs to use, such as 0.")
CUSHIM_REASON(FORKED, "forked", CUDA_SUCCESS,
              "CUDA was started before this process was forked, and does not survive that.",
              "Start CUDA only after fork, or start the child with exec (in Python: the \"spawn\" start method).")
CUSHIM_REASON(UNKNOWN, "unknown", CUDA_SUCCESS, "The driver would not start, for a reason that is not known here.",
              "Run nvidia-smi and look at the kernel's messages (dmesg) for NVRM or Xid lines.")
CUSHIM_REASON(NOT_READY, "not-ready", CUDA_SUCCESS, "The GPUs of this machine are not ready yet.",
              "On a machine with NVSwitch, start the service nvidia-fabricmanager, of the driver's own version; else "
              "wait and try again.")
CUSHIM_REASON(UNREADABLE, "unreadable", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "An NVIDIA driver library was found, but this user may not read it.",
              "Ask the administrator to make that file readable for all users.")
CUSHIM_REASON(NEEDS_LIBRARY, "needs-library", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "An NVIDIA driver library was found, but another library that it needs is missing.",
              "Reinstall NVIDIA's driver as a whole; in a container, use the driver libraries that the host provides.")
CUSHIM_REASON(DAMAGED, "damaged", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "An NVIDIA driver library was found, but its file is cut short, or is not a regular file.",
              "Reinstall NVIDIA's driver: an installation that was interrupted leaves such a file.")
CUSHIM_REASON(STATIC_PROGRAM, "static-program", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "This program is linked statically, and its C library cannot open a driver library.",
              "Link the program dynamically (without -static), on a system with glibc.")
CUSHIM_REASON(OTHER_LIBC, "other-libc", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "An NVIDIA driver library was found, but it needs glibc, and this program runs on another C library.",
              "Build the program for glibc, and run it on a distribution with glibc or in a container of one.")

/* clang-format on */

#undef CUSHIM_REASON
