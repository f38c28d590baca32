#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpu_torch.py PART - captures of PyTorch that fail, or that miss work, as in reports of its users.

PART is unjoined (a stream joins the capture and is not joined back), thread (another thread allocates memory),
missed (work in a stream that does not belong to the capture), or range (a value is read in a range of NVTX).
Prints "refused" if PyTorch refused the capture, and "captured" if it did not.
"""
import sys
import threading

import torch


def capture(body):
    """Captures a function, after the memory that it needs was allocated."""
    torch.cuda.synchronize()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            body()
    except RuntimeError as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        print('refused')
    else:
        print('captured')


def unjoined():
    side, source, result = torch.cuda.Stream(), torch.ones(8, device='cuda'), torch.zeros(8, device='cuda')

    def body():
        result.add_(source)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            result.mul_(2)
    capture(body)


def other_thread():
    source = torch.ones(8, device='cuda')

    def allocate():
        try:
            torch.empty(777 << 20, dtype=torch.uint8, device='cuda')
        except RuntimeError as error:
            print(str(error).splitlines()[0], file=sys.stderr)

    def body():
        source.mul_(2)
        thread = threading.Thread(target=allocate)
        thread.start()
        thread.join()
        source.mul_(2)
    capture(body)


def missed():
    side, source, result = torch.cuda.Stream(), torch.ones(8, device='cuda'), torch.zeros(8, device='cuda')

    def body():
        result.add_(source)
        with torch.cuda.stream(side):
            source.mul_(2)
    capture(body)


def in_range():
    source = torch.ones(8, device='cuda')

    def body():
        with torch.cuda.nvtx.range('step 3'):
            torch.cuda.nvtx.range_push('read')
            source.sum().item()
            torch.cuda.nvtx.range_pop()
    capture(body)


if __name__ == '__main__':
    {'unjoined': unjoined, 'thread': other_thread, 'missed': missed, 'range': in_range}[sys.argv[1]]()
