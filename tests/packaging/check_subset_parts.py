# SPDX-License-Identifier: MIT
"""The parts of the library that a subset has only when asked (amalgamate.py --companions, --gpus, --nvrtc, --layers),
and how cushim exec, cushim trace, cushim audit and <cuew.h> treat a subset.

usage: check_subset_parts.py SOFTCUDA_DIRECTORY COMPILER...
"""
import json
import os
import shutil
import sys
import unittest

from copies import (COMPILER, Case, Copy, LIBRARIES, NEWEST, PLUGIN, PROGRAM, ROOT, SOFTWARE_DRIVERS, SUBSETS, WARNINGS,
                    run, write)

AUDIT = ROOT / 'subprojects' / 'cushim-audit' / 'cushim-audit'

# An option, the options that a copy with it has, a word of the header and one of the source that no other copy has, a
# variable, and a condition that holds without a driver.
PARTS = {
    '--companions': ('--companions', 'companion', 'cushim_companion', '',
                     'cushim_companion_get(CUSHIM_COMPANION_NVML)->reason == CUSHIM_REASON_NOT_FOUND '
                     '&& !cushim_companion_symbol(CUSHIM_COMPANION_NVML, "nvmlInit_v2")'),
    '--gpus': ('--companions --gpus', 'struct cushim_gpu', 'nvmlInit', 'static struct cushim_gpus gpus;',
               'cushim_gpu_find(0, 0, 0, &gpus) == 0 && cushim_is_started() == CUSHIM_START_NO && gpus.count >= 0'),
    '--nvrtc': ('--companions --gpus --nvrtc', 'cushim_nvrtc', 'libnvrtc', 'static struct cushim_nvrtc nvrtc;',
                'cushim_nvrtc_find(0, &nvrtc) == 0 && nvrtc.driver == 0 '
                '&& (nvrtc.handle == 0) == (nvrtc.version == 0)'),
}

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


class Parts(Case):
    def test_part_when_asked_for_then_is_there_and_answers_without_a_driver(self):
        source_of_twenty = (self.twenty.directory / 'cushim.c').read_text(encoding='utf-8')
        for option, (options, in_header, in_source, variable, condition) in PARTS.items():
            self.assertNotIn(in_header, self.twenty.header)
            self.assertNotIn(in_source, source_of_twenty)
            copy = self.make(option.strip('-'), 'cuInit', '--no-streams', option)
            self.assertIn(f'--no-streams {options} DIRECTORY', copy.header)
            for header in ('cushim.h', 'cushim_untyped.h'):
                source = write(copy.directory / 'part.c', f"""#include "{header}"
{variable}
int main(void)
{{
    return !({condition});
}}
""")
                self.must_pass(copy.program('part', source), CUSHIM_DRIVER='none')

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
                    functions = {slot.rpartition('_')[0] for slot in copy.slots}
                    self.assertEqual(file['cushim'][0]['functions'], len(functions))

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


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
