# SPDX-License-Identifier: MIT
"""The script relink, on projects that need a driver, cannot be relinked, or do not behave as before.

usage: check_relink.py BUILD SOFTCUDA        SOFTCUDA: a libcuda.so.1
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
PROJECT = HERE.parent / 'packaging' / 'cmake-toolkit'
BUILD, DRIVER = map(os.path.realpath, sys.argv[1:3])

# One project, a program for each outcome.
LISTS = '''cmake_minimum_required(VERSION 3.17)
project(outcomes LANGUAGES C)
find_package(CUDAToolkit REQUIRED)
foreach(name good bound crashes differs timed none)
  add_executable(${name} ${name}.c)
endforeach()
foreach(name good bound crashes differs timed)
  target_link_libraries(${name} PRIVATE CUDA::cuda_driver ${CMAKE_DL_LIBS})
endforeach()
target_link_libraries(bound PRIVATE -Wl,--no-as-needed %s)
'''
SOURCES = {
    # The number of the process differs in each run, which is not a difference of the driver.
    'good': 'printf("%d\\n", (int)getpid()); return cuInit(0) ? 3 : 0;',
    'bound': 'return cuInit(0) != 0;',
    'crashes': 'if (cuInit(0) != 0) abort();',
    'differs': 'cuInit(0); puts(dlsym(RTLD_DEFAULT, "cuInit") != NULL ? "exported" : "hidden");',
    # Only the first run compiles. The original program takes the same time twice, the other one not.
    'timed': '''if (access("compiled", F_OK) != 0) puts("compiled");
        fclose(fopen("compiled", "w"));
        printf("Time= %d.5 msec\\n", strstr(getcwd(NULL, 0), "relinked") != NULL);
        return cuInit(0) ? 3 : 0;''',
    'none': '',
}
HEAD = '''#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int cuInit(unsigned);
int main(void) { '''


def make_toolkit(root):
    """A directory that FindCUDAToolkit takes for a Toolkit."""
    (root / 'include').mkdir(parents=True)
    (root / 'lib64').mkdir()
    (root / 'version.json').write_text('{"cuda": {"version": "12.4.1"}}')
    (root / 'version.txt').write_text('CUDA Version 12.4.1\n')  # for CMake before 3.26
    for header in ('cuda_runtime.h', 'cuda_runtime_api.h'):
        (root / 'include' / header).write_text('#define CUDART_VERSION 12040\n')
    shutil.copy(DRIVER, root / 'lib64' / 'libcuda.so')
    subprocess.run(['cc', '-shared', '-o', root / 'lib64' / 'libcudart.so', '-x', 'c', '/dev/null'], check=True)


class Relink(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        make_toolkit(self.scratch / 'toolkit')

    def relink(self, *directories):
        command = [HERE / 'relink', BUILD, *directories, '--', f'-DCUDAToolkit_ROOT={self.scratch}/toolkit']
        done = subprocess.run(command, stdout=subprocess.PIPE, env={**os.environ, 'CUSHIM_DRIVER': DRIVER}, check=False)
        print(done.stdout.decode())
        return done.returncode, done.stdout.decode().splitlines()

    def test_project_when_relinked_then_starts_without_a_driver_and_works_as_before(self):
        status, lines = self.relink(PROJECT)
        self.assertEqual((status, lines), (0, [
            'PASS  cmake-toolkit: builds with the drop-in library',
            'PASS  cmake-toolkit/linked: relinked, it does not need libcuda.so.1',
            'PASS  cmake-toolkit/linked: starts without a driver (exit status 0)',
            'PASS  cmake-toolkit/linked: on the driver, ends with 1 (before: 1), 1 lines of output compared, 0 not',
            '1 projects, 4 passed, 0 failed']))

    def test_programs_when_their_outcomes_differ_then_each_is_reported(self):
        project = self.scratch / 'sources' / 'outcomes'
        project.mkdir(parents=True)
        (project / 'CMakeLists.txt').write_text(LISTS % (self.scratch / 'toolkit' / 'lib64' / 'libcuda.so'))
        for name, body in SOURCES.items():
            (project / (name + '.c')).write_text(HEAD + body + ' }\n')
        status, lines = self.relink(project.parent)
        self.assertEqual(status, 1)
        self.assertEqual([line for line in lines if 'outcomes/' in line or 'became' in line], [
            'FAIL  outcomes/bound: relinked, it does not need libcuda.so.1',
            'PASS  outcomes/crashes: relinked, it does not need libcuda.so.1',
            'FAIL  outcomes/crashes: starts without a driver (exit status -6)',
            'PASS  outcomes/crashes: on the driver, ends with 0 (before: 0), 0 lines of output compared, 0 not',
            'PASS  outcomes/differs: relinked, it does not need libcuda.so.1',
            'PASS  outcomes/differs: starts without a driver (exit status 0)',
            'FAIL  outcomes/differs: on the driver, ends with 0 (before: 0), 1 lines of output compared, 0 not',
            "      'exported' became 'hidden'",
            'PASS  outcomes/good: relinked, it does not need libcuda.so.1',
            'PASS  outcomes/good: starts without a driver (exit status 3)',
            'PASS  outcomes/good: on the driver, ends with 0 (before: 0), 0 lines of output compared, 1 not',
            'PASS  outcomes/timed: relinked, it does not need libcuda.so.1',
            'PASS  outcomes/timed: starts without a driver (exit status 3)',
            'PASS  outcomes/timed: on the driver, ends with 0 (before: 0), 1 lines of output compared, 0 not'])

    def test_directory_when_nothing_needs_the_driver_then_skipped(self):
        self.assertEqual(self.relink(self.scratch / 'toolkit'), (77, ['0 projects, 0 passed, 0 failed']))


def architecture(path):
    return pathlib.Path(path).read_bytes()[18:20]


if architecture(DRIVER) != architecture(sys.executable):
    print('skipped: cc builds for another processor architecture than that of the driver')
    sys.exit(77)
for tool in ('cmake', 'readelf'):
    if shutil.which(tool) is None:
        print(f'skipped: {tool} is not installed')
        sys.exit(77)
unittest.main(argv=sys.argv[:1], verbosity=2)
