#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""call_count.py - the cost of a call through the table, in instructions, against a direct call of a linked
function; and of one through a slot that no layer has replaced, with a layer on another slot.

    call_count.py NAME BOUND CALL_COUNT DRIVER [LIBRARY]

DRIVER is the libcuda.so.1 built from driver.c, LIBRARY the libcushim that the program is linked to, if it is
shared. With NAME "drop-in" the program is linked to the drop-in library instead, and the table is what it is compared with. callgrind counts the whole program with two numbers of calls. The difference divided by the number of
calls is one turn of the loop with its call; everything before and after cancels out. The counts are the same in
every run.
"""
import os
import pathlib
import shutil
import sys
import tempfile

import bench

FEW = 1000
MANY = 101000


def copy_stripped(file, directory):
    """A copy without debug information, under all names of the file: older versions of valgrind fail on newer DWARF."""
    file = pathlib.Path(file)
    copy = pathlib.Path(directory, file.name)
    bench.run(['strip', '--strip-debug', '-o', copy, file])
    for other in file.parent.iterdir():
        if other.is_symlink() and other.resolve() == file.resolve():
            pathlib.Path(directory, other.name).symlink_to(copy.name)
    return copy


def count_instructions(program, way, calls, environment):
    out = program.with_suffix('.callgrind')
    bench.run(['valgrind', '--tool=callgrind', f'--callgrind-out-file={out}', program, way, str(calls)],
              env=environment)
    totals = [line for line in out.read_text().splitlines() if line.startswith(('totals:', 'summary:'))]
    return int(totals[0].split()[1])


def main(what, bound, program, *libraries):
    for tool in ('valgrind', 'strip'):
        if shutil.which(tool) is None:
            bench.skip(f'{tool} is not installed')
    turn = {}
    with tempfile.TemporaryDirectory() as directory:
        program, driver, *_ = [copy_stripped(file, directory) for file in (program, *libraries)]
        environment = {**os.environ, 'CUSHIM_DRIVER': str(driver), 'LD_LIBRARY_PATH': directory}
        for way in ('table', 'direct', *(['beside'] if what != 'drop-in' else [])):
            few, many = (count_instructions(program, way, calls, environment) for calls in (FEW, MANY))
            turn[way] = [(many - few) / (MANY - FEW)]
    if what == 'drop-in':
        met = bench.judge_difference('a call of the drop-in library - a call through the table', turn['direct'],
                                     turn['table'], 'instructions', float(bound))
        return 0 if met else 1
    met = bench.judge_difference(f'a call through the table - a linked call, {what}', turn['table'], turn['direct'],
                                 'instructions', float(bound))
    same = bench.judge_difference(f'a call beside a layer - a call without layers, {what}', turn['beside'], turn['table'],
                                  'instructions', float(bound))
    return 0 if met and same else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
