# SPDX-License-Identifier: MIT
"""Shared by the header tests: the compilers, the Toolkit in use, and a parser for each of our lists."""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / 'loader' / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADERS = ROOT / 'include' / 'cushim'
STUBS = pathlib.Path(__file__).resolve().parent / 'stubs'
WARNINGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Werror']
OWN = ['-DCUSHIM_OWN_TYPES=1']
# The CUDA version of our types and names.
NEWEST = max(one.version for one in lists.read())
PER_THREAD = ['-DCUDA_API_PER_THREAD_DEFAULT_STREAM']


def skip(why):
    print('skipped: ' + why)
    sys.exit(77)


def cached_toolkit(version):
    """The headers of a Toolkit that tests/drivers/fetch-toolkit got."""
    listed = subprocess.run([ROOT / 'tests' / 'drivers' / 'fetch-toolkit', '--list'], stdout=subprocess.PIPE, text=True,
                            check=True)
    for line in listed.stdout.splitlines():
        if line.split()[0] == version:
            return os.path.join(line.split()[1], 'include')
    skip(f'there are no headers of CUDA {version} here; tests/drivers/fetch-toolkit {version} gets them')


class Language:
    """One compiler with one standard."""

    def __init__(self, command, name, standard):
        self.command, self.name, self.standard = command, name, standard
        self.suffix = '.cpp' if name == 'c++' else '.c'

    def __str__(self):
        return self.standard

    def run(self, source, flags, output=None):
        """Compiles `source`; without `output`, only checks it. Returns the exit status and the compiler's output."""
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'test' + self.suffix)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(source)
            what = ['-fsyntax-only'] if output is None else ['-c', '-o', output]
            command = [*self.command, '-std=' + self.standard, '-I', str(HEADERS.parent), *flags, *what, path]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            return done.returncode, done.stdout.decode(errors='replace')

    def preprocess(self, source, flags):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, 'test' + self.suffix)
            with open(path, 'w', encoding='utf-8') as file:
                file.write(source)
            command = [*self.command, '-std=' + self.standard, '-I', str(HEADERS.parent), *flags, '-E', '-P', path]
            done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
            if done.returncode:
                sys.exit('cannot preprocess:\n' + done.stderr.decode(errors='replace'))
            return done.stdout.decode(errors='replace')


class Setting:
    """The build's arguments to a test: the compilers, and the directory of a <cuda.h>, if there is one."""

    def __init__(self):
        parser = argparse.ArgumentParser()
        parser.add_argument('--cc', required=True, help='the C compiler, as one command line')
        parser.add_argument('--cxx', default='', help='the C++ compiler, likewise; may be left out')
        parser.add_argument('--cuda-h', action='store_true', help='there is a <cuda.h>')
        parser.add_argument('--toolkit-include', default='', help='its directory, if the compiler does not look there')
        parser.add_argument('--cached', default='', help='instead, the version of a Toolkit that fetch-toolkit got')
        parser.add_argument('--installed', nargs='*', default=None, help='the headers that the build installs')
        given = parser.parse_args()
        if given.cached:
            given.toolkit_include = cached_toolkit(given.cached)
        # With a Toolkit of the cache, the tests leave out the checks of our own types alone.
        self.cached = bool(given.cached)
        self.installed = given.installed
        self.cc = shlex.split(given.cc)
        self.cxx = shlex.split(given.cxx)
        self.c = Language(self.cc, 'c', 'c11')
        self.languages = [self.c]
        if self.cxx:
            self.languages.append(Language(self.cxx, 'c++', 'c++17'))
        self.toolkit = ['-isystem', given.toolkit_include] if given.toolkit_include else []
        # Without the option and without a <cuda.h> of the system, the tests that need one are skipped.
        self.have_cuda_h = given.cuda_h or bool(given.toolkit_include)
        self.version = 0
        if self.have_cuda_h:
            found = re.search(r'^@(\d+)', self.c.preprocess('#include <cuda.h>\n@CUDA_VERSION\n', self.toolkit), re.M)
            self.version = int(found[1])
            print(f'Toolkit headers of CUDA {self.version // 1000}.{self.version % 1000 // 10}')

    def need_toolkit(self):
        if not self.have_cuda_h:
            skip('no <cuda.h>; the option toolkit_include names a directory that has one')

    def include_directory(self):
        """Where <cuda.h> is."""
        source = '#include <cuda.h>\n'
        for word in self.c.preprocess(source, [*self.toolkit, '-M']).split():
            if word.endswith('/cuda.h'):
                return os.path.dirname(word)
        sys.exit('the compiler does not say where <cuda.h> is')

    def has_header(self, name):
        return self.c.run(includes([name]) + 'int any;\n', [*self.toolkit, *stub_flags()])[0] == 0


def includes(headers):
    """Toolkit headers. That for VDPAU includes neither <cuda.h> nor VDPAU's own header."""
    return ''.join(f'#include <{header}>\n' for header in ['cuda.h', 'vdpau/vdpau.h', *headers])


def stub_flags():
    """The system's headers of OpenGL, EGL and VDPAU if they exist, else ours."""
    return ['-idirafter', str(STUBS)]


def each(function, items):
    """Applies a function to all items, two at a time, and returns the results in order."""
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(function, items))


def finish(failures):
    """Ends the test, and prints each failure."""
    for failure in failures:
        print('FAILED: ' + failure)
    sys.exit(1 if failures else 0)


def read(path):
    return pathlib.Path(path).read_text(encoding='utf-8')


def strip_comments(text):
    return re.sub(r'/\*.*?\*/', ' ', text, flags=re.S)


class Row:
    """One row of entry_points.h."""

    def __init__(self, function, abi, since, parameters, arguments):
        self.function, self.abi, self.since = function, abi, int(since)
        self.parameters, self.arguments = ' '.join(parameters.split()), ' '.join(arguments.split())
        self.slot = f'{function}_{abi}'
        # The name of this entry point in C: the oldest has no suffix.
        self.name = 'cu' + function + ('' if abi == 'v1' else '_' + abi)


def rows():
    """All rows of entry_points.h, in order."""
    text = strip_comments(read(HEADERS / 'entry_points.h'))
    found = [Row(*match) for match in re.findall(
        r'^CUSHIM_ENTRY(?:_[A-Z_]+)?\((\w+), (v\d+), (\d+),\s*\(([^()]*)\),\s*\(([^()]*)\)\)$', text, re.M)]
    if len(found) != len(re.findall(r'^CUSHIM_ENTRY', text, re.M)) or not found:
        sys.exit('entry_points.h: a row is not of the form that its head describes')
    return found
