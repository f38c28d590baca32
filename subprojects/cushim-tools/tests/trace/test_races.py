#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Accesses that nothing orders: each is found, and no right program has one."""
import json
import os
import pathlib
import random
import re
import shutil
import sys

from traced import BATCHING, HERE, PROGRAMS, REUSING, Traced, lists, main

RACE, EARLY = 'Accesses that nothing orders', 'Waits and frees that come too early'
HELD = 'Kernels with memory of another stream'
RACES = os.path.join(PROGRAMS, 'races')

# What each case has with "wrong": the title, and what the sentence has. Streams 1 and 2 are a and b, events 1 and 2 are e
# and f. With "right", a case has neither.
RANGE = r'65536 bytes at offset 0 of device allocation 0x\w+'
ORDER = 'and nothing orders the two:'
CASES = {
    'two_buffers': (RACE, rf'cuMemsetD8Async in stream 1 writes {RANGE}, which cuMemcpyDtoDAsync_v2 in stream 2 reads, '
                          rf'{ORDER} event \d was recorded in stream 2 behind the first call, at \d\.\d+ s, but stream 1 '
                          rf'does not wait for it'),
    'early_wait': (RACE, rf'reads .*, {ORDER} stream 2 waits for event 1 at \d\.\d+ s, before it was recorded behind the '
                         r'first call: record it first'),
    'early_record': (RACE, rf'{ORDER} event 1, for which stream 2 waits, was recorded in stream 1 at \d\.\d+ s, before '
                           r'the first call'),
    'event_reuse': (RACE, rf'{ORDER} event 1 was recorded behind the first call, and again at \d\.\d+ s, before stream 2 '
                          r'waited for it'),
    'fork_join': (RACE, r'cuMemcpyDtoDAsync_v2 in stream 1 reads 16384 bytes at offset 32768 of .*, which '
                        rf'cuMemsetD32Async in stream 5 writes, {ORDER} event 5 was recorded'),
    'query': (RACE, r'\(6 times, the last one at \d\.\d+ s\)'),
    'never_recorded': (EARLY, 'cuStreamWaitEvent waits for event 3, which was never recorded: it waits for nothing'),
    'stream_handle': (RACE, 'cuMemsetD8Async in stream 4 writes .* in stream 3 writes'),
    'legacy': (RACE, rf'in stream 1 writes .* in the legacy stream writes, {ORDER} record an event in the legacy stream '
                     r'behind the first call, and let stream 1 wait for it before the second one'),
    'per_thread': (RACE, r'in the per-thread stream of thread \d+ reads .* in the per-thread stream of thread \d+ writes'),
    'memset_device': (RACE, 'in stream 1 reads .*, which cuMemsetD8_v2 in the legacy stream writes'),
    'contexts': (RACE, 'in the legacy stream in context 2 writes .* in the legacy stream writes'),
    'pinned_ring': (RACE, r'cuMemcpyHtoDAsync_v2 in stream 2 reads 65536 bytes at offset 0 of host allocation'),
    'host_free': (EARLY, r'cuMemFreeHost frees host allocation 0x\w+ that cuMemcpyDtoHAsync_v2 in stream 1 writes, and no '
                         r'wait has shown that the copy is done: its result cannot have been read safely'),
    'columns': (RACE, r'cuMemcpy2DAsync_v2 in stream 2 writes some of the \d+ bytes at offset 127 of'),
    'pool_use': (RACE, rf'cuMemsetD8Async in stream 2 writes {RANGE}, which cuMemAllocAsync in stream 1 allocates'),
    'pool_free': (RACE, rf'cuMemFreeAsync in stream 1 frees {RANGE}, which cuMemsetD8Async in stream 2 writes'),
    'graph_stream': (RACE, 'cuMemcpyDtoDAsync_v2 in stream 1 reads .*, which cuGraphLaunch in stream 2 writes'),
    'graph_update': (RACE, 'cuGraphLaunch in stream 1 writes .*, which cuMemcpyDtoDAsync_v2 in stream 2 reads'),
    'graph_nodes': (RACE, 'cuMemcpyDtoDAsync_v2 in stream 2 reads .*, which cuGraphLaunch in stream 1 writes'),
    'capture_fork': (RACE, f'{ORDER} within the graph, no event of the capture orders the two'),
    'threads': (RACE, r'\(5 times, the last one at'),
}

# Those whose functions driver 470 lacks.
LATER = {'unknown_attribute', 'unknown_node_record', 'unknown_values'}

# Work whose accesses are not known, and functions that leave what a graph accesses as it is.
KERNELS = {'cuLaunchKernel', 'cuLaunchKernelEx', 'cuLaunchCooperativeKernel', 'cuLaunchGridAsync'}
UNKNOWN = {'cuFabricCpyBatchAsync', 'cuGLMapBufferObjectAsync', 'cuGLUnmapBufferObjectAsync', 'cuGraphUpload',
           'cuGraphicsMapResources', 'cuGraphicsUnmapResources', 'cuMemBatchDecompressAsync', 'cuMemDiscardBatchAsync',
           'cuMemDiscardAndPrefetchBatchAsync', 'cuMemMapArrayAsync', 'cuMemPrefetchAsync', 'cuMemPrefetchBatchAsync',
           'cuStreamAttachMemAsync'}
HARMLESS = {'cuGraphAddDependencies', 'cuGraphAddEmptyNode', 'cuGraphAddKernelNode', 'cuGraphAddMemAllocNode',
            'cuGraphExecKernelNodeSetParams', 'cuGraphKernelNodeSetAttribute', 'cuGraphKernelNodeSetParams'}


class Steps(Traced):
    def test_function_when_it_gives_work_or_changes_a_graph_then_its_step_is_decided(self):
        path = os.path.join(HERE, '..', '..', 'trace', 'order', 'steps.inc')
        with open(path, encoding='utf-8') as file:
            listed = {name for name, _ in re.findall(r'\b(cu\w+)\.(\w+)', file.read())}
        rows = lists.in_slots(lists.read())
        work = {one.function for one in rows if one.role.split(',')[0] == 'work' and 'Memcpy' not in one.function}
        graphs = {one.function for one in rows
                  if re.match(r'cuGraph(Add|ExecUpdate|Instantiate|Clone$|Create$)|cuGraph(?!.*Get|ics|Debug).*Set',
                              one.function)}
        self.assertEqual(work - listed, KERNELS | UNKNOWN)
        self.assertEqual(graphs - listed, HARMLESS)
        self.assertEqual(listed - {one.function for one in rows}, set())


class Page(Traced):
    def test_page_of_orders_when_it_names_a_check_then_it_exists(self):
        conformance = pathlib.Path(HERE, '..', '..', '..', '..', 'tests', 'conformance')
        named = set(re.findall(r'`([a-z]+\.[a-z-]+)`', (conformance / 'ORDER.md').read_text(encoding='utf-8')))
        checks = set(re.findall(r'CHECK\(\w+, "([^"]*)"', ''.join(
            path.read_text(encoding='utf-8') for path in conformance.glob('*.c'))))
        self.assertGreater(len(named), 20)
        self.assertEqual(named - checks, set())


class Arrows(Traced):
    def test_race_when_report_is_json_or_a_page_then_has_an_arrow_between_its_calls(self):
        self.trace(RACES, 'early_record', 'wrong')
        calls = {call.split('(')[0]: time for time, call in re.findall(r'^ *(\d+\.\d{9}) .*?  (cu\w+\()',
                                                                       self.report('--calls'), re.M)}
        expected = [calls['cuMemsetD8Async'], calls['cuMemcpyDtoDAsync_v2']]
        arrows = [event for event in self.events() if event.get('cat') == 'race']
        self.assertEqual([(event['ph'], f"{event['ts'] / 1e6:.9f}") for event in arrows], list(zip('sf', expected)))
        self.assertEqual(len({event['id'] for event in arrows}), 1)
        finding, = [event for event in self.events() if event.get('cat') == 'finding']
        self.assertEqual(finding['args']['other'], f'cuMemsetD8Async at {expected[0]} s')
        nanoseconds = int(expected[0].replace('.', ''))
        self.assertRegex(self.report('--format=html'), rf'"other": \[{nanoseconds}, \d+\]')


class KernelArguments(Traced):
    def launch(self, mode, driver='580', *options):
        self.trace(RACES, 'held', mode, driver=driver, options=options)
        return self.findings(), [call for _, _, call in self.calls('--function', 'cuLaunchKernel')]

    def test_kernel_when_its_arguments_are_recorded_then_calls_have_them(self):
        _, calls = self.launch('right', '580', '--kernel-arguments')
        self.assertRegex(calls[0], r'kernelParams=\[0x[0-9a-f]{6,}, 0x7\], extra=NULL\) = CUDA_SUCCESS$')
        self.assertRegex(calls[1], r'kernelParams=NULL, extra=\[0x[0-9a-f]{6,}, 0x8\]\) = CUDA_SUCCESS$')
        arguments = [event['args']['kernelParams'] for event in self.events() if event['name'] == 'cuLaunchKernel']
        self.assertRegex(arguments[0], r'^\[0x[0-9a-f]{6,}, 0x7\]$')

    def test_kernel_when_another_stream_allocates_or_frees_its_memory_then_is_a_note(self):
        found, _ = self.launch('wrong', '580', '--kernel-arguments')
        texts = [text for *_, text in found[HELD]]
        self.assertEqual(len(texts), 2, texts)
        self.assertRegex(texts[0], r'^cuLaunchKernel in stream 2 holds a pointer into device allocation 0x\w+, which '
                                   r'cuMemAllocAsync in stream 1 allocates, and nothing orders the two: event 1 was recorded')
        self.assertRegex(texts[1], r'^cuMemFreeAsync in stream 1 frees device allocation 0x\w+, which cuLaunchKernel in '
                                   r'stream 2 holds a pointer into, and nothing orders the two: event 2 was recorded')
        self.assertEqual(self.launch('right', '580', '--kernel-arguments')[0].get(HELD), None)

    def test_kernel_when_option_is_absent_or_driver_is_older_then_has_no_arguments(self):
        for driver, options in (('580', ()), ('470', ('--kernel-arguments',))):
            found, calls = self.launch('wrong', driver, *options)
            self.assertNotIn(HELD, found)
            self.assertRegex(calls[0], r'kernelParams=0x\w+, extra=NULL')
            self.assertEqual('The arguments of kernels are not in the file: the driver is older than CUDA 12.4'
                             in self.report(), driver == '470')
        self.trace('true', options=('--kernel-arguments',))
        self.assertNotIn('arguments of kernels', self.report())


class Batches(Traced):
    def batches(self, mode):
        self.trace(RACES, 'batch', mode, options=('--layer', BATCHING))
        return self.findings(), [call for _, _, call in self.calls('--function', 'cuMemcpyBatchAsync')]

    def test_batch_when_recorded_then_calls_have_its_arrays(self):
        _, (few, many) = self.batches('right')
        self.assertRegex(few, r'\(dsts=\[0x\w+, 0x\w+, 0x\w+\], srcs=\[(0x\w+), (0x\w+), \2\], sizes=\[16, 16, 16\], '
                              r'count=3, ')
        self.assertRegex(many, r'sizes=\[16(, 16)+, \.\.\.\], count=60, ')

    def test_batch_when_it_reads_in_the_order_of_its_stream_then_is_compared(self):
        self.assertNotIn(RACE, self.batches('right')[0])
        (*_, text), = self.batches('wrong')[0][RACE]
        self.assertRegex(text, r'^cuMemcpyBatchAsync_v2 in stream 2 reads 16 bytes at offset 0 of device allocation 0x\w+, '
                               r'which cuMemsetD8Async in stream 1 writes, and nothing orders the two: event 1 was recorded')


class Reuse(Traced):
    def test_memory_when_address_is_given_again_before_its_free_returns_then_nothing_is_found(self):
        for mode in ('right', 'wrong'):
            self.trace(RACES, 'unknown_reuse', mode, options=('--layer', REUSING))
            found = self.findings()
            self.assertEqual([found[title] for title in (RACE, EARLY) if title in found], [], mode)


class Races(Traced):
    def found(self, case, mode, driver):
        self.trace(RACES, case, mode, driver=driver)
        found = self.findings()
        return {title: [text for *_, text in found[title]] for title in (RACE, EARLY) if title in found}

    def check(self, driver):
        names = self.trace(RACES, driver=driver).out.decode().split()
        self.assertEqual({name for name in names if not name.startswith('unknown')} - {'held', 'batch'}, set(CASES))
        for name in names:
            if name == 'batch' or driver == '470' and name in LATER:
                continue
            self.assertEqual(self.found(name, 'right', driver), {}, name)
            wrong = self.found(name, 'wrong', driver)
            if name not in CASES:
                self.assertEqual(wrong, {}, name)
                continue
            title, text = CASES[name]
            self.assertEqual([title] if name != 'early_wait' else [RACE, EARLY], list(wrong), name)
            self.assertRegex('\n'.join(wrong[title]), text, name)
            self.assertEqual(len(wrong[title]), 1, (name, wrong))

    def test_case_when_driver_is_580_then_wrong_is_found_and_right_is_not(self):
        self.check('580')

    def test_case_when_driver_is_470_then_wrong_is_found_and_right_is_not(self):
        self.check('470')


class OfLibrary(Traced):
    def test_wait_when_a_library_of_cuda_makes_it_then_is_no_finding(self):
        library = shutil.copy(RACES, os.path.join(self.directory(), 'libnccl-races'))
        for program, is_found in (RACES, True), (library, False):
            self.trace(program, 'never_recorded', 'wrong')
            self.assertEqual(EARLY in self.findings(), is_found, program)


class WithCushim(Traced):
    def test_program_when_it_contains_cushim_and_is_right_then_nothing_is_found(self):
        for driver in ('580', '470'):
            self.trace(os.path.join(PROGRAMS, 'with_cushim'), driver=driver)
            titles = [title for title in self.findings() if title != 'The longest waits']
            self.assertEqual(titles, [])
            self.assertIn('Nothing was found.\n', self.report('--findings'))
            self.assertRegex(self.report('--findings'), r'\n\d+ accesses in 2 streams compared')


class Random(Traced):
    """Random programs, of which random_races.py knows the races in another way."""

    def work(self):
        """The times of the calls that give work to a stream."""
        lines = re.findall(r'^ *(\d+\.\d{9}) .*?  (cu\w+)\(', self.report('--calls'), re.M)
        return [time for time, name in lines if re.fullmatch(r'cuMem(cpy|set)\w*|cuMem(Alloc|Free)Async|cuGraphLaunch',
                                                             name)]

    def check(self, seed, mode):
        truth = os.path.join(self.directory(), 'races')
        self.trace(sys.executable, '-B', os.path.join(HERE, 'random_races.py'), str(seed), mode, truth)
        with open(truth, encoding='utf-8') as file:
            expected = json.load(file)
        report, works = self.report('--findings'), self.work()
        times = re.findall(r'^ *(\d+\.\d{9}) .* and nothing orders the two: ', report, re.M)
        found = sorted(works.index(time) for time in times)
        self.assertNotIn(' left out', report)
        return expected[:1], found[:1], seed, mode

    def test_random_program_when_each_conflict_is_waited_for_then_nothing_is_found(self):
        for seed in SEEDS:
            expected, found, *_ = self.check(seed, 'right')
            self.assertEqual((expected, found), ([], []), f'seed {seed}')

    def test_random_program_when_one_wait_is_forgotten_then_that_race_is_found(self):
        for seed in SEEDS:
            expected, found, *_ = self.check(seed, 'wrong')
            self.assertEqual(expected, found, f'seed {seed}')


# CUSHIM_SEEDS=COUNT:FIRST: the number of random programs, and the first of their seeds; "new" chooses one at random.
COUNT, _, FIRST = os.environ.get('CUSHIM_SEEDS', '1:1').partition(':')
FIRST = random.randrange(1000000) if FIRST == 'new' else int(FIRST or 1)
SEEDS = range(FIRST, FIRST + int(COUNT))

if __name__ == '__main__':
    main()
