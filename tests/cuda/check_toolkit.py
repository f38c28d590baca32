# SPDX-License-Identifier: MIT
"""program.cpp, compiled with the <cuda.h> of a Toolkit, runs with the drop-in library and no driver, and on softcuda.
With "-include cushim/names.h" instead, a program needs no name of the driver; without, nm shows the ones it needs.

usage: check_toolkit.py LIBCUSHIM_CUDA SOFTCUDA ARGUMENT...     arguments of the tests in tests/headers
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / 'headers'))
import support  # pylint: disable=wrong-import-position

PORTED = '#include <cuda.h>\nint main(void)\n{\n    return cuInit(0) || cuMemFree(0);\n}\n'


def run(command, **more):
    print('$', *command, flush=True)
    return subprocess.run(command, check=False, env={**os.environ, **more}).returncode


def check_names(setting, output):
    failures = []
    for flags, needed in ([], {'cuInit', 'cuMemFree_v2'}), (['-include', 'cushim/names.h'], set()):
        status, said = setting.c.run(PORTED, [*setting.toolkit, *flags], output)
        listed = '' if status else subprocess.check_output(['nm', '-u', output], text=True)
        if status or set(re.findall(r'\bcu[A-Z]\w+', listed)) != needed:
            failures.append(f'{flags}:\n{said}{listed}')
    return failures


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
        failures += check_names(setting, os.path.join(directory, 'object.o'))
    support.finish(failures)


main()
