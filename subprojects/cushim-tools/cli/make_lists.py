#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what the plain names of functions with several ABI versions mean in <cuda.h>, oldest first, as rows for a macro
of C, which the including file defines.

  make_lists.py
"""
import pathlib
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'loader' / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position


def plain_names():
    """CUSHIM_PLAIN_NAME(name, CUDA version of the first <cuda.h> with this meaning, exported name)"""
    entry_points = lists.read()
    for function in lists.with_several_versions(entry_points):
        for version, one in lists.plain_meanings(function, entry_points):
            yield f'CUSHIM_PLAIN_NAME({function}, {version}, {one.symbol})'
    yield '#undef CUSHIM_PLAIN_NAME'


if __name__ == '__main__':
    lists.take_depfile(sys.argv)
    print('\n'.join(plain_names()))
