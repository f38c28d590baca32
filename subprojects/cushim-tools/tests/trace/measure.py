#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What a traced call costs, and how long the reports of 10 million calls take."""
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

from traced import BUILD, HERE, KNOWN, LAYER, PROGRAM, PROGRAMS, environment

CALLS = 10000000
MEMORY = 64 << 20


def print_cost(path):
    """The room of a small file is used again and again; a large one grows, and the kernel clears each page of it."""
    for name, size in (('a full file', 1 << 20), ('a growing file', 1 << 30)):
        done = subprocess.run([os.path.join(PROGRAMS, 'cost'), LAYER, path, str(size)],
                              stdout=subprocess.PIPE, check=True)
        print(f'in {name}:\n{done.stdout.decode()}', end='')


def print_python_cost(path):
    """A third argument, the cushim of another build, is measured, too: in turn with this one."""
    script = [sys.executable, '-B', os.path.join(HERE, 'python_program.py'), 'cost']
    commands = {'without trace': [PROGRAM, 'exec']}
    for program in [PROGRAM, *sys.argv[3:]]:
        for stacks in [], ['--stacks']:
            commands[' '.join(['trace', *stacks, *(['of ' + program] if program != PROGRAM else [])])] = [
                program, 'trace', '-o', path, *stacks]
    times = {name: [] for name in commands}
    for _ in range(5):
        for name, command in commands.items():
            done = subprocess.run([*command, '--softcuda', '580', '--', *script], env=environment(),
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True)
            times[name].append([int(word) for word in done.stdout.split()])
    print('nanoseconds in Python, 16 frames deep, of a call that fails, of one with a place, of another one:')
    for name, rounds in times.items():
        print(f'    {name}:', *(statistics.median(column) for column in zip(*rounds)))


def print_order_cost(path):
    """What the order of streams and the finders that compare accesses add to the report of a million calls."""
    here = os.path.join(BUILD, 'subprojects', 'cushim-tools', 'tests', 'trace')
    subprocess.run([PROGRAM, 'trace', '-o', path, '--softcuda', '580', '--', os.path.join(here, 'races'), 'many', '1000000'],
                   env=environment(), stderr=subprocess.DEVNULL, check=True)
    rounds = [[float(word) for word in subprocess.run([os.path.join(here, 'orders_cost'), path], stdout=subprocess.PIPE,
                                                      check=True).stdout.split()] for _ in range(3)]
    without_time, without, with_time, memory = (statistics.median(column) for column in zip(*rounds))
    print(f'the order of a million calls adds {with_time - without_time:.2f} s to {without_time:.2f} s (bound 1 s) and '
          f'{(memory - without) / 1024:.0f} MiB (bound 300 MiB)')


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))


def measure_report(path, *options):
    start = time.monotonic()
    with open(os.devnull, 'wb') as nothing:
        subprocess.run([PROGRAM, 'trace', 'report', path, *options], stdout=nothing, stderr=nothing, check=True,
                       preexec_fn=limit_memory)
    return time.monotonic() - start


def main():
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, 'a.trace')
        print_cost(path)
        print_python_cost(path)
        print_order_cost(path)
        subprocess.run([PROGRAM, 'trace', '-o', path, '--softcuda', '580', '--', KNOWN, 'count', str(CALLS)],
                       env=environment(), stderr=subprocess.DEVNULL, check=True)
        summary = measure_report(path)
        json = measure_report(path, '--format=json')
        size = os.path.getsize(path)
    print(f'{CALLS} calls ({size >> 20} MiB): the summary takes {summary:.2f} s, JSON {json:.2f} s, '
          f'each within {MEMORY >> 20} MiB beside the mapped file')


main()
