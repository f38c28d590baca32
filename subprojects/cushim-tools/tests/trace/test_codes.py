#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Results that say by themselves what is wrong: a program that follows the advice succeeds. And results that are
answers, findings that repeat, and names of any bytes."""
import csv
import io
import json
import os
import pathlib
import re
import shutil

from traced import HERE, KNOWN, PROGRAMS, Traced, main, run

CODES = os.path.join(PROGRAMS, 'codes')
TRACE = pathlib.Path(HERE).parents[3] / 'subprojects' / 'cushim-tools' / 'trace'

# The program, the function that fails, its result, and the advice.
ROWS = (
    ('uninitialized', 'cuDeviceGetCount', 'NOT_INITIALIZED', r'call cuInit\(0\) first, and check its result'),
    ('forked', 'cuDeviceGet', 'NOT_INITIALIZED', r'create the child before cuInit, or start a program in it .*'),
    ('forked-early', 'cuDeviceGet', 'NOT_INITIALIZED', r'in it: call cuInit\(0\) first or, if its parent .*'),
    ('ending', 'cuEventDestroy_v2', 'DEINITIALIZED', r'release what it needs before main\(\) returns'),
    ('no-device', 'cuInit', 'NO_DEVICE', '`cushim doctor` shows why'),
    ('other-device', 'cuDeviceGet', 'INVALID_DEVICE', 'and CUDA_VISIBLE_DEVICES can hide some'),
    ('image', 'cuModuleLoadData', 'INVALID_IMAGE', '`cushim audit FILE` shows what a file has'),
    ('no-binary', 'cuModuleLoadData', 'NO_BINARY_FOR_GPU', 'add this GPU to -arch or -gencode of the build, or PTX'),
    ('ptx', 'cuModuleLoadData', 'INVALID_PTX', 'cuModuleLoadDataEx with CU_JIT_ERROR_LOG_BUFFER, names its line'),
    ('compiler', 'cuModuleLoadData', 'JIT_COMPILER_NOT_FOUND', '`cushim doctor` shows why; .*'),
    ('ptx-version', 'cuModuleLoadData', 'UNSUPPORTED_PTX_VERSION', 'update the driver, use an older toolkit, or .*'),
    ('disabled', 'cuModuleLoadData', 'JIT_COMPILATION_DISABLED', 'unset CUDA_DISABLE_PTX_JIT, or build for this GPU'),
    ('not-ready', 'cuInit', 'SYSTEM_NOT_READY', '`cushim doctor` shows which one'),
    ('mismatch', 'cuInit', 'SYSTEM_DRIVER_MISMATCH', 'install the same one, and restart'),
    ('no-symbol', 'cuModuleGetFunction', 'NOT_FOUND', 'names of C.. are mangled unless .*'),
    ('no-symbol-of-library', 'cuLibraryGetKernel', 'NOT_FOUND', 'names of C.. are mangled unless .*'),
    ('update', 'cuGraphExecUpdate_v2', 'GRAPH_EXEC_UPDATE_FAILURE',
     r'\(CU_GRAPH_EXEC_UPDATE_ERROR_TOPOLOGY_CHANGED\): instantiate the new graph instead'),
)

NAMES = (b'operator""_km', b'a\x01b\x1f\x7f\xc2\x80', b'\xff\xfe<\xc3', b'"\\",\n</script>')


class Codes(Traced):
    def test_advice_when_followed_then_program_succeeds(self):
        for name, function, result, advice in ROWS:
            with self.subTest(name):
                self.trace(CODES, name, 'wrong', status=None)
                found = self.findings()['Why calls failed']
                self.assertEqual(len(found), 1, found)
                self.assertRegex(found[0][3], f'^{function} returned CUDA_ERROR_{result}: .*{advice}$')
                self.trace(CODES, name, 'right')
                self.assertEqual(self.report('--findings'), 'Nothing was found.\n')

    def test_child_when_it_cannot_initialize_then_its_parent_had(self):
        self.trace(CODES, 'forked-late', 'wrong')
        texts = [text for *_, text in self.findings()['Why calls failed']]
        self.assertEqual([text.split()[0] for text in texts], ['cuInit', 'cuDeviceGet'])
        for text in texts:
            self.assertIn('a child of fork(), and its parent had initialized the driver, which works', text)

    def test_advice_when_it_names_a_command_then_that_command_answers(self):
        image = os.path.join(self.directory(), 'a.ptx')
        pathlib.Path(image).write_text('.version 8.0\n.target sm_80\n.address_size 64\n', encoding='ascii')
        self.assertIn(b'driver 525 or newer', run('audit', image).out)
        for word in ('doctor', 'audit'):
            self.assertEqual(run(word, '--help').status, 0)

    def test_answers_when_program_gets_each_then_nothing_is_found(self):
        rows = re.findall(r'^TRACE_ANSWER\((cu\w+), \w+, (\w+), "(.*)"\)$',
                          (TRACE / 'file' / 'answers.inc').read_text(encoding='utf-8'), re.M)
        expected = sorted({(function, meaning) for function, asker, meaning in rows if asker != 'CUDA_LIBRARY'})
        self.trace(CODES, 'answers', 'right')
        self.assertEqual(self.report('--findings'), 'Nothing was found.\n')
        lines = self.report().split('\nAnswers that are not failures:\n')[1].split('\n\n')[0].splitlines()
        found = [re.fullmatch(r' +1  (\w+?)(?:_v2)?: (.*)', line).groups() for line in lines]
        self.assertEqual(sorted(set(found)), expected)

    def test_answers_when_a_library_of_cuda_asks_then_only_its_result_is_one(self):
        library = os.path.join(self.directory(), 'libnccl-codes')
        shutil.copy(CODES, library)
        self.trace(library, 'answers', 'wrong')
        self.assertEqual(self.report('--findings'), 'Nothing was found.\n')
        self.assertIn('  cuLibraryGetKernel: a kernel was not for this GPU\n', self.report())
        self.trace(CODES, 'answers', 'wrong')
        self.assertRegex(self.findings()['Why calls failed'][0][3], '^cuLibraryGetKernel returned .*_NO_BINARY_FOR_GPU')

    def test_verdict_when_a_failed_call_has_no_reason_then_is_counted(self):
        self.trace(CODES, 'uninitialized', 'right', SOFTCUDA_FAIL='cuDeviceGetCount:1=999', status=1)
        self.assertEqual(self.report('--findings'),
                         'No reason was found for 1 failed call: --calls --errors shows each failed call.\n')

    def test_verdict_when_failures_are_too_many_then_says_how_many_were_not_examined(self):
        self.trace(KNOWN, 'count', '12000')

        def fail(_, words):
            words[0] |= 3 << 29 # not initialized
        self.change(fail)
        self.assertEqual(self.report('--findings').splitlines()[0],
                         '2000 failed calls were not examined, because 10000 before them had a reason: --calls --errors '
                         'shows each failed call.')

    def test_reason_when_many_failures_before_have_none_then_is_found(self):
        self.trace('/bin/sh', '-c', f'{KNOWN} count 10001; {CODES} uninitialized wrong', status=1)

        def fail(_, words):
            words[0] += 999 << 29 if words[0] >> 29 & 0xffff == 0 else 0
        self.change(fail)
        self.assertIn('call cuInit(0) first', self.report('--findings'))

    def test_findings_when_equal_but_for_numbers_then_are_one_with_a_count(self):
        self.trace(CODES, 'repeated', 'wrong')
        lines = [line for line in self.report('--findings').splitlines() if 'cuMemFree_v2 returned' in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertRegex(lines[0], r'already freed .*: free it once \(5 times, the last one at \d+\.\d{6} s\)$')
        event, = [one for one in self.events() if one.get('cat') == 'finding']
        self.assertEqual(event['args']['times'], 5)
        page = self.report('--format=html')
        meaning = json.loads(page.split('<script id="trace" type="application/json">')[1].split('</script>')[0])
        finding, = [one for one in meaning['findings'] if one['isBad']]
        self.assertEqual((finding['count'], len(set(finding['calls'][::2]))), (5, 5))

    def test_findings_when_of_the_same_call_then_are_told_apart(self):
        self.trace(CODES, 'unjoined', 'wrong')
        found = self.findings()['Captures with streams that were not joined']
        streams = [re.search(r': (stream \d) joined', text)[1] for _, _, _, text in found]
        self.assertEqual(sorted(streams), ['stream 2', 'stream 3'])

    def test_names_when_of_any_bytes_then_each_format_is_valid(self):
        for name in NAMES:
            with self.subTest(name):
                self.trace(CODES, 'name', 'wrong', KERNEL_NAME=name)
                for event in self.events():
                    self.assertNotRegex(event['name'], r'[\0-\x09\x0b-\x1f]')
                rows = list(csv.reader(io.StringIO(self.report('--format=csv'), newline='')))
                self.assertEqual({len(row) for row in rows}, {8})
                for text in (self.report(), self.report('--calls'), self.report('--format=csv')):
                    self.assertNotRegex(text, r'[\0-\x09\x0b-\x1f\x7f-\x9f]')
                page = self.report('--format=html')
                self.assertEqual(page.count('</script'), 3)
                json.loads(page.split('<script id="trace" type="application/json">')[1].split('</script>')[0])


if __name__ == '__main__':
    main()
