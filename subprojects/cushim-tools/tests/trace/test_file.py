#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The file: how it is named, what can be wrong with it, and that other versions are refused."""
import json
import os
import random
import struct

from traced import BUILD, KNOWN, LAYER, Traced, main, run, softcuda


# A file as the first layer wrote it that recorded version 2: without arguments of kernels, and with a shorter header.
OLD_SCHEMA = '\n'.join((
    'cuStreamCreate v1|o8 CUstream * phStream|v4 unsigned int Flags',
    'cuMemAlloc v2|o8 CUdeviceptr * dptr|v8 size_t bytesize',
    'cuMemsetD8Async v1|v8 CUdeviceptr dstDevice|v1 unsigned char uc|v8 size_t N|v8 CUstream hStream',
    'cuLaunchKernel v1|v8 CUfunction f|v4 unsigned int gridDimX|v4 unsigned int gridDimY|v4 unsigned int gridDimZ|'
    'v4 unsigned int blockDimX|v4 unsigned int blockDimY|v4 unsigned int blockDimZ|v4 unsigned int sharedMemBytes|'
    'v8 CUstream hStream|p0 void ** kernelParams|p0 void ** extra',
    'cuStreamSynchronize v1|v8 CUstream hStream')).encode()
OLD_CALLS = ( # the slot, its words, the result
    (0, (0x7000, 0xa0, 1), 0), (0, (0x7008, 0xb0, 1), 0), (1, (0x7010, 0x40000, 4096), 0), (2, (0x40000, 90, 4096, 0xa0), 0),
    (3, (0xf0, 1, 1, 1, 32, 1, 1, 0, 0xb0, 0x7018, 0), 0), (2, (0x40000, 165, 4096, 0xb0), 0), (4, (0xb0,), 700))


def old_file():
    states, chunk_at = b'\1' * 10, 0x40000
    schema_at = 4096 + len(states)
    records = struct.pack('<5Q', 0xf00 | 5 << 13, 1000, 1000, 0, 7)  # the next calls are of thread 7
    for number, (slot, words, result) in enumerate(OLD_CALLS):
        begin = 2000 + 1000 * number
        records += struct.pack(f'<{4 + len(words)}Q', slot | (4 + len(words)) << 13 | result << 29 | 1 << 45, begin,
                               begin + 500, 0, *words)
    chunk = struct.pack('<2Q4IQ', 1, 0, 1, 42, 0, len(OLD_CALLS), 40 + len(records)) + records
    header = struct.pack('<Q4IQ2I2Q1024s3Q2I2Q2IQ', 0x656361727475636d, 2, 5, schema_at, len(OLD_SCHEMA), 1, 0, 0, 1000,
                         0, b'./app', 1, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    data = header.ljust(4096, b'\0') + states + OLD_SCHEMA
    return data.ljust(chunk_at, b'\0') + chunk.ljust(0x10000, b'\0')


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

    def test_report_when_clock_is_behind_that_of_the_start_then_calls_take_no_time(self):
        self.trace(KNOWN, 'count', '10')

        def restart(_, words): # as after a restart of the machine
            words[1:] = 1000, 2000
        self.change(restart)
        self.assertIn('\n10 calls in 0 ns, ', self.report())

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

    def test_report_when_file_has_no_arguments_then_has_its_calls_and_findings(self):
        self.write(old_file())
        memset = 'cuMemsetD8Async(dstDevice=0x40000, uc={}, N=4096, hStream=stream {}) = CUDA_SUCCESS'
        self.assertEqual([call for _, _, call in self.calls()], [
            'cuStreamCreate(*phStream=stream 1, Flags=CU_STREAM_NON_BLOCKING) = CUDA_SUCCESS',
            'cuStreamCreate(*phStream=stream 2, Flags=CU_STREAM_NON_BLOCKING) = CUDA_SUCCESS',
            'cuMemAlloc_v2(*dptr=0x40000, bytesize=4096) = CUDA_SUCCESS',
            memset.format(90, 1),
            'cuLaunchKernel(f=0xf0, gridDimX=1, gridDimY=1, gridDimZ=1, blockDimX=32, blockDimY=1, blockDimZ=1, '
            'sharedMemBytes=0, hStream=stream 2, kernelParams=0x7018, extra=NULL) = CUDA_SUCCESS',
            memset.format(165, 2),
            'cuStreamSynchronize(hStream=stream 2) = CUDA_ERROR_ILLEGAL_ADDRESS'])
        report = self.report()
        self.assertIn('./app\n7 calls in 6.50 us, 1 failed, 1 process\n', report)
        self.assertIn('\n2 accesses in 2 streams compared; kernels and host code are not looked at\n', report)
        self.assertNotIn('arguments of kernels', report)
        self.assertEqual([(title, len(found)) for title, found in self.findings().items()],
                         [('Errors that every later call returns', 1), ('Accesses that nothing orders', 1)])

    def test_layer_when_built_then_is_small(self):
        with open(LAYER, 'rb') as file:
            if b'.gcda' in file.read():
                self.skipTest('this build counts executed lines')
        with open(os.path.join(BUILD, 'meson-info', 'intro-buildoptions.json'), encoding='utf-8') as file:
            options = {option['name']: option['value'] for option in json.load(file)}
        if options['unity'] != 'off':
            self.skipTest('in a unity build, functions of other files are inlined, too')
        if options['optimization'] == '0':
            self.skipTest('this build is not optimized')
        self.assertLess(os.path.getsize(LAYER), 400 << 10)  # 371 KiB at -O3


if __name__ == '__main__':
    main()
