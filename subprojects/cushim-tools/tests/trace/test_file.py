#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The file: how it is named, what can be wrong with it, and that other versions are refused."""
import json
import os
import random
import struct

from traced import KNOWN, LAYER, Traced, main, run, softcuda


class File(Traced):
    def run_with_layer(self, path):
        return run('run', '--driver', softcuda(580), CUSHIM_LAYERS=LAYER, CUSHIM_TRACE=path)

    def test_variable_when_layer_is_loaded_then_names_the_file(self):
        plain = run('run', '--softcuda', '580')
        answer = self.run_with_layer(self.file)
        self.assertEqual((answer.status, answer.err, answer.out.count(b'\n')), (0, b'', plain.out.count(b'\n')))
        count = len(self.calls())
        self.assertGreater(count, 100)
        self.run_with_layer(self.file)
        self.assertEqual(len(self.calls()), 2 * count)

    def test_variable_when_not_set_then_layer_is_refused(self):
        answer = run('run', '--driver', softcuda(580), CUSHIM_LAYERS=LAYER)
        self.assertEqual(answer.status, 1)
        self.assertIn(b'The layer "trace" could not be installed', answer.err)

    def test_variable_when_file_cannot_be_used_then_program_runs_and_file_is_unchanged(self):
        self.write(b'x' * 5000)
        answer = self.run_with_layer(self.file)
        self.assertEqual(answer.status, 0)
        self.assertIn(b'this file is not a trace', answer.err)
        self.assertEqual(self.read(), b'x' * 5000)
        answer = self.run_with_layer('/nowhere/a.trace')
        self.assertEqual((answer.status, answer.err.count(b'No such file')), (0, answer.err.count(b'\n')))

    def test_command_when_file_cannot_be_written_then_program_does_not_start(self):
        for self.file in ('/nowhere/a.trace', ''):
            self.assertEqual(self.trace(KNOWN, 'print', status=1).out, b'')

    def refused(self, data):
        self.write(data)
        answer = run('trace', 'report', self.file)
        self.assertEqual(answer.status, 1)
        return answer.err.decode()

    def test_report_when_file_is_not_a_trace_then_refused(self):
        self.assertIn('not a trace', self.refused(b''))
        self.assertIn('not a trace', self.refused(b'x' * 1000000))
        for path, why in (('/nowhere', b'No such file'), ('/dev/zero', b'not a trace'), ('/', b'not a trace')):
            answer = run('trace', 'report', path)
            self.assertEqual((answer.status, why in answer.err), (1, True), answer.err)

    def test_report_when_file_is_damaged_then_does_not_crash(self):
        self.trace(KNOWN, 'calls')
        whole = self.read()
        chance = random.Random(1)
        used = whole.rstrip(b'\0')
        for number in range(150):
            data = bytearray(whole)
            for _ in range(chance.randrange(1, 20)):
                offset = chance.choice([chance.randrange(64), chance.randrange(4096, 60000),
                                       0x40000 + chance.randrange(64), chance.randrange(0x40000, len(used))])
                data[offset] = chance.randrange(256)
            cut = chance.randrange(0x40000, len(data)) if number % 3 == 0 else len(data)
            self.write(data[:cut])
            for options in ([], ['--calls'], ['--format=json'], ['--format=html']):
                answer = run('trace', 'report', self.file, *options)
                if '--format=json' in options and answer.status == 0:
                    json.loads(answer.out)
                self.assertIn(answer.status, (0, 1), number)
                self.assertEqual(answer.status == 1, answer.err != b'', number)

    def test_report_when_file_is_cut_then_has_the_calls_before(self):
        self.trace(KNOWN, 'count', '8000')
        whole = self.read()
        for offset in (0, 1, 7, 100, 4095, 4096, 5000, 0x3ffff):
            self.assertIn('not a trace', self.refused(whole[:offset]))
        chunks = range(0x40000, len(whole), 0x10000)
        counts = [struct.unpack_from('<I', whole, chunk + 28)[0] for chunk in chunks]
        self.assertEqual((sum(counts), len(counts) > 3), (8000, True))
        for number, chunk in enumerate([*chunks, len(whole)]):
            for offset in {max(chunk + more, 0x40000) for more in (-4097, -1, 0, 1, 8, 47, 48, 49, 4096)}:
                self.write(whole[:offset])
                report = self.report()
                whole_chunks = number - (offset < chunk)
                self.assertIn(f'\n{sum(counts[:whole_chunks])} call', report)
                if whole_chunks < len(counts):
                    self.assertIn(f'\n{len(counts) - whole_chunks} parts of the file are damaged', report)

    def test_report_when_file_has_another_version_then_refuses_it(self):
        self.trace(KNOWN, 'calls')
        data = bytearray(self.read())
        for data[8], why in ((1, 'never released wrote this trace: record it again'),
                             (3, 'a newer version of cushim wrote this trace')):
            self.assertIn(why, self.refused(data))

    def test_layer_when_built_then_is_small(self):
        with open(LAYER, 'rb') as file:
            if b'.gcda' in file.read():
                self.skipTest('this build counts executed lines')
        self.assertLess(os.path.getsize(LAYER), 400 << 10)  # 371 KiB at -O3


if __name__ == '__main__':
    main()
