# SPDX-License-Identifier: MIT
"""program.cpp, compiled with the <cuda.h> of a Toolkit, runs with the drop-in library and no driver, and on softcuda.

usage: check_toolkit.py LIBCUSHIM_CUDA SOFTCUDA ARGUMENT...     arguments of the tests in tests/headers
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'headers'))
import support  # pylint: disable=wrong-import-position


def run(command, **more):
    print('$', *command, flush=True)
    return subprocess.run(command, check=False, env={**os.environ, **more}).returncode


def main():
    library, driver = sys.argv[1:3]
    del sys.argv[1:3]
    setting = support.Setting()
    setting.need_toolkit()
    failures = []
    with tempfile.TemporaryDirectory() as directory:
        for kind in ([], support.PER_THREAD):
            program = os.path.join(directory, 'program')
            command = [*setting.cxx, '-std=c++17', '-Wall', '-Wextra', '-Werror', *setting.toolkit, *kind,
                       HERE / 'program.cpp', '-o', program, library, '-ldl', '-lpthread']
            if run(command) or run([program, 'none'], CUSHIM_DRIVER='none') or run([program, 'gpu'], CUSHIM_DRIVER=driver):
                failures.append(' '.join(['program.cpp', *kind]))
    support.finish(failures)


main()
