# SPDX-License-Identifier: MIT
"""amalgamate.py --slots: the library for a subset of the functions. It answers as the whole library does, on every
software driver and on the real drivers in the cache. A slot outside the subset does not compile.

usage: check_subsets.py SOFTCUDA_DIRECTORY COMPILER...
"""
import json
import os
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from copies import (AMALGAMATE, COMPILER, Copy, LIBRARIES, NEWEST, PROGRAM, ROOT, SOFTWARE_DRIVERS, SUBSETS, WARNINGS,
                    run, write)

sys.path.append(str(ROOT / 'tests' / 'drivers'))
import driver_library  # pylint: disable=wrong-import-position

SETTINGS = ({}, {'CUSHIM_MAX_VERSION': '10.0'}, {'CUSHIM_MAX_VERSION': '12.2'}, {'CUSHIM_HIDE': 'cuDeviceGet'},
            {'CUSHIM_HIDE': 'LaunchHostFunc_v1, cuStreamGetCaptureInfo, cuEventRecordWithFlags'})


AUDIT = ROOT / 'subprojects' / 'cushim-audit' / 'cushim-audit'
LAYER = r'''
#include "cushim.h"
static CUresult CUDAAPI no_devices(int *count)
{
    *count = 0;
    return CUDA_SUCCESS;
}
static CUresult install(struct cushim_dispatch_table *table, const struct cushim_dispatch_table *next,
                        const enum cushim_slot_state *states, enum cushim_default_stream kind, void *user)
{
    (void)next, (void)states, (void)kind, (void)user;
    table->DeviceGetCount_v1 = no_devices;
    return CUDA_SUCCESS;
}
static struct cushim_layer layer = CUSHIM_LAYER("none", install, NULL);
CUSHIM_LAYER_ENTRY(layer)
'''
PLUGIN = r'''
#include "cushim.h"
__attribute__((visibility("default"))) int plugin_load(void);
int plugin_load(void)
{
    return cushim_load(NULL) == CUDA_SUCCESS && cushim_table()->Init_v1(0) == CUDA_SUCCESS;
}
'''
NAMES_NVENC = r'''
__attribute__((visibility("default"))) const char *plugin_library(void);
const char *plugin_library(void)
{
#if defined(_WIN32)
    return "nvEncodeAPI64.dll";
#else
    return "libnvidia-encode.so.1";
#endif
}
'''
HOST = r'''
#include <dlfcn.h>
int main(int count, char **words)
{
    void *plugin = dlopen(words[count - 1], RTLD_NOW);
    int (*load)(void) = (int (*)(void))dlsym(plugin, "plugin_load");
    if (!load())
        return 1;
    dlclose(plugin);
    return dlopen(words[count - 1], RTLD_NOW | RTLD_NOLOAD) == 0;
}
'''


class Subsets(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.scratch = pathlib.Path(tempfile.mkdtemp())
        cls.addClassCleanup(shutil.rmtree, cls.scratch)
        cls.twenty = Copy(cls.scratch / 'twenty', '--slots', SUBSETS / 'functions.txt', '--no-streams')
        cls.polyfills = Copy(cls.scratch / 'polyfills', '--slots', SUBSETS / 'polyfills.txt')
        cls.whole = Copy(cls.scratch / 'whole')

    def make(self, name, words, *options):
        listed = write(self.scratch / f'{name}.txt', words)
        return Copy(self.scratch / name, '--slots', listed, *options)

    def must_pass(self, *command, **environment):
        done = run(*command, **environment)
        self.assertEqual(done.returncode, 0, f'{command} {environment}\n{done.stdout}')
        return done.stdout

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
            for pattern in (rf'^(CUresult CUDAAPI POLYFILL|PARAM_COUNT)\({slot}\b', rf'^    RULE\w*\((\d+, )?{slot},'):
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

    def test_companions_when_asked_for_then_are_there_and_answer_without_a_driver(self):
        self.assertNotIn('companion', self.twenty.header)
        self.assertNotIn('companion', (self.twenty.directory / 'cushim.c').read_text(encoding='utf-8'))
        copy = self.make('companions', 'cuInit', '--no-streams', '--companions')
        self.assertIn('--no-streams --companions DIRECTORY', copy.header)
        for header in ('cushim.h', 'cushim_untyped.h'):
            source = write(copy.directory / 'nvml.c', f"""#include "{header}"
int main(void)
{{
    return cushim_companion_get(CUSHIM_COMPANION_NVML)->reason != CUSHIM_REASON_NOT_FOUND
           || cushim_companion_symbol(CUSHIM_COMPANION_NVML, "nvmlInit_v2");
}}
""")
            self.must_pass(copy.program('nvml', source), CUSHIM_DRIVER='none')

    def test_cuew_when_the_copy_is_a_subset_then_the_program_works_and_has_no_other_function(self):
        if not shutil.which('g++'):
            self.skipTest('g++ is not installed')
        source = ROOT / 'tests' / 'compat' / 'cuew.cpp'
        copy = Copy(self.scratch / 'cuew', '--slots', source, '--no-streams')
        (copy.directory / 'cushim').symlink_to('.')
        self.assertNotIn('StreamQuery_v1', copy.slots)
        self.assertIsNone(copy.compile('cushim.o', '-DCUSHIM_OWN_TYPES=1', '-c', copy.directory / 'cushim.c'))
        flags = ['-std=c++11', *WARNINGS[1:], f'-I{copy.directory}', f'-I{ROOT / "include" / "cushim" / "compat"}']
        program = copy.directory / 'program'
        done = run('g++', *flags, source, copy.directory / 'cushim.o', *LIBRARIES, '-o', program)
        self.assertEqual((done.returncode, done.stdout), (0, ''))
        self.must_pass(program, 'none', CUSHIM_DRIVER='none')
        for driver in SOFTWARE_DRIVERS.values():
            self.must_pass(program, 'gpu', CUSHIM_DRIVER=str(driver))
        for version, how in ((3020, 'none'), (4000, 'found')): # cuew refuses drivers before CUDA 4.0
            fake = write(copy.directory / 'old.c', f'''int cuInit(unsigned), cuDriverGetVersion(int *);
int cuInit(unsigned flags) {{ return flags != 0; }}
int cuDriverGetVersion(int *version) {{ *version = {version}; return 0; }}
''')
            self.assertIsNone(copy.compile('old.so', '-shared', '-fPIC', fake))
            self.must_pass(program, how, CUSHIM_DRIVER=str(copy.directory / 'old.so'))
        outside = write(copy.directory / 'outside.cpp', '#include <cuew.h>\nint use() { return cuStreamQuery(0); }\n')
        self.assertIn('cuStreamQuery', run('g++', *flags, '-c', outside, '-o', os.devnull).stdout)

    def test_gpus_when_asked_for_then_are_there_and_answer_without_a_driver(self):
        self.assertNotIn('struct cushim_gpu', self.twenty.header)
        self.assertNotIn('nvmlInit', (self.twenty.directory / 'cushim.c').read_text(encoding='utf-8'))
        copy = self.make('gpus', 'cuInit', '--no-streams', '--gpus')
        self.assertIn('--no-streams --companions --gpus DIRECTORY', copy.header)
        for header in ('cushim.h', 'cushim_untyped.h'):
            source = write(copy.directory / 'gpus.c', f"""#include "{header}"
int main(void)
{{
    struct cushim_gpus all;
    return cushim_gpu_find(0, 0, 0, &all) != 0 || cushim_is_started() != CUSHIM_START_NO || all.count < 0;
}}
""")
            self.must_pass(copy.program('gpus', source), CUSHIM_DRIVER='none')

    def test_record_when_a_copy_is_built_in_any_way_then_audit_excuses_its_look_ups(self):
        """Stripped, with link-time optimisation, without unused sections, as a DLL; and what the program says counts:
        the need of --require, and a library that it names itself."""
        needy = self.make('needy', 'cuInit cuStreamGetId', '--no-streams', '--companions', '--require', 'cuStreamGetId')
        builds = [(COMPILER, flags) for flags in (['-O2'], ['-O2', '-flto', '-s'],
                                                  ['-O2', '-ffunction-sections', '-fdata-sections', '-Wl,--gc-sections'])]
        builds += [(['x86_64-w64-mingw32-gcc'], ['-O2', '-s'])]
        for compiler, flags in builds:
            if not shutil.which(compiler[0]):
                continue
            for copy, first, video in (self.twenty, None, []), (self.whole, None, []), (needy, '12.0', ['NVENC']):
                source = write(copy.directory / 'plugin.c', PLUGIN + (NAMES_NVENC if video else ''))
                libraries = LIBRARIES if compiler == COMPILER else []
                said = copy.compile('plugin.so', *flags, '-shared', *([] if 'mingw' in compiler[0] else ['-fPIC']),
                                    '-fvisibility=hidden', source, copy.directory / 'cushim.c', *libraries, compiler=compiler)
                self.assertIsNone(said)
                done = run(sys.executable, AUDIT, '--format=json', copy.directory / 'plugin.so')
                file = json.loads(done.stdout)['files'][0]
                found = file['first_driver'] and file['first_driver']['cuda_version']
                self.assertEqual((found, file['lookups'], file['video']), (first, [], video), flags)
                self.assertEqual([one['whole'] for one in file['cushim']], [copy is self.whole])
                if copy is not self.whole:
                    self.assertEqual(file['cushim'][0]['slots'], len(copy.slots))

    def test_condition_when_it_is_on_gpus_then_a_subset_without_them_says_so(self):
        with_gpus = self.make('asked', 'cuInit', '--no-streams', '--gpus')
        for copy, code, name in (self.twenty, 801, 'cpu'), (with_gpus, 0, 'gpu'):
            for header in ('cushim.h', 'cushim_untyped.h'):
                source = write(copy.directory / 'choose.c', f"""#include "{header}"
#include <string.h>
int main(void)
{{
    const char *name = "cpu";
    return cushim_choose("gpu: arch>=2.0; cpu", &name) != {code} || strcmp(name, "{name}") != 0
           || cushim_choose("new: cuda>=99.0; old: cuda>=6.5", &name) != 0 || strcmp(name, "old") != 0;
}}
""")
                program = copy.program('choose', source)
                for driver in SOFTWARE_DRIVERS.values():
                    self.must_pass(program, CUSHIM_DRIVER=str(driver))

    def test_nvrtc_when_asked_for_then_is_there_and_answers_without_a_driver(self):
        self.assertNotIn('cushim_nvrtc', self.twenty.header)
        self.assertNotIn('libnvrtc', (self.twenty.directory / 'cushim.c').read_text(encoding='utf-8'))
        copy = self.make('nvrtc', 'cuInit', '--no-streams', '--nvrtc')
        self.assertIn('--no-streams --companions --gpus --nvrtc DIRECTORY', copy.header)
        for header in ('cushim.h', 'cushim_untyped.h'):
            source = write(copy.directory / 'nvrtc.c', f"""#include "{header}"
static struct cushim_nvrtc nvrtc;
int main(void)
{{
    return cushim_nvrtc_find(0, &nvrtc) != 0 || nvrtc.driver != 0 || (nvrtc.handle == 0) != (nvrtc.version == 0);
}}
""")
            self.must_pass(copy.program('nvrtc', source), CUSHIM_DRIVER='none')

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

    def test_layer_when_built_for_another_table_then_is_refused_with_a_sentence(self):
        copies = {'whole': self.whole, 'layered': self.make('layered', 'cuDeviceGetCount', '--no-streams', '--layers'),
                  'other': self.make('other', 'cuStreamQuery', '--no-streams', '--layers'), 'without': self.twenty}
        for name, copy in copies.items():
            if name != 'without':
                source = write(copy.directory / 'layer.c', LAYER)
                self.assertIsNone(copy.compile('layer.so', '-shared', '-fPIC', source))
        for name, copy in copies.items():
            program = copy.program('layers', SUBSETS / 'hazards.c')
            for built_for, other in copies.items():
                if built_for != 'without':
                    said = self.must_pass(program, 'layered' if built_for == name else 'refused',
                                          CUSHIM_DRIVER=str(NEWEST), CUSHIM_LAYERS=str(other.directory / 'layer.so'))
                    self.assertEqual('no layers (amalgamate.py --slots without --layers)' in said, name == 'without')

    # ---- The program cushim ----

    def test_program_when_it_has_a_subset_then_exec_and_trace_reach_it(self):
        if not PROGRAM.exists():
            self.skipTest('this build has no program cushim')
        program = self.twenty.program('reached', SUBSETS / 'hazards.c')
        for limit, expected in (('13.0', 0), ('6.5', 1)):
            done = run(PROGRAM, 'exec', '--softcuda', max(SOFTWARE_DRIVERS), '--max-version', limit, '--', program,
                       'find', 'cuStreamGetId', '12000', 'cuStreamGetId')
            self.assertEqual(done.returncode, expected, done.stdout)
        source = write(self.twenty.directory / 'traced.c', """#include "cushim_names.h"
int main(void)
{
    CUcontext context;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuDevicePrimaryCtxRelease(0);
}
""")
        traced = self.twenty.program('traced', source)
        said = self.must_pass(PROGRAM, 'trace', '--softcuda', max(SOFTWARE_DRIVERS), '-o',
                              self.twenty.directory / 'traced.trace', '--', traced)
        self.assertIn('cuDevicePrimaryCtxRetain', said)

    # ---- Several copies ----

    def test_copies_when_their_slots_are_equal_then_link_into_one_program(self):
        objects = []
        for name, words in (('plain', 'cuMemAlloc cuMemFree'), ('slots', 'MemAlloc_v2 MemFree_v2 # the same')):
            copy = self.make(f'equal_{name}', words, '--no-streams')
            self.assertIsNone(copy.compile('copy.o', '-c', copy.directory / 'cushim.c'))
            part = write(copy.directory / 'part.c', f'''#include "cushim.h"
int load_{name}(void);
int load_{name}(void)
{{
    return cushim_load(NULL) == CUDA_SUCCESS;
}}
''')
            self.assertIsNone(copy.compile('part.o', '-c', part))
            objects += [copy.directory / 'copy.o', copy.directory / 'part.o']
        both = write(self.scratch / 'both.c', 'int load_plain(void);\nint load_slots(void);\n'
                     'int main(void)\n{\n    return !load_plain() || !load_slots();\n}\n')
        self.assertIsNone(self.twenty.compile('both', both, *objects, *LIBRARIES))
        self.must_pass(self.twenty.directory / 'both', CUSHIM_DRIVER=str(NEWEST))

    def check_parts(self, directory, *flags, **environment):
        """Two subsets and the whole library in one static link."""
        first = ('--slots', SUBSETS / 'functions.txt', '--no-streams', '--layers')
        copies = {'first': Copy(directory / 'first', *first), 'whole': self.whole,
                  'second': Copy(directory / 'second', '--slots', SUBSETS / 'polyfills.txt', '--layers')}
        objects = []
        for name, copy in copies.items():
            for output, *words in ((f'{directory.name}_copy.o', copy.directory / 'cushim.c'),
                                   (f'{directory.name}_part.o', SUBSETS / 'parts.c', f'-DPART={name}')):
                self.assertIsNone(copy.compile(output, '-c', *flags, *words))
                objects.append(copy.directory / output)
        program = f'{directory.name}_parts'
        self.assertIsNone(self.whole.compile(program, *flags, SUBSETS / 'parts_main.c', *objects, *LIBRARIES))
        self.must_pass(self.whole.directory / program, CUSHIM_DRIVER=str(NEWEST), **environment)

    def test_copies_when_in_one_static_link_then_share_nothing(self):
        for name, flags in (('plain', ['-O0']), ('optimised', ['-O2', '-flto'])):
            (self.scratch / name).mkdir()
            self.check_parts(self.scratch / name, *flags)

    def test_copies_when_run_with_sanitizers_then_nothing_is_found(self):
        probe = write(self.scratch / 'probe.c', 'int main(void)\n{\n    return 0;\n}\n')
        run_with = []
        for flag in ('-fsanitize=address,undefined', '-fsanitize=thread'):
            if self.whole.compile('probe', flag, probe):
                continue
            run_with.append(flag)
            directory = self.scratch / f'sanitized_{len(run_with)}'
            directory.mkdir()
            self.check_parts(directory, '-O0', flag, '-fno-sanitize-recover=all',
                             ASAN_OPTIONS='detect_leaks=0', TSAN_OPTIONS='halt_on_error=1')
        print('sanitizers:', ', '.join(run_with) or 'none')
        if not run_with:
            self.skipTest('no compiler has a sanitizer')

    def test_plug_in_when_it_has_loaded_then_stays_mapped(self):
        copy = self.make('plugin', 'cuInit', '--no-streams')
        source = write(copy.directory / 'plugin.c', PLUGIN)
        said = copy.compile('plugin.so', '-shared', '-fPIC', copy.directory / 'cushim.c', source, *LIBRARIES)
        self.assertIsNone(said)
        exported = run('nm', '-D', '--defined-only', copy.directory / 'plugin.so').stdout.split()[2::3]
        self.assertEqual([name for name in exported if name not in ('_init', '_fini')], ['plugin_load'])
        host = write(copy.directory / 'host.c', HOST)
        self.assertIsNone(copy.compile('host', '-Wno-pedantic', host, '-ldl'))
        self.must_pass(copy.directory / 'host', copy.directory / 'plugin.so', CUSHIM_DRIVER=str(NEWEST))


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
