#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""load.py - cushim_load() against dlopen() with the same flags, in turn, each in a process of its own.

    load.py 550 BOUND LOAD_CUSHIM LOAD_DLOPEN      a driver of the cache (see tests/drivers/fetch), by its path
    load.py system BOUND LOAD_CUSHIM LOAD_DLOPEN   the machine's own driver, by its name
    load.py none BOUND LOAD_CUSHIM LOAD_DLOPEN     a machine without a driver: both search and fail

The time is measured inside the process, around the one call, and excludes the start of the process. BOUND is of the
difference, in milliseconds: what dlopen() itself takes depends on the driver and the machine, what cushim adds less so.
"""
import os
import pathlib
import sys

import bench

PAIRS = 400
WARM_UP = 5


def cached_driver(number):
    cache = os.environ.get('CUSHIM_CACHE') or os.path.join(
        os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cushim')
    path = pathlib.Path(cache, 'drivers', number, 'libcuda.so.1')
    if not path.exists():
        bench.skip(f'driver {number} is not in the cache; tests/drivers/fetch {number} gets it')
    return str(path)


def leave_out_the_build_directory():
    """Meson adds a directory to the search path that an installed program does not have, and that costs time."""
    directories = os.environ.get('LD_LIBRARY_PATH', '').split(':')
    directories = [directory for directory in directories if directory and not list(pathlib.Path(directory).glob('libcushim.so*'))]
    os.environ.pop('LD_LIBRARY_PATH', None)
    if directories:
        os.environ['LD_LIBRARY_PATH'] = ':'.join(directories)


def arguments(place, dlopen):
    """The arguments of the programs: the expected outcome, and the driver's path if there is one."""
    if place not in ('system', 'none'):
        return ['open', cached_driver(place)]
    try:
        bench.run([dlopen, 'fail'])
        found = False
    except SystemExit:
        found = True
    if place == 'system' and not found:
        bench.skip('this machine has no libcuda.so.1')
    if place == 'none' and found:
        bench.skip('this machine has a libcuda.so.1')
    return ['fail' if place == 'none' else 'open']


def main(place, bound, cushim, dlopen):
    leave_out_the_build_directory()
    rest = arguments(place, dlopen)
    times = {cushim: [], dlopen: []}
    order = [cushim, dlopen]
    for i in range(WARM_UP + PAIRS):
        for program in order:
            milliseconds = int(bench.run([program, *rest])) / 1e6
            if i >= WARM_UP:
                times[program].append(milliseconds)
        order.reverse()
    met = bench.judge_difference(f'cushim_load - dlopen, driver: {place}', times[cushim], times[dlopen], 'ms', float(bound))
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
