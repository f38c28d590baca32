# SPDX-License-Identifier: MIT
"""amalgamate.py --link: a subset with the functions that compiled objects call, in place of -lcuda.

usage: check_link.py SOFTCUDA_DIRECTORY COMPILER...
"""
import pathlib
import re
import shutil
import sys
import tempfile
import unittest

from copies import AMALGAMATE, COMPILER, Copy, LIBRARIES, NEWEST, run, write

LINKED_NAMES = {'cuInit', 'cuDeviceGetCount', 'cuMemAlloc_v2', 'cuStreamQuery_ptsz', 'cuGetErrorString'}
LINKED = r'''
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
int cuInit(unsigned), cuDeviceGetCount(int *), cuGetErrorString(int, const char **);
int cuMemAlloc_v2(void *, size_t), cuStreamQuery_ptsz(void *);
#ifdef __cplusplus
}
#endif
int main(int count, char **words)
{
    const char *text = "";
    int result = cuInit(0), devices = 0;
    if (result != 0) {
        cuGetErrorString(result, &text);
        printf("%s\n", text);
        return 1;
    }
    if (count > 1) /* not called */
        return cuMemAlloc_v2(words, 1) | cuStreamQuery_ptsz(words);
    return cuDeviceGetCount(&devices) != 0 || devices == 0;
}
'''


class Link(unittest.TestCase):
    def setUp(self):
        self.scratch = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.scratch)

    def test_objects_when_linked_then_their_functions_are_the_subset(self):
        directory = self.scratch / 'linked'
        directory.mkdir()
        source = write(directory / 'app.c', LINKED)
        common = ['-c', source, '-o']
        plain = [*COMPILER, *common]
        objects = {'plain.o': plain, 'lto.o': [*COMPILER, '-flto', '-c', source, '-o'],
                   'clang.o': ['clang', '-flto', '-c', source, '-o'], 'mingw.o': ['x86_64-w64-mingw32-gcc', *common],
                   'cpp.o': ['g++', '-xc++', *common], 'app.a': ['ar', 'rc']}
        written = set()
        for name, command in objects.items():
            if not shutil.which(command[0]):
                continue
            last = [directory / 'plain.o'] if name == 'app.a' else []
            self.assertEqual(run(*command, directory / name, *last).returncode, 0, name)
            copy = Copy(self.scratch / f'linked_{name}', '--no-streams', '--link', directory / name)
            self.assertIn(' * run the command', copy.header)
            written.add((copy.directory / 'cushim_cuda.c').read_text(encoding='utf-8'))
        self.assertEqual(len(written), 1)
        self.assertEqual(set(re.findall(r'CUSHIM_EXPORT\((cu\w+)', written.pop())), LINKED_NAMES)
        program = copy.directory / 'app'
        parts = [copy.directory / 'cushim.c', copy.directory / 'cushim_cuda.c']
        self.assertIsNone(copy.compile('app', directory / 'plain.o', *parts, *LIBRARIES))
        self.assertRegex(run(program, LD_LIBRARY_PATH='/nowhere').stdout, 'no NVIDIA driver library|neither an NVIDIA GPU')
        done = run(program, CUSHIM_DRIVER=str(NEWEST))
        self.assertEqual(done.returncode, 0, done.stdout)
        for compiler in (['clang'], ['x86_64-w64-mingw32-gcc']):
            if shutil.which(compiler[0]):
                self.assertIsNone(copy.compile('names.o', '-c', parts[1], compiler=compiler))
        more = write(directory / 'more.c', 'int cuCtxSynchronize(void);\nint more(void);\n'
                     'int more(void)\n{\n    return cuCtxSynchronize();\n}\n')
        self.assertIn('cuCtxSynchronize', copy.compile('app', more, directory / 'plain.o', *parts, *LIBRARIES))
        self.assertEqual(run(*COMPILER, '-c', more, '-o', directory / 'more.o').returncode, 0)
        both = Copy(self.scratch / 'linked_both', '--no-streams', '--link', directory / 'plain.o', '--link',
                    directory / 'more.o')
        written = (both.directory / 'cushim_cuda.c').read_text(encoding='utf-8')
        self.assertEqual(set(re.findall(r'CUSHIM_EXPORT\((cu\w+)', written)), LINKED_NAMES | {'cuCtxSynchronize'})

    def test_object_when_it_cannot_be_linked_then_one_sentence(self):
        directory = self.scratch / 'unlinked'
        directory.mkdir()
        (directory / 'msvc.obj').write_bytes(b'\x64\x86\x03\x00 cuInit .text @comp.id')
        write(directory / 'text.o', 'cuInit')
        source = write(directory / 'none.c', 'int none;\n')
        self.assertEqual(run(*COMPILER, '-c', source, '-o', directory / 'none.o').returncode, 0)
        for name, expected in (('msvc.obj', 'object of MSVC. Use --slots'), ('text.o', 'NM can name another tool'),
                               ('none.o', 'no function of the driver is called'), ('missing.o', 'No such file')):
            done = run(sys.executable, AMALGAMATE, '--link', directory / name,
                       directory)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn(expected, done.stdout)
            self.assertEqual(done.stdout.count('\n'), 1, done.stdout)
        for variables, expected in (({'NM': 'no-such-nm'}, 'no-such-nm, which the variable NM names, cannot be started'),
                                    ({'PATH': str(directory), 'NM': ''}, 'is installed')):
            done = run(sys.executable, AMALGAMATE, '--link', directory / 'none.o', directory, **variables)
            self.assertIn(expected, done.stdout)
            self.assertEqual((done.returncode, done.stdout.count('\n')), (1, 1), done.stdout)


if __name__ == '__main__':
    unittest.main(argv=sys.argv[:1])
