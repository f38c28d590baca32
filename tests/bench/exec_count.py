#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""exec_count.py - the cost of a linked call under `cushim exec`, in instructions, against the same call without it.

    exec_count.py BOUND CALL_COUNT DRIVER DIRECTORY

DRIVER is the libcuda.so.1 built from driver.c, which is for CUDA 10.0, and DIRECTORY has the library of cushim exec for
it. The counts are made as by call_count.py.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import bench
import call_count


def main(bound, program, driver, directory):
    for tool in ('valgrind', 'strip'):
        if shutil.which(tool) is None:
            bench.skip(f'{tool} is not installed')
    turn = {}
    with tempfile.TemporaryDirectory() as scratch:
        program, driver = [call_count.copy_stripped(file, scratch) for file in (program, driver)]
        ways = {'exec': {'LD_LIBRARY_PATH': str(pathlib.Path(directory).resolve()),
                         'CUSHIM_EXEC': f'driver=/.{driver};hide='},
                'direct': {'LD_LIBRARY_PATH': scratch}}
        for way, variables in ways.items():
            few, many = (call_count.count_instructions(program, 'direct', calls, {**os.environ, **variables})
                         for calls in (call_count.FEW, call_count.MANY))
            turn[way] = [(many - few) / (call_count.MANY - call_count.FEW)]
    met = bench.judge_difference('a linked call under exec - without exec', turn['exec'], turn['direct'],
                                 'instructions', float(bound))
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
