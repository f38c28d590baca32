#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the directories with our libcuda.so.1, one for each CUDA version that brought exported names.

  make_export_maps.py versions                  these versions
  make_export_maps.py map VERSION               an ELF version script: the names up to that version, with a version of their own
  make_export_maps.py place LIBRARY DIRECTORY   puts the library into a directory, under both names
"""
import os
import pathlib
import re
import shutil
import sys

EXPORTS = pathlib.Path(__file__).resolve().parents[3] / 'loader' / 'lists' / 'exports.inc'
# No driver that cushim supports is older.
OLDEST = 6050


def exports():
    """(name, CUDA version) of each name that drivers for Linux export."""
    text = re.sub(r'^#if defined\(_WIN32\)\n.*?^#endif\n', '', EXPORTS.read_text(encoding='utf-8'), flags=re.M | re.S)
    for name, _, version in re.findall(r'^CUSHIM_EXPORT(?:_WITHOUT_SLOT)?\((\w+), (\w+, \w+, \w+, )?(\d+)', text, re.M):
        yield name, int(version)


def versions():
    return sorted({max(version, OLDEST) for _, version in exports()})


def write_map(version):
    print('CUSHIM_EXEC {\n  global:')
    for name, first in exports():
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
    main(sys.argv[1:])
