# SPDX-License-Identifier: MIT
"""cushim.hpp with the amalgamation: every compiler and standard, the library with and without unwind tables, the address
sanitizer, subsets, a plug-in, and units with and without exceptions in one program.

usage: check_cpp.py SOFTCUDA_DIRECTORY COMPILER...
"""
import itertools
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import unittest

from copies import COMPILER, Copy, HERE, LIBRARIES, NEWEST, ROOT, SUBSETS, run, write

TESTS = ROOT / 'tests' / 'cpp'
SOURCES = sorted(TESTS.glob('*.cpp'))
CPP = HERE / 'cpp'
FLAGS = ['-Wall', '-Wextra', '-Wpedantic', '-Wshadow', '-Wconversion', '-Werror', '-Wno-unused-parameter',
         '-DCUSHIM_OWN_TYPES=1']
COMPILERS = [name for name in ('g++', 'clang++') if shutil.which(name)]
CROSS = [name for name in ('x86_64-w64-mingw32-g++-win32', 'x86_64-w64-mingw32-g++-posix') if shutil.which(name)]
TABLES = {'with tables': '-fasynchronous-unwind-tables', 'without tables': '-fno-asynchronous-unwind-tables'}
SANITIZER = ['-fsanitize=address', '-g']
# softcuda still has threads at the end, in which LeakSanitizer crashes, see subprojects/cushim-testing.
LEAKS = f'use_tls=0:print_suppressions=0:suppressions={ROOT}/subprojects/cushim-testing/lsan.supp'
# A name of the namespace cushim.
OF_HEADER = re.compile(r'_Z(T[VIS])?NK?6cushim')


def works(compiler, flags):
    """Returns whether programs can be built with these flags, which need a library."""
    with tempfile.TemporaryDirectory() as scratch:
        source = write(pathlib.Path(scratch) / 'any.cpp', 'int main() {}\n')
        return run(compiler, *flags, source, '-o', pathlib.Path(scratch) / 'any').returncode == 0


class Cpp(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not COMPILERS:
            raise unittest.SkipTest('neither g++ nor clang++ is installed')
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.whole = cls.copy('whole')

    @classmethod
    def copy(cls, name, *options):
        """A copy in a directory `cushim` of a directory of its own."""
        (cls.scratch / name).mkdir()
        return Copy(cls.scratch / name / 'cushim', *options)

    def must(self, *command, **environment):
        done = run(*command, **environment)
        self.assertEqual((done.returncode, 'warning' in done.stdout), (0, False), f'{command}\n{done.stdout}')
        return done.stdout

    def library(self, copy, *flags):
        """The object of cushim.c with these flags."""
        path = copy.directory / ('cushim' + ''.join(flags).replace('=', '-') + '.o')
        if not path.exists():
            self.must(*COMPILER, *flags, '-c', copy.directory / 'cushim.c', '-o', path)
        return path

    def object(self, compiler, source, *flags, copy=None, name=None):
        path = self.scratch / f'{name or pathlib.Path(source).stem}.o'
        self.must(compiler, '-std=c++11', *FLAGS, f'-I{(copy or self.whole).directory.parent}', *flags, '-c', source,
                  '-o', path)
        return path

    def program(self, compiler, *words):
        self.must(compiler, *words, *LIBRARIES, '-o', self.scratch / 'program')
        return self.scratch / 'program'

    # ---- Compilers ----

    def test_header_when_compiled_in_each_standard_then_warns_nowhere(self):
        standards = (['-std=c++11'], ['-std=c++11', '-fno-exceptions'], ['-std=c++17'], ['-std=c++20'])
        ways = list(itertools.product(COMPILERS + CROSS, standards, SOURCES))
        for compiler, flags, source in ways:
            self.must(compiler, *flags, *FLAGS, f'-I{self.whole.directory.parent}', '-fsyntax-only', source)
        print(f'{len(ways)} compilations: {" ".join(COMPILERS + CROSS)}')

    # ---- Exceptions and the unwind tables of the library ----

    def test_tests_when_the_library_has_tables_or_none_then_pass_also_with_the_sanitizer(self):
        for compiler in COMPILERS:
            for sanitizer in ([], SANITIZER) if works(compiler, SANITIZER) else ([],):
                objects = [self.object(compiler, source, *sanitizer) for source in SOURCES]
                for name, tables in TABLES.items():
                    program = self.program(compiler, *sanitizer, *objects, self.library(self.whole, tables))
                    said = self.must(program, CUSHIM_DRIVER=str(NEWEST), LSAN_OPTIONS=LEAKS)
                    print(compiler, *sanitizer, name, said.splitlines()[-1])

    def test_exception_when_it_leaves_a_body_of_c_then_the_tables_decide(self):
        """What the pages say of callbacks that are not those of cushim.hpp."""
        for compiler in COMPILERS:
            body = self.object(compiler, CPP / 'unguarded.cpp')
            for tables, expected in (('with tables', 0), ('without tables', -signal.SIGABRT)):
                program = self.program(compiler, body, self.library(self.whole, TABLES[tables]))
                done = run(program, 'body', CUSHIM_DRIVER=str(NEWEST))
                self.assertEqual(done.returncode, expected, f'{compiler}, {tables}\n{done.stdout}')

    def test_exception_when_it_leaves_a_function_that_is_called_later_then_the_process_ends(self):
        for compiler in COMPILERS:
            program = self.program(compiler, self.object(compiler, CPP / 'unguarded.cpp'),
                                   self.library(self.whole, TABLES['with tables']))
            for way in ('host', 'captured', 'inline', 'dispatched'):
                done = run(program, way, CUSHIM_DRIVER=str(NEWEST))
                self.assertEqual(done.returncode, -signal.SIGABRT, f'{compiler}, {way}\n{done.stdout}')
                self.assertIn('terminat', done.stdout)

    def test_program_when_one_unit_has_no_exceptions_then_the_other_keeps_its_own(self):
        for compiler in COMPILERS:
            units = [self.object(compiler, CPP / 'unit.cpp', '-O0', *flags, name=name) for name, flags in
                     (('with', ['-DRUN=run_with']), ('without', ['-DRUN=run_without', '-fno-exceptions']))]
            for ordered in (units, units[::-1]):
                program = self.program(compiler, *ordered, self.object(compiler, CPP / 'two_units.cpp'),
                                       self.library(self.whole, TABLES['without tables']))
                self.must(program, CUSHIM_DRIVER=str(NEWEST))

    # ---- Copies ----

    def symbols(self, path, *options):
        return {line.split()[0] for line in self.must('nm', '-P', '--defined-only', *options, path).splitlines()}

    def test_subsets_when_two_are_in_one_program_then_share_no_function(self):
        copies = [self.copy('first', '--slots', SUBSETS / 'polyfills.txt'),
                  self.copy('second', '--slots', write(self.scratch / 'list.txt', 'cuStreamQuery'))]
        for compiler in COMPILERS:
            objects = [self.object(compiler, CPP / 'unit.cpp', f'-DRUN={name}', copy=copy, name=name)
                       for name, copy in zip(('run_with', 'run_without'), copies)]
            shared = set.intersection(*(self.symbols(path) for path in objects))
            self.assertEqual([name for name in shared if OF_HEADER.match(name)], [])
            program = self.program(compiler, *objects, self.object(compiler, CPP / 'two_units.cpp'),
                                   *(self.library(copy) for copy in copies))
            self.must(program, CUSHIM_DRIVER=str(NEWEST))

    def test_subset_when_it_has_no_streams_then_has_errors_alone(self):
        copy = self.copy('errors', '--slots', SUBSETS / 'functions.txt', '--no-streams')
        for compiler in COMPILERS:
            program = self.program(compiler, self.object(compiler, CPP / 'errors_alone.cpp', copy=copy),
                                   self.library(copy))
            self.must(program, CUSHIM_DRIVER='none')

    def test_plugin_when_linked_then_no_function_of_the_header_can_be_replaced(self):
        for compiler in COMPILERS:
            unit = self.object(compiler, CPP / 'unit.cpp', '-O0', '-fPIC', '-DRUN=run_with')
            self.must(compiler, '-shared', unit, self.library(self.whole, '-fPIC'), *LIBRARIES, '-o',
                      self.scratch / 'plugin.so')
            names = [name for name in self.symbols(self.scratch / 'plugin.so', '-D') if OF_HEADER.match(name)]
            # What the compiler makes of the classes error and guard calls no function of cushim.
            self.assertEqual([name for name in names if not re.search(r'5error(E|D[0-2]Ev)$|5guard[CD][0-2]Ev$', name)],
                             [])


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
