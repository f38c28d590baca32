#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
call_count.py - what a call through the table costs, in instructions, against a direct call of a linked function.

    call_count.py WHAT BOUND CALL_COUNT DRIVER     DRIVER: the libcuda.so.1 made of driver.c

callgrind counts the whole program at two numbers of calls; the difference over the number of calls is one turn of the
loop with its call, and what happens before and after cancels out. The counts repeat exactly.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import bench

FEW = 1000
MANY = 101000


def count_instructions(program, way, calls, environment):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder, 'callgrind.out')
        bench.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', program, way, str(calls)],
                  env=environment)
        totals = [line for line in out.read_text().splitlines() if line.startswith(('totals:', 'summary:'))]
        return int(totals[0].split()[1])


def main(what, bound, program, driver):
    if shutil.which('valgrind') is None:
        bench.skip('there is no valgrind')
    environment = {**os.environ, 'CUSHIM_DRIVER': driver, 'LD_LIBRARY_PATH': os.path.dirname(driver)}
    turn = {}
    for way in ('table', 'direct'):
        few, many = (count_instructions(program, way, calls, environment) for calls in (FEW, MANY))
        turn[way] = [(many - few) / (MANY - FEW)]
    met = bench.judge_difference(f'a call through the table - a linked call, {what}', turn['table'], turn['direct'],
                                 'instructions', float(bound))
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
