# SPDX-License-Identifier: MIT
"""A program that needs a newer release than its library does not start or link, and the error names that release. A
program that was built with an older release runs on a newer library.

usage: check_compatibility.py [--shared LIBRARY] [--static LIBRARY] [--wine WINE --objdump OBJDUMP] COMPILER...

The libraries are those of the build; without them, the test builds both. The newer release is this tree with another
slot, added as loader/lists/README.md says.

Windows does not start a program whose import table names a function that a DLL lacks. Wine starts it, with a stub in
place of the function, and ends it when it calls the stub. So on Windows, the test shows by the tables of the program and
of the DLL that Windows would refuse the program, and that it ends under Wine with the name of the function.
"""
import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = r'''
#include <stdio.h>
#include "cushim/cushim.h"
int main(void)
{
    const struct cushim_dispatch_table *before = cushim_table();
    int count = -1;
    if (cushim_load(NULL) == CUDA_SUCCESS || cushim_table() == before)
        return 2; /* The library did not store the pointer that this program reads. */
#ifdef NEWER
    if (cushim_table()->FutureFunction_v1(&count) != CUDA_ERROR_NO_DEVICE)
        return 3;
#endif
    printf("%d on %d\n", CUSHIM_VERSION, cushim_version());
    return cushim_table()->DeviceGetCount_v1(&count) != CUDA_SUCCESS || count != 0;
}
'''
PER_THREAD = '-DCUDA_API_PER_THREAD_DEFAULT_STREAM'
# The ways to build a program: flags of the compiler and of the linker.
WAYS = {
    'LTO': (['-O2', '-flto'], ['-flto']),
    'gc-sections': (['-O2', '-ffunction-sections', '-fdata-sections'], ['-Wl,--gc-sections']),
    'per-thread': ([PER_THREAD], []),
}
ELF_WAYS = {
    'pie': (['-fPIE'], ['-pie']),
    'no-pie': (['-fno-pie'], ['-no-pie']),
    'no-pie, per-thread': (['-fno-pie', PER_THREAD], ['-no-pie']),
    'lazy binding': (['-fPIE'], ['-pie', '-Wl,-z,lazy']),
}

STATIC = ([], ['-static'])

parser = argparse.ArgumentParser()
parser.add_argument('--shared', type=pathlib.Path)
parser.add_argument('--static', type=pathlib.Path)
parser.add_argument('--wine')
parser.add_argument('--objdump')
parser.add_argument('compiler', nargs='+')
given = parser.parse_args()
WINDOWS = given.wine is not None
LIBRARIES = ['-static-libgcc'] if WINDOWS else ['-lpthread', '-ldl']
if not WINDOWS:
    WAYS.update(ELF_WAYS)


def run(*command, **more):
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          errors='replace', check=False, **more)
    return done.returncode, done.stdout


def must_run(*command):
    status, said = run(*command)
    if status:
        sys.exit(f'{" ".join(map(str, command))}\n{said}')


def replace(path, pattern, text):
    """Replaces the only match of a pattern in a file."""
    after, count = re.subn(pattern, text, path.read_text(encoding='utf-8'), flags=re.M)
    assert count == 1, f'{path}: {count} matches of {pattern}'
    path.write_text(after, encoding='utf-8')


class Release:
    """The sources of a release, and its libraries."""

    def __init__(self, root, shared=None, static=None):
        self.root, self.shared, self.static, self.plain = root, shared, static, None
        rows = self.find('table_releases.h', r'^CUSHIM_TABLE_VERSION\((\w+), (\d+)\)$')
        self.table, self.slots = rows[-1][0], int(rows[-1][1])
        self.major, self.minor, patch = map(int, self.find('version.h', r'^#define CUSHIM_VERSION_[MP]\w+ (\d+)'))
        self.number = 10000 * self.major + 100 * self.minor + patch

    def find(self, header, pattern):
        return re.findall(pattern, (self.root / 'include' / 'cushim' / header).read_text(encoding='utf-8'), re.M)

    def compile(self, directory):
        """Compiles every source of the library, those in the command of include/README.md, and returns the objects."""
        command = re.search(r'^\$ cc ((?:.*\\\n)*.*)', (ROOT / 'include' / 'README.md').read_text('utf-8'), re.M)[1]
        if WINDOWS:
            command = command.replace('/linux/', '/windows/').replace('/posix/', '/windows/')
        patterns = dict.fromkeys(re.findall(r'\S+/\*\.c', command))
        sources = [path for pattern in patterns for path in sorted(self.root.glob(pattern))]
        objects = [directory / f'{place}.o' for place in range(len(sources))]
        flags = ['-std=c11', '-DCUSHIM_OWN_TYPES=1', '-DCUSHIM_BUILD_SHARED', '-I', self.root / 'include']
        if not WINDOWS:
            flags += ['-fPIC', '-fvisibility=hidden']

        def compile_one(pair):
            must_run(*given.compiler, *flags, '-c', pair[0], '-o', pair[1])
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            list(pool.map(compile_one, zip(sources, objects)))
        return objects

    def build(self, directory):
        """Builds the libraries. On ELF systems there is another shared one, without versions of symbols."""
        objects = self.compile(directory)
        self.static = directory / 'libcushim.a'
        must_run('ar', 'rcs', self.static, *objects)
        if WINDOWS:
            to_import = f'-Wl,--out-implib,{directory}/libcushim.dll.a'
            self.shared = self.link(directory / given.shared.name, objects, to_import)
            return
        name = f'libcushim.so.{self.major}'
        soname, versions = f'-Wl,-soname,{name}', f'-Wl,--version-script,{self.root}/loader/exports.map'
        self.shared = self.link(directory / name, objects, soname, versions)
        (directory / 'plain').mkdir()
        self.plain = self.link(directory / 'plain' / name, objects, soname)

    @staticmethod
    def link(library, objects, *flags):
        must_run(*given.compiler, '-shared', *objects, '-o', library, *flags, *LIBRARIES)
        return library


def make_next_release(root):
    """Copies this tree and adds a slot."""
    for name in ('include', 'loader', 'src'):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns('__pycache__'))
    older = Release(root)
    table, headers = f'{older.major}_{older.minor + 1}', root / 'include' / 'cushim'
    pair = f'cushim_current_legacy_{table}; cushim_current_per_thread_{table};'
    replace(headers / 'version.h', r'(?<=^#define CUSHIM_VERSION_MINOR )\d+', str(older.minor + 1))
    replace(headers / 'entry_points.h', r'^(?=#undef CUSHIM_ENTRY$)',
            'CUSHIM_ENTRY(FutureFunction, v1, 99000, (int *value), (value))\n')
    replace(root / 'loader' / 'lists' / 'symbols.inc', r'^(?=#undef CUSHIM_SYMBOL$)',
            'CUSHIM_SYMBOL(FutureFunction, v1, 99000, "cuFutureFunction", none, all)\n')
    replace(headers / 'table_releases.h', rf'^CUSHIM_TABLE_VERSION\({older.table}, \d+\)$',
            rf'\g<0>\nCUSHIM_TABLE_VERSION({table}, {older.slots + 1})')
    for kind in ('legacy', 'per_thread'):
        replace(headers / 'table_releases.h', rf'(?<= cushim_current_{kind}_){older.table}$', table)
    with open(root / 'loader' / 'exports.map', 'a', encoding='utf-8') as file:
        file.write(f'CUSHIM_{table.replace("_", ".")} {{ global: {pair} }} CUSHIM_{older.table.replace("_", ".")};\n')
    return Release(root)


class Compatibility(unittest.TestCase):
    def each_way(self, check):
        for way in WAYS:
            with self.subTest(way):
                check(way)

    def build(self, way, release, library):
        """Builds the program with the headers of a release and a library. Returns the exit status and the output."""
        compile_flags, link_flags = WAYS.get(way, STATIC)
        self.program = scratch / f'{self.id().rpartition(".")[2]} {way}' / ('program.exe' if WINDOWS else 'program')
        self.program.parent.mkdir(exist_ok=True)
        source = self.program.with_suffix('.c')
        source.write_text(PROGRAM, encoding='utf-8')
        if release is next_release:
            compile_flags = [*compile_flags, '-DNEWER']
        if library in (this_release.static, next_release.static):
            compile_flags = [*compile_flags, '-DCUSHIM_STATIC']
        return run(*given.compiler, '-std=c11', '-DCUSHIM_OWN_TYPES=1', *compile_flags, '-I', release.root / 'include',
                   source, '-o', self.program, import_library(library), *link_flags, *LIBRARIES)

    def start(self, library):
        """Starts the program that was built last, with a shared library."""
        environment = {**os.environ, 'CUSHIM_DRIVER': 'none', 'LD_LIBRARY_PATH': str(library.parent), 'LC_ALL': 'C'}
        if not WINDOWS:
            return run(self.program, env=environment)
        shutil.copy(library, self.program.parent)
        status, said = run(given.wine, self.program, env=environment)
        return status, said.replace('\r\n', '\n')

    def assert_builds(self, way, release, library):
        status, said = self.build(way, release, library)
        self.assertEqual(status, 0, said)

    def assert_names_the_release(self, way, answer, versions=False):
        status, said = answer
        self.assertNotEqual(status, 0, said)
        kind = 'per_thread' if 'per-thread' in way else 'legacy'
        names = [f'cushim_current_{kind}_{next_release.table}']
        names += [f"version `CUSHIM_{next_release.table.replace('_', '.')}' not found"] if versions else []
        self.assertTrue(any(name in said for name in names), f'{names} in: {said}')

    def assert_windows_refuses(self, way, older, newer):
        """The program's import table names a function that the older DLL lacks. The newer DLL has all that it names."""
        wanted = f'cushim_current_{"per_thread" if "per-thread" in way else "legacy"}_{next_release.table}'
        imported = imports(self.program, older.name)
        self.assertIn(wanted, imported)
        self.assertNotIn(wanted, exports(older))
        self.assertLessEqual(imported, exports(newer))

    def test_program_when_built_with_this_release_then_runs_on_the_next(self):
        def check(way):
            self.assert_builds(way, this_release, this_release.shared)
            for release in (this_release, next_release):
                self.assertEqual(self.start(release.shared), (0, f'{this_release.number} on {release.number}\n'))
        self.each_way(check)

    def test_program_when_built_with_the_next_release_then_does_not_start_on_this_one(self):
        def check(way):
            for library in filter(None, (next_release.shared, next_release.plain)):
                self.assert_builds(way, next_release, library)
                self.assertEqual(self.start(library), (0, f'{next_release.number} on {next_release.number}\n'))
                answer = self.start(this_release.shared)
                self.assert_names_the_release(way, answer, versions=library is next_release.shared)
                if WINDOWS:
                    self.assert_windows_refuses(way, this_release.shared, next_release.shared)
        self.each_way(check)

    def test_program_when_linked_to_this_release_with_the_next_headers_then_does_not_link(self):
        def check(way):
            for library in filter(None, (this_release.shared, this_release.static)):
                self.assert_names_the_release(way, self.build(way, next_release, library))
        self.each_way(check)

    @unittest.skipIf(WINDOWS, 'on Windows, this is not another way to link')
    def test_static_program_when_linked_to_this_release_with_the_next_headers_then_does_not_link(self):
        self.assert_builds('static', this_release, this_release.static)
        self.assert_names_the_release('static', self.build('static', next_release, this_release.static))


def imports(program, library):
    """The names that a program for Windows imports from a DLL."""
    tables = run(given.objdump, '-p', program)[1].split('DLL Name: ')
    of_library = ''.join(table for table in tables if table.startswith(library))
    return set(re.findall(r'^\s+[0-9a-f]+\s+\d+\s+(\w+)\s*$', of_library, re.M))


def exports(library):
    """The names that a DLL exports."""
    table = run(given.objdump, '-p', library)[1].split('[Ordinal/Name Pointer] Table')[1]
    return set(re.findall(r'^\s*\[\s*\d+\].*?(\w+)$', table, re.M))


def import_library(library):
    """What a program links to use a shared library on Windows; elsewhere the library itself."""
    return library.parent / 'libcushim.dll.a' if WINDOWS and library.suffix == '.dll' else library


if __name__ == '__main__':
    if shutil.which(given.compiler[0]) is None:
        print(f'skipped: {given.compiler[0]} is not installed')
        sys.exit(77)
    if WINDOWS and run(given.wine, 'cmd', '/c', 'exit')[0] == 77:
        print('skipped: Wine is not installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        this_release = Release(ROOT, given.shared, given.static)
        if given.shared is None:
            (scratch / 'this').mkdir()
            this_release.build(scratch / 'this')
        next_release = make_next_release(scratch / 'next')
        next_release.build(scratch / 'next')
        unittest.main(argv=sys.argv[:1])
