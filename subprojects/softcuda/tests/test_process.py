#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What softcuda reads once in a process: CUDA_VISIBLE_DEVICES at cuInit, and the end of the process.

  test_process.py LIBRARY...
"""
import ctypes
import os
import sys
import unittest

from forked import forked

LIBRARIES = sys.argv[1:]
ONE, OTHER = 'GPU-10736f66-7463-7564-612d-646576696365', 'GPU-20736f66-7463-7564-612d-646576696365'


def visible(library):
    """Prints the result of cuInit, and the devices by their addresses."""
    cuda, count = ctypes.CDLL(library), ctypes.c_int(0)
    print(cuda.cuInit(0), end='')
    cuda.cuDeviceGetCount(ctypes.byref(count))
    for device in range(count.value):
        text = ctypes.create_string_buffer(20)
        cuda.cuDeviceGetPCIBusId(text, 20, device)
        print('', int(text.value[5:7], 16) - 1, end='')
    return 0


def end(library):
    """Calls the driver in handlers of exit(), which run in the reverse order. ctypes calls them as C does."""
    cuda, libc, version = ctypes.CDLL(library), ctypes.CDLL(None), ctypes.c_int(0)

    @ctypes.CFUNCTYPE(None)
    def late():
        os.write(1, b'late %d %d\n' % (cuda.cuDriverGetVersion(ctypes.byref(version)), cuda.cuInit(0)))
        os._exit(0)  # pylint: disable=protected-access

    @ctypes.CFUNCTYPE(None)
    def early():
        os.write(1, b'early %d %d\n' % (cuda.cuDriverGetVersion(ctypes.byref(version)), cuda.cuInit(0)))

    libc.__cxa_atexit(late, None, None)
    cuda.cuInit(0)
    libc.__cxa_atexit(early, None, None)
    libc.exit(0)


class Process(unittest.TestCase):
    # Observed with driver 580, on two H100 (lists) and on an H200 (odd numbers).
    def test_visible_devices_when_set_then_they_are_those_of_a_real_driver(self):
        for value, expected in (
                ('0', '0 0'), ('1', '0 1'), ('0,1', '0 0 1'), ('1,0', '0 1 0'), ('0,0', '101'), ('0,1,0', '101'),
                ('9', '100'), ('9,0', '100'), ('0,9', '0 0'), ('0,9,1', '0 0'), ('-1,0', '100'), ('0,-1', '0 0'),
                ('', '100'), (ONE, '0 0'), (f'{OTHER},{ONE}', '0 1 0'), (f'{ONE},{ONE}', '101'),
                ('GPU-2', '0 1'), ('GPU-', '100'), (f'{ONE},1', '0 0'), (f'0,{OTHER}', '0 0'),
                (f'GPU-9,{ONE}', '100'), (' 0', '0 0'), ('00', '0 0'), ('+1', '0 1'), ('0abc', '0 0'),
                ('0;1', '0 0'), ('1, 0', '0 1 0'), ('0,,1', '0 0'), (',0', '100'), ('a', '100')):
            for library in LIBRARIES:
                with self.subTest(value=value, library=library):
                    self.assertEqual(forked(visible, library, SOFTCUDA_DEVICES='2', CUDA_VISIBLE_DEVICES=value), (0, expected))

    def test_visible_devices_when_not_set_then_all(self):
        self.assertEqual(forked(visible, LIBRARIES[-1], SOFTCUDA_DEVICES='3'), (0, '0 0 1 2'))

    # Observed with driver 580 on an H200: the driver registers its end at the first cuInit.
    def test_call_when_the_driver_has_ended_then_deinitialized(self):
        for library in LIBRARIES:
            self.assertEqual(forked(end, library), (0, 'early 0 0\nlate 4 4\n'))


os.environ.pop('CUDA_VISIBLE_DEVICES', None)
unittest.main(argv=sys.argv[:1])
