#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""gpu_torch.py [PART] - what PyTorch programs do, with results that are the same in every run, one line each.

PART is short (one matrix product), compile, broken (a capture that reads a value), or steps (the median time of a
training step in microseconds).
"""
import hashlib
import statistics
import sys
import time

import torch
import torch.multiprocessing


def show(name, tensor):
    data = tensor.detach().cpu().contiguous().numpy().tobytes()
    print(f'{name} {tuple(tensor.shape)} {hashlib.sha256(data).hexdigest()[:16]}', flush=True)


def numbers(seed, *shape):
    return torch.rand(*shape, generator=torch.Generator().manual_seed(seed)).cuda()


def matrix_product():
    show('matmul', numbers(1, 512, 512) @ numbers(2, 512, 512))


def streams_and_events():
    one, two, done = torch.cuda.Stream(), torch.cuda.Stream(), torch.cuda.Event(enable_timing=True)
    start = torch.cuda.Event(enable_timing=True)
    data = numbers(3, 1 << 20)
    torch.cuda.synchronize()
    with torch.cuda.stream(one):
        start.record()
        doubled = data * 2
        done.record()
    two.wait_event(done)
    with torch.cuda.stream(two):
        result = doubled + 1
    two.synchronize()
    assert start.elapsed_time(done) >= 0 and done.query()
    show('streams', result)


def graph():
    source, result = torch.zeros(1024, device='cuda'), torch.zeros(1024, device='cuda')
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured):
        result.copy_(source * 3 + 1)
    for i in range(10):
        source.fill_(i)
        captured.replay()
    show('graph', result)


def make_training():
    """Returns the model, and a function that makes one step and returns the loss."""
    torch.manual_seed(4)
    model = torch.nn.Sequential(torch.nn.Linear(64, 128), torch.nn.ReLU(), torch.nn.Linear(128, 1)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    data, target = numbers(5, 256, 64), numbers(6, 256, 1)

    def step():
        optimizer.zero_grad()
        loss = torch.nn.functional.mse_loss(model(data), target)
        loss.backward()
        optimizer.step()
        return loss
    return model, step


def training():
    model, step = make_training()
    for _ in range(50):
        loss = step()
    show('training', model[0].weight)
    assert loss.item() < 0.1


def steps():
    """For each line of input, prints the time of a training step, the median of 100."""
    _, step = make_training()
    for _ in sys.stdin:
        times = []
        for _ in range(100):
            start = time.perf_counter()
            step().item()
            times.append(time.perf_counter() - start)
        print(f'{statistics.median(times) * 1e6:.1f}', flush=True)


def compiled():
    function = torch.compile(lambda one, two: torch.relu(one * 2 + two).sin())
    show('compile', function(numbers(9, 1 << 16), numbers(10, 1 << 16)))


def broken_capture():
    source = torch.ones(8, device='cuda')
    torch.cuda.synchronize()
    try:
        with torch.cuda.graph(torch.cuda.CUDAGraph()):
            (source * 2).sum().item()
    except RuntimeError as error:
        print(str(error).splitlines()[0], file=sys.stderr)
        print('refused')


def child(queue):
    queue.put(matched((numbers(7, 256, 256) @ numbers(8, 256, 256)).cpu()))
    queue.close()


def matched(tensor):
    return hashlib.sha256(tensor.numpy().tobytes()).hexdigest()[:16], mapped_drivers()


def mapped_drivers():
    with open('/proc/self/maps', encoding='ascii') as maps:
        return sorted({line.split()[-1] for line in maps if 'libcuda.so' in line})


def spawn():
    context = torch.multiprocessing.get_context('spawn')
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    digest, drivers = queue.get(timeout=120)
    process.join()
    print('spawn', digest, process.exitcode)
    return drivers


def main():
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.use_deterministic_algorithms(False)
    parts = {'short': matrix_product, 'compile': compiled, 'broken': broken_capture, 'steps': steps}
    if len(sys.argv) > 1:
        parts[sys.argv[1]]()
        return
    matrix_product()
    streams_and_events()
    graph()
    training()
    in_child = spawn()
    print('drivers:', mapped_drivers() == in_child, *mapped_drivers(), file=sys.stderr)


if __name__ == '__main__':
    main()
