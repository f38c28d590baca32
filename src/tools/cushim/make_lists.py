#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what the program makes of cushim's lists: rows for a macro of C, which the including file defines.

  make_lists.py branches       the first driver branch for each CUDA version, oldest first
  make_lists.py plain_names    what the plain names of functions with several ABI versions mean in <cuda.h>, oldest first
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'loader' / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position


def branches():
    """CUSHIM_BRANCH(CUDA version, branch)"""
    yield from (f'CUSHIM_BRANCH({one.version}, {one.branch})' for one in lists.read_drivers() if one.branch)
    yield '#undef CUSHIM_BRANCH'


def plain_names():
    """CUSHIM_PLAIN_NAME(name, CUDA version of the first <cuda.h> with this meaning, exported name)"""
    entry_points = lists.read()
    for function in lists.with_several_versions(entry_points):
        for version, one in lists.plain_meanings(function, entry_points):
            yield f'CUSHIM_PLAIN_NAME({function}, {version}, {one.symbol})'
    yield '#undef CUSHIM_PLAIN_NAME'


if __name__ == '__main__':
    print('\n'.join({'branches': branches, 'plain_names': plain_names}[sys.argv[1]]()))
