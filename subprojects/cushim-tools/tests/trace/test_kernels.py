#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The names of kernels, and the bytes of copies and allocations."""
import ctypes.util
import re

from traced import ENUMERATING, KNOWN, Traced, main

MANGLED = '_ZN4game5scaleIfLi4EEEvPT_i'
SCALE = 'game::scale<float, 4>' if ctypes.util.find_library('stdc++') else MANGLED


class Kernels(Traced):
    def launch(self):
        self.assertEqual(self.trace(KNOWN, 'launch', SOFTCUDA_EMPTY_KERNELS='1').out, b'')

    def test_calls_when_kernels_are_launched_then_have_their_names(self):
        self.launch()
        calls = [call for _, _, call in self.calls('--function', 'cuLaunchKernel')]
        self.assertEqual([re.search(r'f=(.*), gridDimX', call)[1] for call in calls],
                         4 * [f'function 1 ({SCALE})'] + ['function 2 (fill)'])

    def test_summary_when_kernels_are_launched_then_has_each_with_its_dimensions(self):
        self.launch()
        lines = self.report().split('\nKernels:\n')[1].splitlines()
        self.assertEqual([line.split(maxsplit=5) for line in lines[1:4]],
                         [['3', '0', '8x2x1', '128x1x1', '512', SCALE], ['1', '0', '1x1x1', '32x1x1', '0', 'fill'],
                          ['1', '0', '16x1x1', '64x1x1', '0', SCALE]])
        self.assertEqual(lines[4], '')

    def test_summary_when_names_differ_at_their_ends_then_has_each_kernel(self):
        self.trace(KNOWN, 'launch-long-names', SOFTCUDA_EMPTY_KERNELS='1')
        lines = self.report().split('\nKernels:\n')[1].splitlines()
        self.assertEqual([line.split()[::5] for line in lines[1:3]], [['2', 399 * 'k' + 'a'], ['1', 399 * 'k' + 'b']])

    def test_summary_when_bytes_are_copied_then_counts_them(self):
        self.launch()
        lines = self.report().split('\nBytes:\n')[1].split('\n\n')[0].splitlines()
        self.assertEqual(lines[0].split(), ['calls', 'bytes', 'direction', 'function'])
        self.assertEqual(sorted(re.sub(' +', ' ', line.strip()).split(' ', 2) for line in lines[1:]), [
            ['1', '1000', 'device to device cuMemcpyDtoD_v2'], ['1', '200', 'device to host cuMemcpyDtoH_v2'],
            ['1', '300', 'unified to unified cuMemcpy'], ['1', '4096', 'cuMemAlloc_v2'],
            ['1', '480', 'host to device cuMemcpy2D_v2'], ['1', '64', 'device to host cuMemcpy2D_v2'],
            ['2', '5096', 'host to device cuMemcpyHtoD_v2']])
        calls = [call for _, _, call in self.calls('--function', 'cuMemcpy2D')]
        self.assertRegex(calls[0], r'^cuMemcpy2D_v2\(\*pCopy=\{host 0x\w+( pitch \d+)? to device 0x\w+( pitch \d+)?, '
                                   r'48x10x1, 480 bytes\}\) = CUDA_SUCCESS$')

    def test_json_when_kernels_are_launched_then_has_their_names(self):
        self.launch()
        events = self.events()
        self.assertEqual([event['args']['f'] for event in events if event['name'] == 'cuLaunchKernel'],
                         4 * [f'function 1 ({SCALE})'] + ['function 2 (fill)'])

    def test_calls_when_kernel_is_that_of_a_node_then_have_its_name(self):
        self.trace(KNOWN, 'wait-for-kernels', SOFTCUDA_EMPTY_KERNELS='1')
        kernel, wrong = [call for _, _, call in self.calls('--function', 'cuGraphAddKernelNode')]
        self.assertRegex(kernel, rf'\*phGraphNode=node 1 \({re.escape(SCALE)}\), .*, '
                         rf'\*nodeParams={{func=function 1 \({re.escape(SCALE)}\), grid 8x2x1, block 128x1x1}}\)')
        self.assertIn('nodeParams=NULL) = CUDA_ERROR_INVALID_VALUE', wrong)

    def enumerate(self):
        answer = self.trace(KNOWN, 'enumerate', options=['--layer', ENUMERATING], SOFTCUDA_EMPTY_KERNELS='1')
        self.assertEqual(answer.out, b'')

    def test_calls_when_kernels_came_in_an_array_then_have_their_names(self):
        self.enumerate()
        calls = [call for _, _, call in self.calls('--function', 'cuLaunchKernel')]
        self.assertEqual([re.search(r'f=(.*), gridDimX', call)[1] for call in calls],
                         [f'function 2 ({SCALE})', 'kernel 3 (scan)'])
        lines = self.report().split('\nKernels:\n')[1].splitlines()
        self.assertEqual([line.split(maxsplit=5)[5] for line in lines[1:3]], [SCALE, 'scan'])

    def test_trace_when_kernels_came_in_an_array_then_no_call_is_added(self):
        self.enumerate()
        calls = [call.split('(')[0] for _, _, call in self.calls()]
        start = calls.index('cuModuleLoadData')
        self.assertEqual(calls[start:], ['cuModuleLoadData', 'cuLibraryLoadData'] + 2 * ['cuModuleEnumerateFunctions']
                         + ['cuLibraryEnumerateKernels', 'cuModuleEnumerateFunctions'] + 2 * ['cuLaunchKernel'])

    def test_wait_when_it_is_for_kernels_then_has_their_names(self):
        self.trace(KNOWN, 'wait-for-kernels', SOFTCUDA_EMPTY_KERNELS='1')
        waits = self.findings()['The longest waits']
        self.assertRegex(waits[0][3], r'cuStreamSynchronize took [\d.]+ ms, \d+ % of the time; before it, in stream 1: '
                         rf'cuLaunchKernel of {re.escape(SCALE)} \(2 calls\), cuLaunchHostFunc, '
                         r'cuLaunchKernel of fill$')

    def test_summary_when_no_kernel_is_launched_then_has_no_table(self):
        self.trace(KNOWN, 'calls')
        self.assertNotRegex(self.report(), 'Kernels:|Bytes:')


if __name__ == '__main__':
    main()
