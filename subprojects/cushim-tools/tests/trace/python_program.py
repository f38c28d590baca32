# SPDX-License-Identifier: MIT
"""A Python program with known mistakes: the first argument says which."""
import ctypes
import signal
import struct
import statistics
import sys
import time

REFUSED = {'x86_64': 310, 'aarch64': 270}


def refuse(error):
    """From now on, process_vm_readv fails with this error."""
    number, return_errno = REFUSED[sys.argv[2]], 0x50000 | error
    filters = b''.join(struct.pack('<HBBI', *one) for one in (
        (0x20, 0, 0, 0), (0x15, 0, 1, number), (0x6, 0, 0, return_errno), (0x6, 0, 0, 0x7fff0000)))
    buffer = ctypes.create_string_buffer(filters)
    program = struct.pack('<HxxxxxxQ', 4, ctypes.addressof(buffer))
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = [ctypes.c_int, ctypes.c_ulong, ctypes.c_char_p, ctypes.c_ulong, ctypes.c_ulong]
    assert libc.prctl(38, 1, None, 0, 0) == 0 and libc.prctl(22, 2, program, 0, 0) == 0, ctypes.get_errno()


CUDA = ctypes.CDLL('libcuda.so.1')


class Block:
    def allocate(self):
        memory = ctypes.c_uint64()
        CUDA.cuMemAlloc_v2(ctypes.byref(memory), 4096)
        return memory

    def free(self, memory):
        CUDA.cuMemFree_v2(memory)


def start():
    device, context = ctypes.c_int(), ctypes.c_void_p()
    CUDA.cuInit(0)
    CUDA.cuDeviceGet(ctypes.byref(device), 0)
    CUDA.cuDevicePrimaryCtxRetain(ctypes.byref(context), device)
    CUDA.cuCtxSetCurrent(context)


def twice():
    block = Block()
    memory = block.allocate()
    block.free(memory)
    block.free(memory)


def many():
    CUDA.cuStreamBeginCapture_v2(ctypes.c_void_p(2), 0)
    for _ in range(300):
        Block().allocate()


def race():
    """Two streams that nothing orders, behind as many calls as the second argument says."""
    memory, streams = Block().allocate(), [ctypes.c_void_p(), ctypes.c_void_p()]
    for stream in streams:
        CUDA.cuStreamCreate(ctypes.byref(stream), 1)
    for stream in (*int(sys.argv[2]) * streams[:1], *streams):
        CUDA.cuMemsetD8Async(memory, 0, ctypes.c_size_t(4096), stream)


def kernels():
    """Gets the function of a kernel again and again, and after its library was loaded again."""
    library, kernel, function = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
    for _ in range(2):
        CUDA.cuLibraryLoadData(ctypes.byref(library), b'.version 7.0', None, None, 0, None, None, 0)
        CUDA.cuLibraryGetKernel(ctypes.byref(kernel), library, b'empty')
        for where in 3 * [ctypes.byref(function)] + [None]:
            CUDA.cuKernelGetFunction(where, kernel)
        CUDA.cuLibraryUnload(library)


def hang():
    """A wait for a host function that does not return, until a signal ends the process."""
    signal.setitimer(signal.ITIMER_REAL, 2)
    CUDA.cuLaunchHostFunc(None, ctypes.CDLL(None).pause, None)
    CUDA.cuCtxSynchronize()


def waits():
    """Waits in two lines, one of them three times. A thread can come late on a busy machine."""
    stream, sleep = ctypes.c_void_p(), ctypes.cast(ctypes.CDLL(None).usleep, ctypes.c_void_p)
    CUDA.cuStreamCreate(ctypes.byref(stream), 1)
    CUDA.cuLaunchHostFunc(stream, sleep, ctypes.c_void_p(300000))
    CUDA.cuStreamSynchronize(stream) # once
    for _ in range(3):
        CUDA.cuLaunchHostFunc(stream, sleep, ctypes.c_void_p(300000))
        CUDA.cuStreamSynchronize(stream) # often


def fail_in_library():
    ctypes.CDLL(sys.argv[2]).fail_there()


def deeper(depth, function):
    return function() if depth == 0 else deeper(depth - 1, function)


def cost():
    """Prints the nanoseconds that calls take, 16 frames deep; each is the median of 31 rounds."""
    context, stream = ctypes.c_void_p(), ctypes.c_void_p(2)
    address, nowhere, count = ctypes.byref(context), ctypes.c_void_p(1), 1000

    def measure(function, *arguments):
        times = []
        for _ in range(31):
            begin = time.thread_time_ns()
            for _ in range(count):
                function(*arguments)
            times.append((time.thread_time_ns() - begin) / count)
        return round(statistics.median(times))

    print(deeper(16, lambda: measure(CUDA.cuStreamIsCapturing, nowhere, None)),
          deeper(16, lambda: measure(CUDA.cuStreamSynchronize, stream)),
          deeper(16, lambda: measure(CUDA.cuCtxGetCurrent, address)))


start()
if sys.argv[1] == 'refused':
    refuse(1)
{'twice': twice, 'refused': twice, 'hang': hang, 'many': many, 'race': race, 'cost': cost, 'kernels': kernels,
 'waits': waits, 'library': fail_in_library}[sys.argv[1]]()
