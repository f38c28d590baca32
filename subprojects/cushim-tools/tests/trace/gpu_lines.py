# SPDX-License-Identifier: MIT
"""PyTorch programs with a mistake, of which the report must name the line: gpu_lines.py broken|leak|hang"""
import ctypes
import signal
import sys

import torch

CUDA = ctypes.CDLL('libcuda.so.1')


class Block(torch.nn.Module):
    def forward(self, x):
        return x * float(x.sum()) # line: broken


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x):
        return self.block(x) + 1


def broken():
    """Reads a value during a capture."""
    net, x = Net(), torch.ones(8, device='cuda')
    net(x)
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            net(x)
    except RuntimeError:
        print('refused')


def step():
    memory = ctypes.c_uint64()
    CUDA.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1 << 20)) # line: leak


def leak():
    torch.ones(8, device='cuda')
    for _ in range(40):
        step()


def hang():
    """Waits for a host function that does not return, until a signal ends the process."""
    torch.ones(8, device='cuda').sum().item()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, 3)
    CUDA.cuLaunchHostFunc(ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), ctypes.CDLL(None).pause, None)
    torch.cuda.synchronize() # line: hang


{'broken': broken, 'leak': leak, 'hang': hang}[sys.argv[1]]()
