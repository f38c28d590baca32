# SPDX-License-Identifier: MIT
"""Several copies of cushim in one program, and a copy in a plug-in: they share nothing.

usage: check_subset_copies.py SOFTCUDA_DIRECTORY COMPILER...
"""
import sys
import unittest

from copies import Case, Copy, LIBRARIES, NEWEST, PLUGIN, SUBSETS, run, write

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


class Copies(Case):
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
