# SPDX-License-Identifier: MIT
"""loader/amalgamation/cffi_header.py: Python calls the driver through cushim. With the shared library, and with an extension that
contains a subset of cushim.

usage: cffi_program.py LIBRARY DRIVER COMPILER...
"""
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
SET = ROOT / 'tests' / 'packaging' / 'subsets' / 'functions.txt'
try:
    import cffi
    import setuptools  # pylint: disable=unused-import # cffi compiles with it
except ImportError as error:
    print(f'skipped: {error} (Debian: python3-cffi, python3-setuptools)')
    sys.exit(77)
if not os.path.exists(os.path.join(sysconfig.get_path('include'), 'Python.h')):
    print('skipped: Python.h is not installed (Debian: python3-dev)')
    sys.exit(77)


def declarations(header, compiler):
    return subprocess.run([sys.executable, '-B', ROOT / 'loader' / 'amalgamation' / 'cffi_header.py', header, *compiler],
                          stdout=subprocess.PIPE, text=True, check=True).stdout


def call(ffi, library, slots):
    """Calls two slots and compares the size of the table with the number of its slots."""
    if ffi.sizeof('struct cushim_dispatch_table') != slots * ffi.sizeof('void *'):
        sys.exit(f'the table has another size than {slots} slots')
    if library.cushim_load(ffi.NULL) != 0:
        sys.exit(ffi.string(library.cushim_diagnosis_get().message).decode())
    table, version, count = library.cushim_table_get(0), ffi.new('int *'), ffi.new('int *')
    if table.DriverGetVersion_v1(version) or table.Init_v1(0) or table.DeviceGetCount_v1(count):
        sys.exit('a call failed')
    print(f'{slots} slots, CUDA {version[0]}, {count[0]} device')
    if version[0] != library.cushim_driver_version() or count[0] < 1:
        sys.exit('the answers are wrong')


def main(library, driver, *compiler):
    os.environ.update(CUSHIM_DRIVER=driver, CC=' '.join(compiler))
    ffi = cffi.FFI()
    ffi.cdef(declarations(ROOT / 'include' / 'cushim' / 'cushim.h', compiler))
    shared = ffi.dlopen(library)
    call(ffi, shared, shared.CUSHIM_SLOT_COUNT)
    with tempfile.TemporaryDirectory() as directory:
        writer = ROOT / 'loader' / 'amalgamation' / 'amalgamate.py'
        subprocess.run([sys.executable, '-B', writer, '--slots', SET, '--no-streams', directory], check=True)
        builder = cffi.FFI()
        builder.cdef(declarations(pathlib.Path(directory) / 'cushim.h', compiler))
        # cffi compiles each constant, and a pointer only as a number.
        subprocess.run([sys.executable, '-B', ROOT / 'loader' / 'lists' / 'registry.py', '-o', directory + '/cushim.json',
                        '--constants', directory + '/cushim_constants.h', *compiler], check=True)
        builder.set_source('gpu_of_set', '#include "cushim.h"\n#include "cushim_constants.h"',
                           sources=[directory + '/cushim.c'], include_dirs=[directory],
                           define_macros=[('CUSHIM_OWN_TYPES', '1')], libraries=['dl', 'pthread'])
        builder.compile(tmpdir=directory)
        sys.path.insert(0, directory)
        import gpu_of_set  # pylint: disable=import-error,import-outside-toplevel
        call(gpu_of_set.ffi, gpu_of_set.lib, gpu_of_set.lib.CUSHIM_SLOT_COUNT)


if __name__ == '__main__':
    main(*sys.argv[1:])
