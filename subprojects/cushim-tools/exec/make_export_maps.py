#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the directories with our libcuda.so.1, one for each CUDA version that brought exported names.

  make_export_maps.py versions                  these versions
  make_export_maps.py map VERSION               an ELF version script: the names up to that version, with a version of their own
  make_export_maps.py place LIBRARY DIRECTORY   puts the library into a directory, under both names
"""
import os
import pathlib
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'loader' / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position


def exports():
    """{name: CUDA version} of what drivers for Linux export."""
    return lists.exported([one for one in lists.read() if not one.is_windows_only])


def versions():
    return sorted({max(version, lists.oldest_version()) for version in exports().values()})


def write_map(version):
    print('CUSHIM_EXEC {\n  global:')
    for name, first in exports().items():
        if first <= int(version):
            print(f'    {name};')
    print('    softcuda_control;')
    print('  local: *;\n};')


def place(library, directory):
    os.makedirs(directory, exist_ok=True)
    path = os.path.join(directory, 'libcuda.so.1')
    if os.path.exists(path):
        os.remove(path)  # not overwritten, because it may be in use
    shutil.copy2(library, path)
    if not os.path.islink(os.path.join(directory, 'libcuda.so')):
        os.symlink('libcuda.so.1', os.path.join(directory, 'libcuda.so'))


def main(arguments):
    if arguments[0] == 'versions':
        print(*versions())
    else:
        {'map': write_map, 'place': place}[arguments[0]](*arguments[1:])


if __name__ == '__main__':
    lists.take_depfile(sys.argv)
    main(sys.argv[1:])
