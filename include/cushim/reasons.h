/* SPDX-License-Identifier: MIT */
/**
 * @file
 * The list of reasons why there is no usable driver, one row for each reason:
 *
 *     CUSHIM_REASON(id, name, code, message, advice)
 *
 * - id: CUSHIM_REASON_<id>
 * - name: the stable name of the reason, for programs
 * - code: the code of the function that fails, or CUDA_SUCCESS if that function returns the driver's own code
 * - message: a sentence that says what is wrong. A load replaces it with a more exact one if it can.
 * - advice: what a person can do. A load replaces it if a person named the wrong file.
 *
 * Define CUSHIM_REASON before including this file. The file undefines it at its end. Rows are only added, at the end.
 */
#if !defined(CUSHIM_UNTYPED)
#    include "cushim/abi/cuda_abi.h"
#endif

#ifndef CUSHIM_REASON
#    define CUSHIM_REASON(id, name, code, message, advice)
#endif

/* clang-format off */
CUSHIM_REASON(NONE, "none", CUDA_SUCCESS, "", "")
CUSHIM_REASON(NOT_TRIED, "not-tried", CUDA_SUCCESS, "The driver has not been searched for yet.", "")
CUSHIM_REASON(NOT_WANTED, "not-wanted", CUDA_ERROR_FILE_NOT_FOUND, "Loading a driver was disabled on request.",
              "To use the GPU, unset CUSHIM_DRIVER, or set it to the path of a driver.")
CUSHIM_REASON(NOT_FOUND, "not-found", CUDA_ERROR_FILE_NOT_FOUND, "This machine has no NVIDIA driver library.",
              "If the machine has an NVIDIA GPU, install NVIDIA's driver (on Linux, with the package manager; if its "
              "kernel module is loaded, in the version that /proc/driver/nvidia/version shows). In a container, start "
              "the container with GPU access (for Docker: --gpus all).")
CUSHIM_REASON(NO_SUCH_FILE, "no-such-file", CUDA_ERROR_FILE_NOT_FOUND,
              "The requested driver library does not exist.",
              "Correct CUSHIM_DRIVER or the path that was passed to the program. Without a path, the driver is "
              "searched for.")
CUSHIM_REASON(NOT_LOADABLE, "not-loadable", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The dynamic loader cannot open the driver library.",
              "Reinstall NVIDIA's driver. Make sure that the driver and this program are built for the same processor, "
              "and are both 64-bit or both 32-bit.")
CUSHIM_REASON(NOT_A_DRIVER, "not-a-driver", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The library that was found is not a CUDA driver.",
              "Remove or rename that file, or set CUSHIM_DRIVER to the path of the real driver.")
CUSHIM_REASON(STUB, "stub", CUDA_ERROR_STUB_LIBRARY,
              "Only the stub library of the CUDA Toolkit was found, which exists for linking programs and cannot use "
              "a GPU.",
              "Install NVIDIA's driver. If it is installed, remove the Toolkit's \"stubs\" directory from "
              "LD_LIBRARY_PATH.")
CUSHIM_REASON(TOO_OLD, "too-old", CUDA_ERROR_NOT_SUPPORTED, "The NVIDIA driver is older than this program requires.",
              "Update NVIDIA's driver.")
CUSHIM_REASON(BAD_OPTION, "bad-option", CUDA_ERROR_INVALID_VALUE, "An option has an invalid value.",
              "Correct or unset it.")
CUSHIM_REASON(NO_DEVICE, "no-device", CUDA_SUCCESS, "The driver finds no GPU that it can use.",
              "Run \"cushim doctor\", which looks for the cause. The GPU may have no power, be assigned to a virtual "
              "machine, or be of a generation that this driver does not support.")
CUSHIM_REASON(MODULE_MISMATCH, "module-mismatch", CUDA_SUCCESS,
              "The driver library and the kernel module of the driver have different versions.",
              "Restart the machine if the driver was just updated. In a container, use the driver library that the "
              "host provides.")
CUSHIM_REASON(COMPAT_REFUSED, "compat-refused", CUDA_SUCCESS,
              "This is a forward-compatibility driver library, and this GPU or the kernel module of the driver does "
              "not support it.",
              "Remove the cuda-compat directory from LD_LIBRARY_PATH, or update the driver itself. Forward "
              "compatibility is for data centre GPUs.")
CUSHIM_REASON(NO_DEVICE_NODES, "no-device-nodes", CUDA_SUCCESS,
              "The system has no NVIDIA device nodes (/dev/nvidiactl, /dev/nvidia0), so the driver cannot reach a GPU.",
              "Load the kernel module (modprobe nvidia), or run nvidia-smi once as root. In a container, start the "
              "container with GPU access (for Docker: --gpus all).")
CUSHIM_REASON(NODES_DENIED, "device-nodes-denied", CUDA_SUCCESS,
              "This user may not open the NVIDIA device nodes (/dev/nvidiactl, /dev/nvidia0).",
              "Ask the administrator for access. Often this is membership of the group that \"ls -l\" shows for the "
              "file, such as video or render.")
CUSHIM_REASON(HIDDEN, "hidden", CUDA_SUCCESS, "CUDA_VISIBLE_DEVICES hides every GPU from this program.",
              "Unset CUDA_VISIBLE_DEVICES, or set it to the numbers of the GPUs to use, such as 0.")
CUSHIM_REASON(FORKED, "forked", CUDA_SUCCESS,
              "CUDA was initialised before this process was forked, and CUDA does not work in the child of a fork.",
              "Initialise CUDA only after the fork, or start the child with exec (in Python: the \"spawn\" start "
              "method).")
CUSHIM_REASON(UNKNOWN, "unknown", CUDA_SUCCESS, "The driver failed to initialise, for an unknown reason.",
              "Run \"cushim doctor\", which looks for the cause, and look for NVRM or Xid lines in the kernel log "
              "(dmesg).")
CUSHIM_REASON(NOT_READY, "not-ready", CUDA_SUCCESS, "The GPUs of this machine are not ready yet.",
              "On a machine with NVSwitch, start the service nvidia-fabricmanager in the same version as the driver. "
              "With confidential computing, declare the GPU ready (nvidia-smi conf-compute -srs 1). On other machines, "
              "wait and try again.")
CUSHIM_REASON(UNREADABLE, "unreadable", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "This user may not read the driver library.",
              "Ask the administrator to make that file readable for all users.")
CUSHIM_REASON(NEEDS_LIBRARY, "needs-library", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The driver library needs another library, which is missing.",
              "Reinstall the complete driver. In a container, use the driver libraries that the host provides.")
CUSHIM_REASON(DAMAGED, "damaged", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The driver library is truncated or is not a regular file.",
              "Reinstall NVIDIA's driver. An interrupted installation leaves such a file.")
CUSHIM_REASON(STATIC_PROGRAM, "static-program", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "This program is linked statically, and its C library cannot open a driver library.",
              "Link the program dynamically (without -static), on a system with glibc.")
CUSHIM_REASON(OTHER_LIBC, "other-libc", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The driver library needs another C library than that of this program: glibc, or a newer glibc.",
              "Build the program for glibc, and run it on a distribution with glibc or in a container of one. A "
              "program of Nix, conda or another distribution needs a glibc as new as that of this system.")
CUSHIM_REASON(BAD_LAYER, "bad-layer", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "A layer that was requested cannot be installed.",
              "Correct or unset CUSHIM_LAYERS, or correct the settings of the layer.")
CUSHIM_REASON(EXECUTABLE_STACK, "executable-stack", CUDA_ERROR_SHARED_OBJECT_INIT_FAILED,
              "The driver library needs an executable stack, which this system refuses.",
              "Use a newer NVIDIA driver. With glibc 2.41 or later, GLIBC_TUNABLES=glibc.rtld.execstack=2 in the "
              "environment of the program permits it.")
CUSHIM_REASON(SANDBOX, "sandbox", CUDA_SUCCESS, "A sandbox or a container prevents CUDA from initialising.",
              "Permit the operation in the settings of the sandbox, the container or the service (seccomp, Landlock, "
              "SELinux, AppArmor, a device cgroup). If a container lost its GPUs while it ran, start it again.")
CUSHIM_REASON(LIMIT, "limit", CUDA_SUCCESS, "A resource limit of this process is too low for the driver.",
              "Raise the limit. \"ulimit -a\" shows the limits of a shell; the unit of a service has LimitNOFILE=, "
              "LimitNPROC=, LimitAS= and TasksMax=.")
CUSHIM_REASON(UNIFIED_MEMORY, "unified-memory", CUDA_SUCCESS,
              "The kernel module of the driver for unified memory (nvidia-uvm) cannot be used.",
              "Run \"nvidia-modprobe -u -c 0\" as root, which loads the module and creates /dev/nvidia-uvm. A "
              "container or a sandbox also needs access to that file.")
CUSHIM_REASON(GPU_LOST, "gpu-lost", CUDA_SUCCESS, "A GPU of this machine does not answer on the PCI bus.",
              "Restart the machine. If this happens again, check the power and the cooling of the GPU, and look for "
              "Xid lines in the kernel log (dmesg). On a laptop, the GPU may be switched off.")
CUSHIM_REASON(IN_USE, "in-use", CUDA_SUCCESS,
              "The GPU does not accept this process: most often it is in exclusive mode and in use, or in prohibited "
              "mode.",
              "\"nvidia-smi -q -d COMPUTE\" shows the mode, and \"nvidia-smi -c DEFAULT\" as root lets several "
              "processes use the GPU. A virtual GPU may lack its licence.")
CUSHIM_REASON(MPS, "mps", CUDA_SUCCESS,
              "The Multi-Process Service (MPS) of CUDA did not accept this process.",
              "Restart the service as the user who runs this program (\"nvidia-cuda-mps-control -d\"). To use the GPU "
              "without the service, stop it, or set CUDA_MPS_PIPE_DIRECTORY to an empty directory.")
CUSHIM_REASON(LACKS_FEATURE, "lacks-feature", CUDA_ERROR_NOT_SUPPORTED,
              "A GPU of this machine does not support a feature that this program requires.",
              "Use a GPU, or an operating system, that supports the feature.")
CUSHIM_REASON(NO_ANSWER, "no-answer", CUDA_SUCCESS, "The driver does not return, or ends the process.",
              "Run \"cushim doctor\", which shows in which call the driver does not return, and look for NVRM or "
              "Xid lines in the kernel log (dmesg).")
CUSHIM_REASON(NO_GPU, "no-gpu", CUDA_SUCCESS, "No NVIDIA GPU was found on this machine.",
              "If the machine has one, check that it is seated and powered; in a virtual machine, check that it is "
              "passed through; start a container with GPU access (for Docker: --gpus all). Otherwise use programs that "
              "do not need a GPU.")
CUSHIM_REASON(GPU_OF_NOUVEAU, "gpu-of-nouveau", CUDA_SUCCESS,
              "The kernel uses its own driver for the NVIDIA GPU (nouveau or nova), which does not support CUDA.",
              "Install NVIDIA's driver with the package manager of your system, which disables nouveau, and restart "
              "the machine.")
CUSHIM_REASON(GPU_OF_VFIO, "gpu-of-vfio", CUDA_SUCCESS, "The GPU is reserved for virtual machines (vfio-pci).",
              "Use CUDA in the virtual machine, or give the GPU back: remove its id from the options of vfio-pci "
              "(/etc/modprobe.d, vfio-pci.ids= of the kernel) and restart the machine.")
CUSHIM_REASON(MODULE_NOT_LOADED, "module-not-loaded", CUDA_SUCCESS, "The kernel module of the driver is not loaded.",
              "Restart the machine if the driver was just installed, or run \"modprobe nvidia\" as root: it reports "
              "what is wrong. If it reports \"No such device\", the driver or its kind of kernel module does not "
              "support this GPU. For a container, do this on the host.")
CUSHIM_REASON(NODE_WRONG, "device-node-wrong", CUDA_SUCCESS, "A device file does not lead to NVIDIA's driver.",
              "Remove the file and run nvidia-smi as root, which creates it; /dev/nvidia-uvm is created by "
              "\"nvidia-modprobe -u -c 0\". If this is a container, restart it.")
CUSHIM_REASON(NO_NVIDIA, "no-nvidia", CUDA_ERROR_FILE_NOT_FOUND,
              "This machine has neither an NVIDIA GPU nor NVIDIA's driver.",
              "If the machine has an NVIDIA GPU, check that it is seated and powered; in a virtual machine, check that "
              "it is passed through; start a container with GPU access (for Docker: --gpus all). Otherwise use "
              "programs that do not need one.")

/* clang-format on */

#undef CUSHIM_REASON
