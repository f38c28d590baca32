#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A meaning belongs to a function and a result: all pairs that were observed, and those of public reports."""
import os
import pathlib
import re
import subprocess

from traced import BUILD, HERE, PROGRAMS, Traced, main

MEANINGS = os.path.join(PROGRAMS, 'meanings')
CONFORMANCE = os.path.join(BUILD, 'tests', 'conformance', 'conformance')
SLEEPING = os.path.join(PROGRAMS, 'sleeping.so')
CODES = os.path.join(PROGRAMS, 'codes')

# The functions, their result, and words of the meaning; '': it has none, because it depends on more.
PAIRS = (
    # Observed on an H200 and an H100 with driver 580, and on drivers 470 to 550.
    ('cuInit', 3, 'could not start'), ('cuInit', 100, 'no GPU'), ('cuInit', 101, 'names a GPU twice'), ('cuInit', 802, 'fabric manager'),
    ('cuInit', 803, 'different versions'), ('cuInit', 999, ''), ('cuInit', 304, ''), ('cuInit', 2, ''), ('cuInit', 34, ''),
    ('cuDeviceGetCount cuStreamCreate cuMemAlloc_v2', 3, 'call cuInit'), ('cuCtxCreate_v2', 304, ''), ('cuCtxCreate_v3', 224, ''),
    ('cuStreamDestroy_v2 cuEventDestroy_v2', 4, 'was ending'), ('cuStreamDestroy_v2', 400, ''),
    ('cuMemFree_v2 cuGraphLaunch cuMemcpyHtoD_v2 cuMemsetD8Async cuGetProcAddress cuGraphGetEdges_v2', 1, ''),
    ('cuMemAlloc_v2 cuMemHostAlloc', 2, ''), ('cuEventRecord cuStreamWaitEvent cuEventQuery', 400, ''),
    ('cuEventQuery cuStreamQuery', 600, ''), ('cuGraphExecUpdate_v2', 910, ''), ('cuModuleGetFunction cuModuleGetGlobal_v2', 500, 'extern'),
    ('cuLibraryGetKernel', 500, 'extern'), ('cuModuleLoadData cuModuleLoadDataEx cuLibraryLoadData', 222, 'newer version'),
    ('cuModuleLoadData cuModuleLoadFatBinary cuLibraryLoadData', 209, 'no code for this GPU'),
    ('cuLibraryGetKernel cuModuleGetFunction cuKernelGetFunction cuFuncLoad', 209, 'no code for this GPU'),
    ('cuModuleLoadData cuLinkAddData_v2 cuLinkComplete', 218, 'ptxas'), ('cuModuleLoadData cuLibraryLoadData', 200, 'newer than this driver'),
    ('cuCtxSynchronize cuMemcpyDtoH_v2', 700, ''), ('cuCtxSynchronize', 719, ''), ('cuMemAlloc_v2 cuCtxGetDevice', 201, ''),
    ('cuStreamSynchronize cuMemAlloc_v2', 900, ''), ('cuStreamEndCapture', 901, ''), ('cuEventQuery', 907, ''), ('cuGraphGetEdges', 402, ''),
    # Public reports.
    ('cuMemCreate', 101, 'allocFlags'), ('cuMemImportFromShareableHandle', 101, 'both processes'),
    ('cuDeviceGet cuDeviceGetAttribute cuCtxCreate_v2 cuCtxCreate_v3 cuCtxCreate_v4 cuDevicePrimaryCtxRetain '
     'cuDevicePrimaryCtxRelease_v2 cuDevicePrimaryCtxSetFlags_v2', 101, 'numbered from 0'),
    ('cuMemPrefetchAsync cuMemAdvise', 101, 'managed memory'), ('cuLaunchKernel cuStreamCreate', 101, ''),
    ('cuMemAllocAsync cuMemAllocFromPoolAsync cuMemPoolSetAttribute', 801, 'attribute 115'), ('cuMemPoolCreate', 801, 'kind of handle'),
    ('cuMemCreate cuMemExportToShareableHandle cuMemImportFromShareableHandle', 800, 'IMEX'), ('cuMemHostRegister_v2 cuIpcGetMemHandle', 800, ''),
    ('cuMemCreate', 801, 'attributes 102'), ('cuMemAddressReserve cuMemMap cuMemSetAccess', 801, 'attribute 102'),
    ('cuCtxCreate_v2 cuCtxCreate_v3 cuDevicePrimaryCtxRetain', 801, 'vGPU'), ('cuLaunchKernel cuLaunchKernelEx', 801, '4 KiB'), ('cuMemHostRegister_v2 cuIpcOpenMemHandle_v2', 801, ''),
    ('cuModuleLoadData cuLibraryLoadData cuLinkCreate_v2', 221, 'libnvidia-tileiras'), ('cuStreamCreate', 200, ''), ('cuGraphInstantiate', 209, ''),
)
# These mean the same in every function.
EVERYWHERE = (3, 4, 100, 221, 223, 802, 803)


class Meanings(Traced):
    def meanings(self, pairs):
        """What the report says about each pair."""
        text = ''.join(f'{function} {code}\n' for function, code in pairs)
        done = subprocess.run([MEANINGS], input=text, stdout=subprocess.PIPE, text=True, check=True)
        return dict(zip(pairs, done.stdout.split('\n')))

    def test_meaning_when_asked_for_a_pair_then_is_that_of_both(self):
        wanted = {(function, code): words for functions, code, words in PAIRS for function in functions.split()}
        for pair, meaning in self.meanings(list(wanted)).items():
            self.assertEqual(meaning != '', wanted[pair] != '', (pair, meaning))
            self.assertIn(wanted[pair], meaning, pair)

    def test_meaning_when_the_conformance_suite_gets_a_result_then_its_pair_is_known(self):
        self.trace(CONFORMANCE, status=None)
        known = {(function, code) for functions, code, _ in PAIRS for function in functions.split()}
        header = (pathlib.Path(HERE).parents[3] / 'include' / 'cushim' / 'abi' / 'result.h').read_text(encoding='utf-8')
        codes, found = dict(re.findall(r'^ *(CUDA_ERROR_\w+) = (\d+),', header, re.M)), set()
        for event in self.events():
            if event.get('cat') == 'error' and event['args']['returns'] in codes:
                found.add((event['name'], int(codes[event['args']['returns']])))
        self.assertGreater(len(found), 60)
        new = {pair: meaning for pair, meaning in self.meanings(sorted(found)).items()
               if meaning != '' and pair not in known and pair[1] not in EVERYWHERE}
        self.assertEqual(new, {})

    def test_memory_of_a_graph_when_used_wrongly_then_says_when_it_is_there(self):
        for name, function, words in (('graph-free', 'cuMemFree_v2', 'only from a launch of the graph on'),
                                      ('graph-twice', 'cuGraphLaunch', 'must be freed before its next launch')):
            self.trace(CODES, name, 'wrong', status=None)
            found = self.findings()['Why calls failed']
            self.assertRegex(found[0][3], f'^{function} returned CUDA_ERROR_INVALID_VALUE: .*{words}')
            self.trace(CODES, name, 'right')
            self.assertNotIn('Why calls failed', self.findings())

    def test_launch_when_it_fails_after_a_sleep_then_the_sleep_is_named(self):
        for variables, words in (({'LD_PRELOAD': SLEEPING}, 'the machine slept for 3600'), ({}, None)):
            self.trace(CODES, 'graph-twice', 'right', status=None, SOFTCUDA_FAIL='cuStreamSynchronize=719', **variables)
            texts = [finding[3] for found in self.findings().values() for finding in found]
            self.assertEqual(any('slept' in text for text in texts), words is not None, texts)


if __name__ == '__main__':
    main()
