#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the directories with our libcuda.so.1, one for each CUDA version that brought exported names.

  make_export_maps.py names              VERSION.map for each of these versions
  make_export_maps.py maps DIRECTORY     writes these files, which are ELF version scripts: the names up to that version,
                                         with a version of their own
  make_export_maps.py place LIBRARY...   puts each libexec-VERSION.so into a directory VERSION, under both names
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


def write_names():
    print(*(f'{version}.map' for version in versions()))


def write_maps(directory):
    for version in versions():
        names = ''.join(f'    {name};\n' for name, first in exports().items() if first <= version)
        pathlib.Path(directory, f'{version}.map').write_text(
            f'CUSHIM_EXEC {{\n  global:\n{names}    softcuda_control;\n  local: *;\n}};\n', encoding='utf-8')


def place(*libraries):
    for library in libraries:
        directory = os.path.join(os.path.dirname(library), library.removesuffix('.so').rpartition('-')[2])
        os.makedirs(directory, exist_ok=True)
        path = os.path.join(directory, 'libcuda.so.1')
        if os.path.exists(path):
            os.remove(path)  # not overwritten, because it may be in use
        shutil.copy2(library, path)
        if not os.path.islink(os.path.join(directory, 'libcuda.so')):
            os.symlink('libcuda.so.1', os.path.join(directory, 'libcuda.so'))


def main(arguments):
    {'names': write_names, 'maps': write_maps, 'place': place}[arguments[0]](*arguments[1:])


if __name__ == '__main__':
    lists.take_depfile(sys.argv)
    main(sys.argv[1:])
