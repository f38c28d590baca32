#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a list as rows for a macro of C, which the including file defines.

  make_lists.py plain_names   what the plain names of functions with several ABI versions mean in <cuda.h>, oldest first
  make_lists.py gpus          the GPUs whose ids on the PCI bus are known
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


def gpus():
    """GPU(first id, last id, generation, first and last driver branch or 0, kernel module)"""
    for one in lists.read_gpus():
        for first, last in one.ids:
            yield (f'GPU({first:#x}, {last:#x}, "{one.generation}", {one.since or 0}, {one.last or 0}, '
                   f'MODULE_{(one.module or "unknown").upper()})')
    yield '#undef GPU'


if __name__ == '__main__':
    lists.take_depfile(sys.argv)
    print('\n'.join({'plain_names': plain_names, 'gpus': gpus}[sys.argv[1]]()))
