# SPDX-License-Identifier: MIT
"""numba_sum.py - copies an array to the GPU and back with Numba, and prints its sum."""
import numpy
from numba import cuda

array = cuda.to_device(numpy.arange(4))
cuda.synchronize()
print(array.copy_to_host().sum())
