#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""size.py - the size of the shared library after stripping, as it is installed.

    size.py BOUND_KIB LIBRARY OPTIMIZATION ARCHITECTURE

Also prints the largest sections if readelf is installed. A library that was built without optimisation is not
judged, nor is one for another processor architecture than x86-64.
"""
import os
import shutil
import subprocess
import sys
import tempfile

import bench


def print_sections(library):
    if shutil.which('readelf') is None:
        return
    lines = subprocess.run(['readelf', '-SW', library], capture_output=True, text=True, check=True).stdout.splitlines()
    columns = [line.split(']', 1)[1].split() for line in lines if line.lstrip().startswith('[') and ' 0' in line]
    sizes = sorted(((int(row[4], 16), row[0]) for row in columns if len(row) > 6 and row[1] != 'NOBITS'), reverse=True)
    print('sections, in bytes: ' + ', '.join(f'{name} {size}' for size, name in sizes[:8]))


def main(bound, library, optimization, architecture):
    if optimization in ('0', 'g'):
        bench.skip(f'the library was built with optimization={optimization}')
    if shutil.which('strip') is None:
        bench.skip('strip is not installed')
    with tempfile.TemporaryDirectory() as directory:
        stripped = os.path.join(directory, 'stripped.so')
        bench.run(['strip', '-o', stripped, library])
        print_sections(stripped)
        size = os.path.getsize(stripped) / 1024
    if architecture != 'x86_64':
        bench.skip(f'the stripped shared library has {size:.1f} KiB; the bound is for x86-64')
    met = size <= float(bound)
    print(f'size of the stripped shared library: {size:.1f} KiB, bound {bound}, {"ok" if met else "OVER"}')
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
