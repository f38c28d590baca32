# SPDX-License-Identifier: MIT
"""cushim/ffnvcodec.h and compat/ffnvcodec compile without a warning with each version of nv-codec-headers.

usage: check_ffnvcodec.py COMPILER...

The directories with the versions stand in the variable NV_CODEC_HEADERS, separated by colons, in place of the one that
is installed (Debian: libffmpeg-nvenc-dev).
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / 'include'
WARNINGS = ['-Wall', '-Wextra', '-Werror', '-fsyntax-only']
C11 = ['-std=c11', '-Wpedantic']
WAYS = {'hooks': [], 'subset': ['-DNO_COMPANIONS'], 'unchanged': ['-DUNCHANGED', f'-I{INCLUDE / "cushim" / "compat"}']}


def compilers(given):
    """{name: command}, C and C++, of those that are installed. Old versions of the original are not pedantic C++."""
    found = {given[0]: [*given, *C11], 'clang': ['clang', *C11], 'mingw': ['x86_64-w64-mingw32-gcc', *C11],
             'g++': ['g++', '-std=c++11', '-xc++']}
    return {name: command for name, command in found.items() if shutil.which(command[0])}


def main(*compiler):
    directories = os.environ.get('NV_CODEC_HEADERS', '/usr/include').split(':')
    count = failed = 0
    for directory in map(pathlib.Path, directories):
        if not (directory / 'ffnvcodec' / 'dynlink_loader.h').exists():
            print(f'{directory} has no nv-codec-headers')
            continue
        for name, command in compilers(compiler).items():
            for way, flags in WAYS.items():
                own = [] if directory == pathlib.Path('/usr/include') else [f'-I{directory}']
                if name == 'mingw' and not own:
                    own = ['-idirafter', directory]
                done = subprocess.run([*command, *WARNINGS, *flags, f'-I{INCLUDE}', *own, HERE / 'ffnvcodec.c'],
                                      check=False)
                count += 1
                failed += done.returncode != 0
                print(f'{directory} {name} {way}: {"ok" if done.returncode == 0 else "FAILED"}', flush=True)
    if count == 0:
        print('skipped: nv-codec-headers are not installed (Debian: libffmpeg-nvenc-dev)')
        return 77
    return 1 if failed else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
