# SPDX-License-Identifier: MIT
"""amalgamate.py --slots: the library for a subset of the functions. It answers as the whole library does, on every
software driver and on the real drivers in the cache. A slot outside the subset does not compile.

usage: check_subsets.py SOFTCUDA_DIRECTORY COMPILER...
"""
import os
import re
import shutil
import sys
import unittest

from copies import AMALGAMATE, COMPILER, Case, Copy, ROOT, SOFTWARE_DRIVERS, SUBSETS, WARNINGS, run, write

sys.path.append(str(ROOT / 'tests' / 'drivers'))
import driver_library  # pylint: disable=wrong-import-position

SETTINGS = ({}, {'CUSHIM_MAX_VERSION': '10.0'}, {'CUSHIM_MAX_VERSION': '12.2'}, {'CUSHIM_HIDE': 'cuDeviceGet'},
            {'CUSHIM_HIDE': 'LaunchHostFunc_v1, cuStreamGetCaptureInfo, cuEventRecordWithFlags'})


class Subsets(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.polyfills = Copy(cls.scratch / 'polyfills', '--slots', SUBSETS / 'polyfills.txt')

    # ---- The files ----

    def test_subset_when_compiled_then_warns_nowhere(self):
        for compiler in (COMPILER, ['clang'], ['x86_64-w64-mingw32-gcc'], [*COMPILER, '-O2', '-fPIC']):
            for copy in (self.twenty, self.polyfills):
                if shutil.which(compiler[0]):
                    said = copy.compile('warned.o', '-Wshadow', '-Wdeclaration-after-statement',
                                        '-Wframe-larger-than=4096', '-c', copy.directory / 'cushim.c',
                                        compiler=compiler)
                    self.assertIsNone(said)

    def test_subset_when_included_by_cpp_then_warns_nowhere(self):
        if not shutil.which('g++'):
            self.skipTest('g++ is not installed')
        for copy in (self.twenty, self.polyfills):
            source = write(copy.directory / 'names.cpp', '#include "cushim_names.h"\n')
            done = run('g++', '-std=c++11', *WARNINGS[1:], '-DCUSHIM_OWN_TYPES=1', '-c', source, '-o', os.devnull)
            self.assertEqual((done.returncode, done.stdout), (0, ''))

    def test_subset_when_it_reaches_a_declaration_then_has_it_and_no_other(self):
        self.assertNotIn('CUgraphNodeParams', self.twenty.header)
        self.assertNotIn('cushim_layer', self.twenty.header)
        code = (self.twenty.directory / 'cushim.c').read_text(encoding='utf-8')
        self.assertNotIn('CUeglFrame', code)
        self.assertNotIn('CUDA_ERROR_ILLEGAL_ADDRESS', code)
        self.assertEqual(code.count('the releases of cushim that added slots'), 0)
        flags = self.make('flags', 'CtxCreate_v2 cuLaunchKernel', '--no-streams').header
        for flag in ('CU_CTX_SCHED_AUTO', 'CU_LAUNCH_PARAM_BUFFER_POINTER', 'CU_STREAM_PER_THREAD'):
            self.assertIn(flag, flags)
        frames = self.make('frames', 'cuEGLStreamProducerPresentFrame', '--no-streams')
        self.assertIsNone(frames.compile('frames.o', '-c', frames.directory / 'cushim.c'))

    def test_subset_when_written_then_defines_what_it_declares(self):
        for copy in (self.twenty, self.polyfills):
            self.assertIsNone(copy.compile('all.o', '-c', copy.directory / 'cushim.c'))
            defined = set(re.findall(r' [A-Z] (\w+)$', run('nm', copy.directory / 'all.o').stdout, re.M))
            names = re.findall(r'^#define cushim_\w+ (cushim_(?!table_|library_)\w+)$', copy.header, re.M)
            self.assertGreater(len(names), 20)
            self.assertLessEqual(set(names), defined)
            mark = names[0][-9:]
            self.assertEqual([name for name in defined if name.startswith('cush') and mark not in name], [])

    def test_header_when_written_then_lists_its_slots_and_the_command(self):
        self.assertIn('amalgamate.py --slots functions.txt --no-streams', self.twenty.header)
        self.assertIn('MemAlloc_v2', self.twenty.slots)
        self.assertNotIn('MemAlloc_v1', self.twenty.slots)
        rows = re.findall(r'^CUSHIM_ENTRY(?:_[A-Z_]+)?\((\w+), (v\d+),', self.twenty.header, re.M)
        self.assertEqual(sorted(f'{function}_{abi}' for function, abi in rows), sorted(self.twenty.slots))

    def test_polyfill_when_its_slot_is_chosen_then_is_kept(self):
        rules = (ROOT / 'loader' / 'polyfills.c').read_text(encoding='utf-8')
        slots = dict.fromkeys(re.findall(r'^    RULE\w*\((?:\d+, )?(\w+_v\d+)', rules, re.M))
        self.assertGreater(len(slots), 20)
        for slot in slots:
            copy = self.make(slot, slot, '--no-streams')
            code = (copy.directory / 'cushim.c').read_text(encoding='utf-8')
            for pattern in (rf'^(CUresult CUDAAPI (SHARED_)?POLYFILL|PARAM_COUNT)\({slot}\b', rf'^    RULE\w*\((\d+, )?{slot},'):
                self.assertIsNotNone(re.search(pattern, code, re.M), f'{slot}: {pattern}')
            self.assertIsNone(copy.compile('kept.o', '-fsyntax-only', copy.directory / 'cushim.c'))

    def test_file_when_it_names_an_unknown_function_then_is_refused(self):
        for text, expected in (('cuStreamQuery cuNoSuchFunction', 'cuNoSuchFunction'), ('# none', 'no function')):
            listed = write(self.scratch / 'unknown.txt', text)
            done = run(sys.executable, AMALGAMATE, '--slots', listed, self.scratch)
            self.assertEqual(done.returncode, 1)
            self.assertIn(expected, done.stdout)
            self.assertFalse((self.scratch / 'cushim.h').exists())

    def test_file_when_written_by_any_editor_then_its_names_are_read(self):
        texts = {'latin.c': 'int gr\xf6\xdfe; /* cuMemFree */ cuInit(0); // cuMemAlloc\n'.encode('latin-1'),
                 'strings.c': rb'glob("*/*"); say("// \" /*"); c = \'"\'; cuInit(0); /* cuMemFree */',
                 'functions.def': b'#define ALL(X) \\\n    X(cuInit, 2000) /* cuMemFree */ \\\n    X(some_other)\n',
                 'bom.txt': '\ufeffcuInit, # cuMemFree\r\n'.encode(), 'many.txt': b'cuInit,cuInit Init_v1 cuInit'}
        for name, text in texts.items():
            path = self.scratch / name
            path.write_bytes(text)
            copy = Copy(self.scratch / name.replace('.', '_'), '--slots', path, '--no-streams')
            self.assertIn('Init_v1', copy.slots, name)
            self.assertFalse({'MemAlloc_v2', 'MemFree_v2'} & set(copy.slots), name)

    def test_request_when_it_cannot_be_met_then_one_sentence_and_no_file_changes(self):
        kept = self.make('kept', 'cuInit', '--no-streams').directory
        (kept / 'cushim_untyped.h.new').mkdir()
        before = {path: path.read_bytes() for path in kept.glob('*.[ch]')}
        listed = write(self.scratch / 'kept.txt', 'cuStreamQuery')
        empty = write(self.scratch / 'empty.txt', '')
        for words, expected in ((['--slots', listed, kept], 'No file was changed'),
                                (['--slots', listed, listed], 'kept.txt is not a directory'),
                                (['--slots', empty, self.scratch / 'nowhere'], 'no function'),
                                (['--slots', self.scratch / 'no-list', kept], 'no-list'),
                                (['--slots', self.scratch, kept], 'directory'),
                                (['--slots', empty, kept], 'no function'),
                                (['--no-streams', kept], '--no-streams needs --slots'),
                                (['--layers', kept], '--layers needs --slots'),
                                (['--companions', kept], '--companions needs --slots'),
                                (['--gpus', kept], '--gpus needs --slots'), ([listed], 'kept.txt')):
            done = run(sys.executable, AMALGAMATE, *words)
            self.assertNotEqual(done.returncode, 0, words)
            self.assertIn(expected, done.stdout)
            self.assertNotIn('Traceback', done.stdout)
        self.assertEqual({path: path.read_bytes() for path in kept.glob('*.[ch]')}, before)
        self.assertEqual([path.name for path in kept.glob('*.new')], ['cushim_untyped.h.new'])
        self.assertFalse((self.scratch / 'nowhere').exists())

    def test_directory_when_it_does_not_exist_then_it_is_made(self):
        directory = self.scratch / 'new' / 'directory'
        done = run(sys.executable, AMALGAMATE, '--slots', write(self.scratch / 'one.txt', 'cuInit'), directory)
        self.assertEqual((done.returncode, done.stdout), (0, ''))
        self.assertTrue((directory / 'cushim.c').exists())

    def test_untyped_header_when_used_then_needs_no_types_of_cuda(self):
        for copy in (self.twenty, self.whole):
            for compiler in (COMPILER, ['clang'], ['x86_64-w64-mingw32-gcc']):
                if shutil.which(compiler[0]):
                    self.assertIsNone(copy.compile('untyped.o', '-c', SUBSETS / 'untyped.c', compiler=compiler))
            program = copy.program('untyped', '-flto', SUBSETS / 'untyped.c')
            self.must_pass(program, 'none', CUSHIM_DRIVER='none')
            for driver in SOFTWARE_DRIVERS.values():
                self.must_pass(program, 'driver', CUSHIM_DRIVER=str(driver))
                self.must_pass(program, 'driver', CUSHIM_DRIVER=str(driver), CUSHIM_MAX_VERSION='6.5')

    def compile_call(self, copy, call, compiler):
        source = write(copy.directory / 'call.c', f'''#include "cushim_names.h"
CUresult call(void);
CUresult call(void)
{{
    CUdeviceptr memory;
    CUcontext context;
    (void)memory, (void)context;
    return {call};
}}
''')
        return copy.compile('call.o', '-c', '-Wno-uninitialized', source, compiler=compiler)

    def test_slot_when_outside_the_subset_then_does_not_compile(self):
        context = self.make('context', 'CtxCreate_v2 cuMemAlloc', '--no-streams')
        inside = ('cushim_table()->MemAlloc_v2(&memory, 1)', 'cuMemAlloc(&memory, 1)', 'cuMemAlloc_v2(&memory, 1)',
                  'cuCtxCreate_v2(&context, 0, 0)')
        outside = ('cushim_table()->MemAllocAsync_v1(&memory, 1, 0)', 'cuCtxCreate(&context, 0, 0, 0)',
                   'cuCtxCreate_v3(&context, 0, 0, 0, 0)')
        for compiler in (COMPILER, ['clang'], ['x86_64-w64-mingw32-gcc']):
            if not shutil.which(compiler[0]):
                continue
            for call in inside:
                self.assertIsNone(self.compile_call(context, call, compiler), call)
            for call in outside:
                self.assertIn('cushim_table_without_that_slot_see_the_head_of_cushim_h',
                              self.compile_call(context, call, compiler) or '', call)

    def test_source_when_named_then_its_calls_are_the_subset(self):
        copy = Copy(self.scratch / 'source', '--slots', SUBSETS / 'parts.c', '--slots',
                    ROOT / 'tests' / 'examples' / 'vector_add.c')
        self.assertIn('DeviceGetCount_v1', copy.slots)
        self.assertIn('LaunchKernel_v1', copy.slots)
        self.assertNotIn('MemAllocAsync_v1', copy.slots)

    def test_directory_when_it_has_attributes_then_they_stay(self):
        attributes = self.twenty.directory / '.gitattributes'
        self.assertIn('cushim.c linguist-generated\n', attributes.read_text(encoding='utf-8'))
        kept = self.make('attributes', 'cuInit', '--no-streams').directory
        write(kept / '.gitattributes', '* text\n')
        run(sys.executable, AMALGAMATE, kept)
        self.assertEqual((kept / '.gitattributes').read_text(encoding='utf-8'), '* text\n')

    # ---- The same answers ----

    def compare(self, copy, driver, settings):
        environment = {**driver_library.environment_for(str(driver)), 'CUSHIM_DRIVER': str(driver), **settings}
        programs = [one.directory / f'answers_{copy.directory.name}' for one in (copy, self.whole)]
        said = [run(program, *copy.slots, **environment) for program in programs]
        self.assertEqual(said[0].returncode, said[1].returncode)
        self.assertMultiLineEqual(said[0].stdout, said[1].stdout, f'{driver} {settings}')
        self.assertGreater(len(said[0].stdout.splitlines()), 1000 if driver != 'none' else 500)

    def test_answers_when_compared_with_the_whole_library_then_are_equal(self):
        drivers = [*SOFTWARE_DRIVERS.values(), *(path for _, path in driver_library.cached_drivers()), 'none']
        for copy in (self.twenty, self.polyfills):
            for one in (copy, self.whole):
                one.program(f'answers_{copy.directory.name}', SUBSETS / 'answers.c')
            for driver in drivers:
                for settings in SETTINGS:
                    self.compare(copy, driver, settings)
        print(f'{2 * len(drivers) * len(SETTINGS)} comparisons, {len(drivers)} drivers')

    # ---- Functions outside the subset ----

    def test_lookup_when_outside_the_subset_then_finds_the_version_or_nothing(self):
        program = self.twenty.program('hazards', SUBSETS / 'hazards.c')
        for branch, driver in SOFTWARE_DRIVERS.items():
            can_be_asked = branch >= 470  # CUDA 11.3 has the first cuGetProcAddress
            for function, symbol in (('cuMemHostGetDevicePointer', 'cuMemHostGetDevicePointer_v2'),
                                     ('cuMemsetD8', 'cuMemsetD8_v2')):
                self.must_pass(program, 'find' if can_be_asked else 'lack', function, '6050', symbol,
                               CUSHIM_DRIVER=str(driver))

    def test_hide_when_a_name_is_outside_the_subset_then_the_load_succeeds_and_it_is_hidden(self):
        program = self.twenty.program('hazards', SUBSETS / 'hazards.c')
        for driver in SOFTWARE_DRIVERS.values():
            environment = {'CUSHIM_DRIVER': str(driver), 'CUSHIM_HIDE': 'cuMemsetD8,cuMemAlloc'}
            self.must_pass(program, 'missing', 'MemAlloc_v2', **environment)
            self.must_pass(program, 'lack', 'cuMemsetD8', '6050', '-', **environment)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
