# SPDX-License-Identifier: MIT
"""check_alone.py SOFTCUDA HEADERS LISTS - builds a copy of softcuda alone, with copies of what cushim gives it: the
headers and the lists.

The copies have no parent directory in common with this tree, so a path into the parent would not be found.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

NEEDED = ('entry_points.py', 'entry_points.tsv', 'drivers.tsv', 'error_names.h', 'errors.inc')


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f'{command}:\n{done.stdout}')


def main(softcuda, headers, lists):
    if shutil.which('meson') is None:
        print('skipped: there is no command meson')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        shutil.copytree(softcuda, directory / 'alone')
        shutil.copytree(headers, directory / 'headers')
        (directory / 'lists').mkdir()
        for name in NEEDED:
            shutil.copy(pathlib.Path(lists, name), directory / 'lists')
        build = directory / 'build'
        run('meson', 'setup', '--buildtype=plain', f'-Dheaders={directory / "headers"}', f'-Dlists={directory / "lists"}',
            build, directory / 'alone')
        run('meson', 'compile', '-C', build)
        libraries = sorted(build.glob('*/libcuda.so.1'))
        if not libraries:
            sys.exit('no library was built')
        print(f'{len(libraries)} libraries')


main(*sys.argv[1:])
