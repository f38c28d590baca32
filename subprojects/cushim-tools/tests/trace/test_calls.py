#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report has each call of a program, with its arguments and results."""
import os
import pathlib
import re

from traced import HERE, KNOWN, LAYER, Traced, main, run

KNOWN_CALLS = r'''cuInit(Flags=0) = CUDA_SUCCESS
cuDeviceGet(*device=0, ordinal=0) = CUDA_SUCCESS
cuDevicePrimaryCtxRetain(*pctx=context 1, dev=0) = CUDA_SUCCESS
cuCtxSetCurrent(ctx=context 1) = CUDA_SUCCESS
cuStreamCreate(*phStream=stream 1, Flags=CU_STREAM_NON_BLOCKING) = CUDA_SUCCESS
cuStreamQuery(hStream=stream 1) = CUDA_SUCCESS
cuStreamIsCapturing(hStream=stream 1, *captureStatus=CU_STREAM_CAPTURE_STATUS_NONE) = CUDA_SUCCESS
cuStreamIsCapturing(hStream=stream 1, captureStatus=NULL) = CUDA_ERROR_INVALID_VALUE
cuThreadExchangeStreamCaptureMode(*mode=CU_STREAM_CAPTURE_MODE_RELAXED -> CU_STREAM_CAPTURE_MODE_GLOBAL) = CUDA_SUCCESS
cuModuleGetFunction(hfunc=POINTER, hmod=NULL, name="a \"kernel\"") = CUDA_ERROR_INVALID_HANDLE
cuStreamBeginCapture_v2(hStream=stream 1, mode=CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) = CUDA_SUCCESS
cuStreamEndCapture(hStream=stream 1, *phGraph=graph 1) = CUDA_SUCCESS
cuStreamSynchronize(hStream=CU_STREAM_PER_THREAD) = CUDA_SUCCESS
cuStreamDestroy_v2(hStream=stream 1) = CUDA_SUCCESS'''.splitlines()

# Flags for which the headers have no names.
UNNAMED_FLAGS = set('''
cuCtxAttach.flags cuCtxEnablePeerAccess.Flags cuDevSmResourceSplit.flags cuDeviceGetNvSciSyncAttributes.flags
cuFabricCpyBatchAsync.flags cuGraphConditionalHandleCreate.flags cuGraphCreate.flags cuInit.Flags
cuLaunchCooperativeKernelMultiDevice.flags cuLogicalEndpointBindAddr.flags cuLogicalEndpointBindMem.flags
cuLogsCurrent.flags cuLogsDumpToFile.flags cuLogsDumpToMemory.flags cuMemAddressReserve.flags
cuMemBatchDecompressAsync.flags cuMemCreate.flags cuMemDiscardAndPrefetchBatchAsync.flags cuMemDiscardBatchAsync.flags
cuMemExportToShareableHandle.flags cuMemHostGetDevicePointer.Flags cuMemMap.flags
cuMemPoolExportToShareableHandle.flags cuMemPoolImportFromShareableHandle.flags cuMemPrefetchAsync.flags
cuMemPrefetchBatchAsync.flags cuMemcpy3DBatchAsync.flags cuMemcpy3DWithAttributesAsync.flags cuMulticastBindAddr.flags
cuMulticastBindMem.flags cuStreamAddCallback.flags cuStreamBatchMemOp.flags cuSurfRefSetArray.Flags'''.split())


class Calls(Traced):
    def test_report_when_program_is_known_then_has_each_call(self):
        self.assertEqual(self.trace(KNOWN, 'calls').out, b'')
        calls = self.calls()
        self.assertEqual(len({thread for _, thread, _ in calls}), 1)
        text = [re.sub(r'hfunc=0x\w+', 'hfunc=POINTER', call) for _, _, call in calls]
        self.assertEqual(text, KNOWN_CALLS)

    def test_report_when_flags_are_known_then_has_their_names(self):
        self.trace(KNOWN, 'flags')
        flags = [re.search(r'flags=([^,)]*)', call, re.I)[1] for _, _, call in self.calls()[5:]]
        self.assertEqual(flags, [
            'CU_EVENT_DEFAULT', 'CU_EVENT_BLOCKING_SYNC', 'CU_EVENT_DISABLE_TIMING|CU_EVENT_BLOCKING_SYNC',
            'CU_EVENT_DISABLE_TIMING|CU_EVENT_BLOCKING_SYNC|0x100', '0x100', 'CU_STREAM_NON_BLOCKING',
            'CU_STREAM_WAIT_VALUE_FLUSH|CU_STREAM_WAIT_VALUE_NOR', '0',
            'CU_MEMHOSTALLOC_WRITECOMBINED|CU_MEMHOSTALLOC_DEVICEMAP'])

    def test_flags_when_compared_with_the_list_then_each_is_a_number_and_has_names(self):
        made = pathlib.Path(LAYER).parent
        source = {path.stem: path.read_text(encoding='utf-8') for path in (
            pathlib.Path(HERE, '..', '..', 'trace', 'file', 'flags.inc'), made / 'fields.inc',
            made / 'enumerators.inc')}
        rows = re.findall(r'^TRACE_FLAGS\((\w+),(.*?)\)$', source['flags'], re.M | re.S)
        named = [one for _, parameters in rows for one in re.findall(r'\w+\.\w+', parameters)]
        self.assertEqual(len(named), len(set(named)))
        self.assertEqual([kind for kind, _ in rows if f'TRACE_ENUMERATOR({kind}, ' not in source['enumerators']], [])
        numbers = {f'cu{function}.{name}'
                   for function, fields in re.findall(r'^#define TRACE_FIELDS_(\w+?)_v\d+\(X\)(.*)',
                                                      source['fields'], re.M)
                   for kind, name in re.findall(r'X\((?:VALUE|OUT), ([^,]*), (\w*[Ff]lags)\)', fields)
                   if re.match('unsigned|int|cuuint64_t', kind)}
        self.assertEqual(numbers - set(named), UNNAMED_FLAGS, 'add new flags to file/flags.inc or to UNNAMED_FLAGS')
        self.assertEqual(set(named) - numbers, set())

    def test_report_when_filtered_then_has_those_calls(self):
        self.trace(KNOWN, 'calls')
        calls = self.calls()
        self.assertEqual(self.calls('--errors'), [call for call in calls if not call[2].endswith('SUCCESS')])
        self.assertEqual(len(self.calls('--errors')), 2)
        self.assertEqual(self.calls('--function', 'Capturing'), [call for call in calls if 'IsCapturing' in call[2]])
        self.assertEqual(self.calls('--thread', calls[0][1]), calls)
        self.assertEqual(self.calls('--thread', '1'), [])
        time = re.search(r'[\d.]+', self.report('--calls').splitlines()[4])[0]
        self.assertEqual(self.calls('--to', time) + self.calls('--from', time)[1:], calls)

    def test_summary_when_program_is_known_then_counts_calls(self):
        answer = self.trace(KNOWN, 'calls')
        summary = self.report()
        self.assertEqual(answer.err.decode(), summary + f'The calls are in {self.file}. To show those that failed: '
                                                        f'cushim trace report {self.file} --calls --errors\n')
        self.assertRegex(summary, r'^\S*program calls\n14 calls in \S+ \w+, 2 failed, 1 process\n')
        self.assertRegex(summary, r'\n( +\S+ %)?.* 2 +1  cuStreamIsCapturing\n')
        self.assertIn('\nFailed calls:\n         1  cuStreamIsCapturing: CUDA_ERROR_INVALID_VALUE\n'
                      '         1  cuModuleGetFunction: CUDA_ERROR_INVALID_HANDLE\n', summary)
        self.assertNotIn('did not return', summary)
        self.assertNotIn('lacks', summary)

    def test_report_when_program_looks_for_unknown_functions_then_these_are_not_failures(self):
        self.trace(KNOWN, 'lookup')
        summary = self.report()
        self.assertRegex(summary, r'\n7 calls in \S+ \w+, 1 failed, 1 process\n')
        answers = summary.split('\nAnswers that are not failures:\n')[1].split('\n\n')[0].splitlines()
        self.assertEqual(sorted(line.split(maxsplit=1)[1] for line in answers), [
            'cuCtxGetDevice: no context was current', 'cuGetProcAddress: the driver lacks a function',
            'cuGetProcAddress_v2: the driver lacks a function'])
        self.assertIn('\nFailed calls:\n         1  cuGetProcAddress_v2: CUDA_ERROR_INVALID_VALUE\n\n', summary)
        callers = [re.search(r'  from (\w+)', call)[1] for _, _, call in self.calls(places=True) if 'ProcAddress' in call]
        self.assertEqual(callers, ['program'] * 5)
        failed, = self.calls('--errors')
        self.assertIn(' = CUDA_ERROR_INVALID_VALUE', failed[2])
        self.assertEqual(self.report('--format=json').count('"cat":"error"'), 1)

    def test_report_when_driver_is_older_then_marks_calls_that_it_lacks(self):
        self.trace(KNOWN, 'calls', options=['--hide', 'cuModuleGetFunction,cuStreamBeginCapture_v2'])
        marked = [call for _, _, call in self.calls() if call.endswith(']')]
        self.assertEqual([call.split('(')[0] + call[call.index(' = '):] for call in marked],
                         ['cuModuleGetFunction = CUDA_ERROR_NOT_SUPPORTED [missing]',
                          'cuStreamBeginCapture_v2 = CUDA_ERROR_NOT_SUPPORTED [polyfill]'])
        lines = self.report().split('Calls of functions that this driver lacks:\n')[1].splitlines()
        self.assertEqual(sorted(lines[:2]), ['         1  cuModuleGetFunction: missing',
                                             '         1  cuStreamBeginCapture_v2: polyfill'])

    def test_report_when_driver_explains_a_failure_then_has_its_message(self):
        conflict = '; driver: API call conflicts with a stream capture sequence initiated from the calling thread'
        invalidated = 'CUDA_ERROR_STREAM_CAPTURE_INVALIDATED; driver: Capture was invalidated by a prior API call'
        plain = run('exec', '--softcuda', '580', '--', KNOWN, 'fail', '1')
        answer = self.trace(KNOWN, 'fail', '1')
        self.assertEqual(answer.out, plain.out, 'the function of the program has the same lines')
        failed = [call for _, _, call in self.calls('--errors')]
        self.assertEqual([call[call.index(' = ') + 3:] for call in failed],
                         ['CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED' + conflict] * 2
                         + [invalidated, 'CUDA_ERROR_INVALID_VALUE'])

    def test_report_when_many_calls_fail_then_has_the_message_of_each(self):
        self.trace(KNOWN, 'fail', '3000')
        calls = [call for _, _, call in self.calls('--function', 'MemAlloc')]
        self.assertEqual(len(calls), 3000)
        self.assertEqual([call for call in calls if '; driver: API call conflicts' not in call], [])

    def test_report_when_driver_is_older_or_its_log_is_hidden_then_has_no_words(self):
        for settings in {'driver': '550'}, {'options': ['--hide', 'cuLogsRegisterCallback']}, {}:
            self.trace(KNOWN, 'streams', **settings)
            calls = self.report('--calls')
            self.assertIn('CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED', calls)
            self.assertEqual('driver: ' in calls, not settings)

    def test_program_when_traced_then_its_output_and_status_are_the_same(self):
        self.assertEqual(self.trace(KNOWN, 'print', status=3).out, b'printed\n')
        self.trace('/nowhere/program', status=127)
        self.trace(KNOWN, 'print', options=['--layer', '/nowhere'], status=2)

    def test_command_line_when_invalid_then_refused(self):
        for arguments in ([], ['report'], ['report', 'a', 'b'], ['report', 'a', '--', 'b'], ['a', '--', 'b'], ['--'],
                          ['--size', '0', '--', 'b'], ['--size', '1T', '--', 'b'], ['--keep', 'all', '--', 'b'],
                          ['report', 'a', '--from', 'x'], ['report', 'a', '--thread', '-1'],
                          ['report', 'a', '--stream', ''], ['report', 'a', '--stream', '0x'],
                          ['report', 'a', '--stream', 'stream 3'], ['report', 'a', '--calls', '--findings'],
                          ['report', 'a', '--findings', '--format=html']):
            answer = run('trace', *arguments)
            self.assertEqual((answer.status, answer.out), (2, b''), arguments)
        answer = run('trace', '--size', '319K', '-o', self.file, '--', 'true')
        self.assertEqual((answer.status, b'the smallest size is 320K' in answer.err, os.path.exists(self.file)),
                         (2, True, False), answer.err)


if __name__ == '__main__':
    main()
