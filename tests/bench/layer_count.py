#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layer_count.py - the instructions that the stream layer adds to the driver's calls. The counts are the same in
every run.

    layer_count.py BOUND LAYER_TIME DRIVER

DRIVER is a softcuda; the cost of its own functions cancels out. BOUND is for each call that the layer passes on
to the driver. For calls that the layer answers itself, all instructions are reported.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import bench
from call_count import copy_stripped

FEW = 1000
MANY = 11000
PASSED_ON = ('query', 'synchronize')
ANSWERED = ('flags', 'id', 'device')


def turn(program, way, name, environment):
    """The instructions of one turn of the loop with its call."""
    totals = []
    for calls in (FEW, MANY):
        out = program.with_suffix('.callgrind')
        bench.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', program, way, name, str(calls)],
                  env=environment)
        lines = [line for line in out.read_text().splitlines() if line.startswith(('totals:', 'summary:'))]
        totals.append(int(lines[0].split()[1]))
    return [(totals[1] - totals[0]) / (MANY - FEW)]


def main(bound, program, driver):
    for tool in ('valgrind', 'strip'):
        if shutil.which(tool) is None:
            bench.skip(f'{tool} is not installed')
    met = True
    with tempfile.TemporaryDirectory() as directory:
        program, driver = (copy_stripped(file, directory) for file in (pathlib.Path(program), pathlib.Path(driver)))
        environment = {**os.environ, 'CUSHIM_DRIVER': str(driver)}
        for name in PASSED_ON:
            met = bench.judge_difference(f'{name}, layer - driver', turn(program, 'layer', name, environment),
                                         turn(program, 'driver', name, environment), 'instructions',
                                         float(bound)) and met
        for name in ANSWERED:
            layer, bare = (turn(program, way, name, environment) for way in ('layer', 'driver'))
            bench.judge_difference(f'{name}, layer - driver', layer, bare, 'instructions', None)
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
