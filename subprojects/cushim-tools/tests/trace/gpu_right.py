#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpu_right.py PROGRAM - programs without an error, as users of CUDA in Python write them, and two with one.

PROGRAM is compile (torch.compile with CUDA graphs), convolution (a small ResNet), graph (message passing with
scatter), jax, cupy, numba, triton, nccl (one process), bindings (cuda-bindings); or hang or leak, which are wrong.
Prints a number that depends on the work alone. Exit status 77: a package is missing.
"""
import sys

STEPS = 20


def torch_seeded():
    import torch
    torch.manual_seed(1)
    return torch


def compile_():
    torch = torch_seeded()
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
    compiled = torch.compile(model, mode='reduce-overhead')
    data = torch.ones(32, 64, device='cuda')
    with torch.no_grad():
        for _ in range(STEPS):
            result = compiled(data).clone()
    print(f'{result.sum().item():.3f}')


def convolution():
    torch = torch_seeded()
    torch.backends.cudnn.deterministic = True

    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.layers = torch.nn.Sequential(torch.nn.Conv2d(width, width, 3, padding=1), torch.nn.BatchNorm2d(width),
                                              torch.nn.ReLU(), torch.nn.Conv2d(width, width, 3, padding=1))

        def forward(self, data):
            return torch.relu(data + self.layers(data))

    model = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3), Block(16), Block(16), torch.nn.AdaptiveAvgPool2d(1),
                                torch.nn.Flatten(), torch.nn.Linear(16, 10)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(STEPS):
        loss = torch.nn.functional.cross_entropy(model(torch.rand(16, 3, 32, 32).cuda(non_blocking=True)),
                                                 torch.zeros(16, dtype=torch.long, device='cuda'))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f'{loss.item():.2f}')


def graph():
    torch = torch_seeded()
    source, target = torch.randint(100, (2, 1000), device='cuda')
    nodes = torch.ones(100, 16, device='cuda', requires_grad=True)
    for _ in range(STEPS):
        sums = torch.zeros(100, 16, device='cuda').index_add(0, target, nodes[source])
        sums.pow(2).mean().backward()
    print(f'{sums.sum().item():.0f}')


def jax_():
    import jax
    import jax.numpy as jnp
    weights = jnp.ones((64, 64)) / 64
    step = jax.jit(jax.grad(lambda one: jnp.sum(jnp.tanh(one @ jnp.ones((64, 8))))))
    for _ in range(STEPS):
        weights = weights - 0.1 * step(weights)
    print(f'{float(weights.sum()):.2f}')


def cupy_():
    import cupy
    scale = cupy.RawKernel('extern "C" __global__ void scale(float *x) { x[threadIdx.x] *= 2; }', 'scale')
    data = cupy.ones(256, dtype=cupy.float32)
    with cupy.cuda.Stream(non_blocking=True) as stream:
        for _ in range(5):
            scale((1,), (256,), (data,))
        stream.synchronize()
    print(float((data @ data).get()))


def numba_():
    import numpy
    from numba import cuda

    @cuda.jit
    def scale(values):
        values[cuda.grid(1)] *= 2

    data = cuda.to_device(numpy.ones(256, dtype=numpy.float32))
    for _ in range(5):
        scale[2, 128](data)
    print(data.copy_to_host().sum())


def triton_():
    torch = torch_seeded()
    import triton
    import triton.language as tl

    @triton.jit
    def double(values, SIZE: tl.constexpr):
        at = values + tl.arange(0, SIZE)
        tl.store(at, 2 * tl.load(at))

    data = torch.ones(256, device='cuda')
    for _ in range(5):
        double[(1,)](data, SIZE=256)
    print(data.sum().item())


def nccl():
    torch = torch_seeded()
    import tempfile
    import torch.distributed as dist
    with tempfile.NamedTemporaryFile() as file:
        dist.init_process_group('nccl', init_method=f'file://{file.name}', rank=0, world_size=1)
        data = torch.ones(1024, device='cuda')
        for _ in range(5):
            dist.all_reduce(data)
        torch.cuda.synchronize()
        print(data.sum().item())
        dist.destroy_process_group()


def bindings():
    from cuda.bindings import driver
    import ctypes

    def call(function, *arguments):
        result, *values = function(*arguments)
        assert result == driver.CUresult.CUDA_SUCCESS, result
        return values[0] if values else None

    call(driver.cuInit, 0)
    context = call(driver.cuDevicePrimaryCtxRetain, 0)
    call(driver.cuCtxSetCurrent, context)
    stream, memory = call(driver.cuStreamCreate, 1), call(driver.cuMemAlloc, 1024)
    call(driver.cuStreamBeginCapture, stream, driver.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)
    call(driver.cuMemsetD32Async, memory, 7, 256, stream)
    captured = call(driver.cuStreamEndCapture, stream)
    executable = call(driver.cuGraphInstantiate, captured, 0)
    call(driver.cuGraphLaunch, executable, stream)
    call(driver.cuStreamSynchronize, stream)
    values = (ctypes.c_uint32 * 256)()
    call(driver.cuMemcpyDtoH, ctypes.addressof(values), memory, 1024)
    print(sum(values))
    for function, one in ((driver.cuGraphExecDestroy, executable), (driver.cuGraphDestroy, captured),
                          (driver.cuMemFree, memory), (driver.cuStreamDestroy, stream)):
        call(function, one)
    call(driver.cuDevicePrimaryCtxRelease, 0)


def hang():
    """A host function waits for a lock of the thread that waits for it."""
    torch = torch_seeded()
    import ctypes
    import threading
    lock = threading.Lock()
    stream = torch.cuda.Stream()
    torch.ones(8, device='cuda')
    host_function = ctypes.CFUNCTYPE(None, ctypes.c_void_p)(lambda _: lock.acquire())
    launch = ctypes.CDLL('libcuda.so.1').cuLaunchHostFunc
    with lock:
        launch(ctypes.c_void_p(stream.cuda_stream), host_function, None)
        print('waits', flush=True)
        stream.synchronize()


KEPT = []


def leak():
    torch = torch_seeded()

    def step():
        KEPT.append(torch.empty(21 << 20, dtype=torch.uint8, device='cuda'))
    for _ in range(40):
        step()
    print(len(KEPT))


if __name__ == '__main__':
    PROGRAMS = {'compile': compile_, 'convolution': convolution, 'graph': graph, 'jax': jax_, 'cupy': cupy_,
                'numba': numba_, 'triton': triton_, 'nccl': nccl, 'bindings': bindings, 'hang': hang, 'leak': leak}
    try:
        PROGRAMS[sys.argv[1]]()
    except ImportError as error:
        print(error, file=sys.stderr)
        sys.exit(77)
