#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the report finds: which call invalidated a capture, why calls failed, what was left, what grows, and waits."""
import os
import pathlib
import re
import signal
import subprocess
from collections import Counter

from traced import BUILD, FINDING, FINDINGS, HERE, LAYER, PROGRAMS, Traced, environment, main, softcuda

CONFORMANCE = os.path.join(HERE, '..', '..', '..', '..', 'tests', 'conformance')
CAPTURE = re.compile(r'(?P<function>\w+) (invalidated|ended) the capture of (?P<stream>[^(]*) '
                     r'\((?P<mode>\S+) mode, from \S+ s on, by thread (?P<thread>\d+)\)'
                     r'(: (?P<rule>.*)| without a graph: .*)')

# The titles of findings that are errors of the program.
BAD = set(re.findall(r'^FINDING\(.*"(.*)", BAD\)', (pathlib.Path(HERE).parents[1] / 'trace' / 'finders'
                                                    / 'findings.inc').read_text(encoding='utf-8'), re.M))

# By names, these create and destroy objects.
CREATES = r'Create|Alloc|Load|Open|Import|Instantiate|Clone|Register|Retain|Reserve|GraphAdd'
DESTROYS = r'Destroy|Free|Unload|Unregister|Deregister|Release|Close'
# Names do not say that these create an object, or that these do not.
OTHER_CREATORS = {
    'cuCtxAttach.pctx', 'cuCtxFromGreenCtx.pContext', 'cuExternalMemoryGetMappedBuffer.devPtr',
    'cuExternalMemoryGetMappedMipmappedArray.mipmap', 'cuKernelGetFunction.pFunc', 'cuLibraryGetKernel.pKernel',
    'cuMemAllocHost.pp', 'cuMemHostAlloc.pp', 'cuMemHostRegister.p', 'cuModuleGetFunction.hfunc',
    'cuStreamEndCapture.phGraph', 'cuGraphNodeFindInClone.phNode'}
# Counted objects, nodes, which end with their graph, and other uses of a handle.
OTHER_DESTROYERS = {
    'cuCtxDetach.ctx', 'cuMemFreeHost.p', 'cuMemHostUnregister.p', 'cuGraphAddMemFreeNode.dptr',
    'cuGraphAddMemFreeNode.hGraph', 'cuGraphReleaseUserObject.graph', 'cuGraphDestroyNode.hNode',
    'cuGraphMemFreeNodeGetParams.hNode', 'cuEGLStreamConsumerReleaseFrame.pCudaResource', 'cuMemFreeAsync.hStream',
    'cuGraphReleaseUserObject.object', 'cuUserObjectRelease.object'}


def function_of(slot):
    """The exported name of a slot."""
    return 'cu' + re.sub(r'_v1$', '', slot)


class Findings(Traced):
    def run_with_layer(self, *command, **variables):
        return subprocess.run(command, env=environment(CUSHIM_DRIVER=softcuda(580), CUSHIM_LAYERS=LAYER,
                                                       CUSHIM_TRACE=self.file, **variables),
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)

    def test_capture_when_call_of_conformance_suite_invalidates_it_then_that_call_is_named(self):
        done = self.run_with_layer(os.path.join(BUILD, 'tests', 'conformance', 'conformance'),
                                   '--subject', 'invalidate')
        self.assertEqual((done.returncode, done.stderr), (0, b''))
        with open(os.path.join(CONFORMANCE, 'invalidate_calls.inc'), encoding='utf-8') as file:
            slots = dict(re.findall(r'^CALL\((\w+), (\w+),', file.read(), re.M))
        # These are pairs of calls, of which the second one is not safe.
        slots.update({'DeviceSetMemPool': 'DeviceSetMemPool_v1', 'MemPoolTrimTo': 'MemPoolTrimTo_v1'})
        expected = []
        for line in done.stdout.decode().splitlines():
            row = re.fullmatch(r'invalidate\.(\w+)\.(\S+)\.\w+\.(\w+)-thread\t(\d+) (\w+) (\d+)', line)
            if row and (row[5] == 'invalidated' or row[4] == '908'):
                expected.append((function_of(slots[row[1]]), row[2], row[3]))
        self.assertGreater(len(expected), 190)
        found = []
        for _, _, thread, text in self.findings()['Captures that were lost']:
            one = CAPTURE.fullmatch(text)
            self.assertTrue(one, text)
            found.append((one['function'], one['mode'], 'same' if thread == one['thread'] else 'other'))
        self.assertEqual(found, expected)

    # ---- the known program ----

    def known(self, what):
        """The findings of the known program, with one word for each time and each thread but that of main()."""
        self.trace(FINDINGS, what)
        return self.normal(self.findings())

    def normal(self, found):
        main_thread = self.calls()[0][1]

        def text(one):
            _, _, thread, words = one
            words = re.sub(r'\b\d+\.\d{6} s', 'TIME', re.sub(r'\b[\d.]+ (ns|us|ms)\b', 'DURATION', words))
            words = re.sub(r'\b\d+ % of the time', 'SHARE', words)
            words = words.replace(f'thread {main_thread}', 'thread MAIN')
            words = re.sub(r'thread \d+', 'thread OTHER', words)
            words = re.sub(r'(allocation|stream) 0x\w+', r'\1 HANDLE', words)
            return ('' if thread == main_thread else 'other: ') + words
        return {title: [text(one) for one in lines] for title, lines in found.items()}

    def lost(self, found):
        """(thread, function, stream, mode, rule, result) of each capture that was lost. What to do follows."""
        lines = []
        for text in found['Captures that were lost']:
            one = re.fullmatch(r'(other: )?(\w+) invalidated the capture of ([^(]*) \((\S+) mode, from TIME on, by '
                               r'thread MAIN\): (.*); it returned CUDA_ERROR_(\w+): \w.+', text)
            self.assertTrue(one, text)
            lines.append(((one[1] or 'main').strip(': '), *one.groups()[1:]))
        return lines

    def test_capture_when_lost_in_known_ways_then_each_call_and_rule_is_named(self):
        found = self.known('captures')
        unsupported, of_stream = 'STREAM_CAPTURE_UNSUPPORTED', 'no mode permits it on a stream of the capture'
        self.assertEqual(self.lost(found), [
            ('main', 'cuStreamQuery', 'stream 1', 'relaxed', of_stream, unsupported),
            ('main', 'cuStreamQuery', 'the per-thread stream of thread MAIN', 'global', of_stream, unsupported),
            ('other', 'cuStreamQuery', 'stream 1', 'global',
             'unsafe in every thread of the process during a global capture', unsupported),
            ('main', 'cuStreamQuery', 'stream 3', 'relaxed',
             'work in the legacy stream ends the captures of blocking streams, in every mode',
             'STREAM_CAPTURE_IMPLICIT'),
            ('main', 'cuStreamWaitEvent', 'stream 1', 'relaxed', 'it would merge two captures', 'STREAM_CAPTURE_MERGE'),
            ('main', 'cuStreamWaitEvent', 'stream 2', 'relaxed', 'it would merge two captures', 'STREAM_CAPTURE_MERGE'),
            ('main', 'cuStreamEndCapture', 'stream 1', 'global', 'a capture must end on the stream on which it began',
             'STREAM_CAPTURE_UNMATCHED'),
            ('main', 'cuStreamWaitEvent', 'stream 1', 'global', 'an ended capture recorded the event', 'INVALID_VALUE'),
            ('main', 'cuEventQuery', 'stream 1', 'thread-local', 'the capture recorded the event', 'CAPTURED_EVENT'),
            ('main', 'cuStreamGetFlags', 'stream 1', 'relaxed', of_stream, unsupported),
            ('main', 'cuStreamQuery', 'stream 2', 'global', of_stream, unsupported),
            ('other', 'cuStreamQuery', 'stream 1', 'relaxed', of_stream, unsupported),
            ('main', 'cuStreamQuery', 'stream 2', 'global', of_stream, unsupported),
            ('main', 'cuStreamQuery', 'stream 1', 'global', of_stream, unsupported),
        ])
        # On a slow machine, calls wait for long.
        self.assertEqual([title for title in found if title != 'The longest waits'], ['Captures that were lost'])

    def test_capture_when_per_thread_streams_of_two_contexts_lose_theirs_then_each_call_is_named(self):
        found = self.known('contexts')
        of_stream, result = 'no mode permits it on a stream of the capture', 'STREAM_CAPTURE_UNSUPPORTED'
        self.assertEqual(self.lost(found), [
            ('main', 'cuStreamGetFlags', 'the per-thread stream of thread MAIN in context 2', 'relaxed', of_stream,
             result),
            ('main', 'cuStreamQuery', 'the per-thread stream of thread MAIN', 'relaxed', of_stream, result)])

    def test_capture_when_calls_of_two_threads_overlap_then_both_are_named(self):
        self.known('captures')
        records, lines = [], self.calls()
        self.change(lambda number, words: records.append(words[1:]))
        # The last two queries: the first of the two returns only after the second one has begun.
        by_time = sorted(range(len(records)), key=lambda number: records[number])
        first, second = [at for at, call in enumerate(lines) if call[2].startswith('cuStreamQuery')][-2:]
        self.assertNotEqual(lines[first][1], lines[second][1])

        def overlap(number, words):
            if number == by_time[first]:
                words[2] = records[by_time[second]][1]
        self.change(overlap)
        self.assertEqual(self.normal(self.findings())['Captures that were lost'][-1],
                         'cuStreamQuery, or cuStreamQuery of thread OTHER at TIME invalidated the capture of stream 1 '
                         '(global mode, from TIME on, by thread MAIN): each of them can have done it')

    def test_capture_when_first_call_overlaps_its_begin_then_next_one_is_named_too(self):
        self.known('captures')
        records, lines = [], self.calls()
        self.change(lambda number, words: records.append(words[1:]))
        by_time = sorted(range(len(records)), key=lambda number: records[number])
        begin = [at for at, call in enumerate(lines) if call[2].startswith('cuStreamBeginCapture_v2')][-1]

        def overlap(number, words):
            if number == by_time[begin + 1]:
                words[1] = records[by_time[begin]][0] + 1
        self.change(overlap)
        self.assertRegex(self.findings()['Captures that were lost'][-1][3], r'^cuStreamQuery, or cuStreamQuery of ')

    def test_capture_when_invalidated_then_report_has_the_sentence_of_the_page(self):
        page = pathlib.Path(HERE, '..', '..', 'trace', 'README.md').read_text(encoding='utf-8')
        sentence = re.search(r'"(\w+ invalidated [^"]*)"', page.replace('\n', ' '))[1]
        self.trace(FINDINGS, 'captures')
        self.assertRegex(self.report(), re.escape(sentence).replace(re.escape('...'), '.*'))

    def test_capture_when_no_call_can_have_invalidated_it_then_report_says_so(self):
        self.known('captures')

        def forgive(_, words):
            if words[0] >> 29 & 0xffff == 900:
                words[0] &= ~(0xffff << 29)
        self.change(forgive)
        found = self.normal(self.findings())['Captures that were lost']
        none = [line for line in found if 'no recorded call can have done it' in line]
        self.assertEqual(len(found), 14)
        self.assertEqual([re.search('stream [^(]*', line)[0] for line in none],
                         ['stream 1 ', 'stream of thread MAIN ', 'stream 1 ', 'stream 1 ', 'stream 2 ',
                          'stream 1 ', 'stream 2 ', 'stream 1 '])
        self.assertEqual(none[0], 'the capture of stream 1 (relaxed mode, from TIME on, by thread MAIN) was '
                                  'invalidated between TIME and TIME, but no recorded call can have done it')
        # Of the per-thread stream's capture, two calls say that it is active, and that it is lost.
        times = re.findall(r'^ *(\d+\.\d{9}) ', self.report('--calls', '--stream', 'per-thread'), re.M)
        text = self.findings()['Captures that were lost'][1][3]
        active, lost = re.search(r'between ([\d.]+) s and ([\d.]+) s', text).groups()
        self.assertEqual(active, f'{float(times[1]):.6f}', text)
        self.assertLessEqual(float(lost), float(times[4]) + 1e-6, text)

    def test_report_when_a_result_is_another_one_then_has_its_number_or_counts_it_apart(self):
        self.known('objects')
        self.assertNotIn('CUDA_ERROR_NOT_READY', self.report())

        def replace(old, new):
            self.change(lambda _, words: words.__setitem__(
                0, words[0] + ((new - old) << 29) if words[0] >> 29 & 0xffff == old else words[0]))
        replace(709, 4000)
        self.assertEqual([call.split(' = ')[1] for _, _, call in self.calls('--errors') if 'CUDA_ERROR' not in call],
                         ['4000'])
        replace(4000, 600)
        self.assertRegex(self.report(), r'\nAnswers that are not failures:\n +1  \w+: the work was not done yet\n')

    def test_objects_when_used_wrongly_then_report_explains(self):
        self.maxDiff = None
        found = self.known('objects')
        self.assertEqual(found['Why calls failed'], [
            'cuStreamQuery returned CUDA_ERROR_INVALID_HANDLE: stream 1 was destroyed DURATION before, by thread '
            'OTHER, in cuStreamDestroy_v2: destroy it after its last use',
            'cuStreamDestroy_v2 returned CUDA_ERROR_INVALID_HANDLE: stream 1 was already destroyed DURATION before, by '
            'thread OTHER, in cuStreamDestroy_v2: destroy it once',
            'cuLaunchKernelEx returned CUDA_ERROR_INVALID_HANDLE: stream 1 was destroyed DURATION before, by thread '
            'OTHER, in cuStreamDestroy_v2: destroy it after its last use',
            'cuMemFree_v2 returned CUDA_ERROR_INVALID_VALUE: device allocation HANDLE was already freed DURATION '
            'before, by thread MAIN, in cuMemFree_v2: free it once',
            'cuEventRecord returned CUDA_ERROR_INVALID_HANDLE: event 1 was created in context 1, and stream 3 in context '
            '2: create both while the same context is current; which one is current at this call does not matter',
            'cuStreamQuery returned CUDA_ERROR_CONTEXT_IS_DESTROYED: the context of stream 3 was destroyed DURATION '
            'before, by thread MAIN, in cuCtxDestroy_v2: destroy the context last',
        ])
        self.assertEqual(found['Times that events do not have'], [
            'cuEventElapsedTime returned CUDA_ERROR_INVALID_HANDLE: event 1 does not record its time, because '
            'cuEventCreate created it with CU_EVENT_DISABLE_TIMING at TIME: create it without this flag'])
        self.assertEqual(found['What grows'], ['cuEventCreate creates events again and again: 100 of 100 were not '
                                               'destroyed'])
        self.assertEqual(found['What was left at the end'],
                         ['25 of 101 device allocations (400 bytes) were alive at the end, the first one created by '
                          'cuMemAlloc_v2'])

    def test_objects_when_launches_of_a_graph_allocate_them_then_nothing_is_claimed(self):
        self.known('graph-memory')
        self.assertEqual(self.report('--calls', '--errors'), '')
        self.assertNotIn('allocation', self.report('--findings'))

    def test_objects_when_program_is_killed_then_nothing_is_left(self):
        self.trace(FINDINGS, 'killed', status=-signal.SIGKILL)
        found = self.findings()
        self.assertIn('What grows', found)
        self.assertNotIn('What was left at the end', found)

    def test_errors_when_file_lacks_calls_then_say_only_what_it_has(self):
        for program, scenario, title, words, others in (
                ('sticky', 'sticky_error', 'Errors that every later call returns',
                 'The file, which lacks calls, has no wait for this work that succeeded: fill in stream 2, store in stream '
                 '1 (2 times). The last wait that succeeded in the file was ', 'the fault is in'),
                ('memory', 'out_of_memory', 'Why calls failed',
                 'it asked for 1125899906842624 bytes; the file lacks calls, so what was alive is not known', 'were')):
            self.trace(os.path.join(PROGRAMS, 'finding_' + program), scenario, 'wrong')
            self.lose_call()
            text = self.findings()[title][0][3]
            self.assertIn(words, text)
            self.assertNotIn(others, text)

    def test_waits_when_known_then_longest_is_first_with_what_was_submitted(self):
        found = self.known('waits')
        # A busy machine can make another wait long, which then comes behind these two.
        self.assertEqual(found['The longest waits'][:2], [
            'cuStreamSynchronize took DURATION, SHARE; before it, in stream 1: cuLaunchHostFunc',
            'cuStreamSynchronize took DURATION, SHARE; before it, in stream 1: cuLaunchHostFunc (2 calls), cuMemsetD32Async, '
            'cuMemsetD16Async, and 2 calls of other functions'])
        self.assertNotIn('What was left at the end', found)

    def test_waits_when_many_at_one_place_then_are_one_finding_with_their_sum(self):
        self.assertEqual(self.known('wait-often')['The longest waits'], [
            'cuStreamSynchronize: 5 waits, DURATION, SHARE, the longest DURATION; before that, in stream 1: cuLaunchHostFunc'])

    def test_waits_when_for_work_of_other_streams_a_capture_or_threads_then_say_what_was_before(self):
        found = [re.sub(r'stream \d', 'stream N', line) for line in self.known('waits-of-others')['The longest waits']]
        self.assertEqual(sorted(found[:4]), [
            'cuEventSynchronize took DURATION, SHARE; before it, in all streams: cuLaunchHostFunc, cuMemsetD8Async',
            *2 * ['cuStreamSynchronize took DURATION, SHARE; before it, in stream N: cuLaunchHostFunc'],
            'other: cuStreamSynchronize: 10 waits in several threads, DURATION in all, the longest DURATION; before '
            'that, in stream N: cuLaunchHostFunc'])

    def test_waits_when_earlier_ones_were_for_the_same_work_then_they_do_not_name_it_again(self):
        self.assertEqual(sorted(self.known('waits-again')['The longest waits']), [
            f'{function} took DURATION, SHARE; before it, in {work}' for function, work in (
                ('cuCtxSynchronize', 'stream 1: cuLaunchHostFunc'),
                ('cuEventSynchronize', 'all streams: cuLaunchHostFunc, cuMemsetD32Async'),
                ('cuStreamSynchronize', 'all streams: cuLaunchHostFunc, cuMemsetD16Async'),
                ('cuStreamSynchronize', 'stream 1: cuLaunchHostFunc'),
                ('cuStreamSynchronize', 'stream 4: cuLaunchHostFunc'),
                ('cuStreamSynchronize', 'stream 5: cuLaunchHostFunc (2 calls)'))])

    def test_summary_when_findings_have_numbers_then_they_have_headings(self):
        self.trace(FINDINGS, 'wait-often')
        text = self.report()
        self.assertIn('\nThe longest waits:\n        seconds process  thread\n', text)

    def test_waits_when_less_than_a_share_of_the_time_then_are_no_findings(self):
        """The last call is made longer, so that each wait is a smaller part of the time."""
        self.known('waits')
        times = []
        self.change(lambda _, words: times.append(words[1:]))
        longest = max(end - begin for begin, end in times)
        whole = 7 * longest # only this one is more than 10 percent

        def last_longer(number, words):
            if number == len(times) - 1:
                words[2] = times[0][0] + whole
        self.change(last_longer)
        found, = self.findings()['The longest waits']
        self.assertRegex(found[3], r'cuStreamSynchronize took [\d.]+ ms, 14 % of the time; before it, in stream 1: ')
        whole = 12 * longest
        self.change(last_longer)
        self.assertNotIn('The longest waits', self.findings())

    def test_summary_when_findings_are_many_then_is_short(self):
        answer = self.trace(FINDINGS, 'captures')
        lost = answer.err.decode().split('Captures that were lost:\n')[1].splitlines()
        lost = [line for line in lost[1:] if not line.startswith(33 * ' ' + 'at findings+')]
        self.assertTrue(all(FINDING.fullmatch(line) for line in lost[:10]), lost[:10])
        self.assertEqual(lost[10:12], ['and 4 more', ''])

    def test_calls_when_objects_are_known_then_have_names(self):
        self.known('objects')
        calls = [call for _, _, call in self.calls()]
        self.assertIn('cuStreamCreate(*phStream=stream 1, Flags=CU_STREAM_NON_BLOCKING) = CUDA_SUCCESS', calls)
        self.assertIn('cuEventRecord(hEvent=event 1, hStream=stream 3) = CUDA_ERROR_INVALID_HANDLE', calls)
        self.assertIn('cuCtxSetCurrent(ctx=context 1) = CUDA_SUCCESS', calls)
        self.assertIn('cuStreamQuery(hStream=NULL) = CUDA_SUCCESS', calls)

    def test_stream_when_selected_then_report_has_its_calls(self):
        self.known('captures')
        calls = self.calls()
        for stream, text in (('3', '=stream 3'), ('per-thread', '=CU_STREAM_PER_THREAD'),
                             ('legacy', '=CU_STREAM_LEGACY')):
            self.assertEqual(self.calls('--stream', stream), [call for call in calls if text in call[2]])
            self.assertNotEqual(self.calls('--stream', stream), [])
        self.assertEqual(self.calls('--stream', '99'), [])

    def test_json_when_captures_were_lost_or_calls_failed_then_has_the_findings(self):
        for what in ('captures', 'objects'):
            self.known(what)
            found = self.findings()
            expected = [one for title, lines in found.items() if title in BAD for one in lines]
            self.assertGreater(len(expected), 4)
            events = self.events()
            self.assertEqual([(round(event['ts'] / 1e6, 9), str(event['pid']), str(event['tid']), event['name'])
                              for event in events if event['ph'] == 'i' and event['cat'] == 'finding'], expected)

    def test_stream_when_in_a_struct_then_is_known(self):
        self.known('objects')
        calls = self.calls('--function', 'LaunchKernelEx')
        configs = [re.search(r'config=(.*), f=NULL', call)[1] for _, _, call in calls]
        self.assertEqual(configs, ['{hStream=stream 1, 56 bytes}', '{hStream=NULL, 56 bytes}', 'NULL'])
        self.assertEqual(self.calls('--function', 'LaunchKernelEx', '--stream', '1'), calls[:1])
        events = self.events()
        names = {event['tid']: event['args']['name'] for event in events if event['name'] == 'thread_name'}
        self.assertEqual([names[event['tid']] for event in events if event['name'] == 'LaunchKernelEx'],
                         ['stream 1', 'the legacy stream', 'the legacy stream'])

    # ---- random captures ----

    def check_random(self, threads, operations):
        done = self.run_with_layer(os.path.join(BUILD, 'tests', 'stream', 'race_search'), str(threads), str(operations),
                                   '1')
        self.assertEqual(done.returncode, 0, done.stdout)
        lost = self.findings().get('Captures that were lost', [])
        ended = [call for _, _, call in self.calls('--function', 'cuStreamEndCapture')
                 if re.search(r' = CUDA_ERROR_STREAM_CAPTURE_(INVALIDATED|WRONG_THREAD)\b', call)]
        self.assertGreater(len(ended), 10)
        self.assertGreaterEqual(len(lost), len(ended))
        kinds = Counter()
        for _, _, thread, text in lost:
            one = CAPTURE.fullmatch(text)
            kinds['one' if one else 'several' if 'each of them can have done it' in text else 'none'] += 1
            if not one or one['rule'] is None:
                continue
            if 'the thread that began' in one['rule']:
                self.assertEqual(thread, one['thread'], text)
            if 'unsafe' in one['rule']:
                self.assertNotEqual(one['mode'], 'relaxed', text)
            if 'every thread' in one['rule']:
                self.assertEqual(one['mode'], 'global', text)
        return kinds

    def test_capture_when_random_ones_are_of_one_thread_then_each_has_a_culprit(self):
        kinds = self.check_random(1, 2000)
        self.assertEqual(kinds['none'], 0, kinds)
        self.assertGreater(kinds['one'], 20 * kinds['several'], kinds) # a call on a stream of another capture

    def test_capture_when_random_ones_are_of_four_threads_then_each_has_a_culprit(self):
        kinds = self.check_random(4, 1000)
        self.assertEqual(kinds['none'], 0, kinds)
        self.assertGreater(kinds['one'], kinds['several'], kinds)

    # ---- the table of objects ----

    def test_objects_when_compared_with_the_list_then_agree(self):
        """The table by hand has what names and types say, apart from these."""
        source = os.path.join(HERE, '..', '..', 'trace')
        with open(os.path.join(source, 'model', 'objects.inc'), encoding='utf-8') as file:
            rows = re.findall(r'^TRACE_OBJECT\(\w+,\s+(\w+),(.*?)\)\n(?=TRACE|#undef)', file.read(), re.S | re.M)
        with open(os.path.join(os.path.dirname(LAYER), 'fields.inc'), encoding='utf-8') as file:
            functions = re.findall(r'^#define TRACE_FIELDS_(\w+?)_v\d+\(X\)(.*)', file.read(), re.M)
        self.assertGreater(len(rows), 28)
        types = {kind for kind, _ in rows if kind.startswith('CU')}
        creators, destroyers, fields = set(), set(), set()
        for kind, rest in rows:
            *_, created, destroyed = re.split(r',\s+(?=")', rest)
            creators |= {(kind, one) for one in re.findall(r'\w+\.\w+', created)}
            destroyers |= {(kind, one) for one in re.findall(r'\w+\.\w+', destroyed)}
        by_name = (set(), set())
        for function, text in functions:
            for how, kind, name in re.findall(r'X\((\w+), ([^,]*), (\w+)\)', text):
                kind = re.sub(r'(_v1)?( \*)?$', '', kind)
                one = (kind, f'cu{function}.{name}')
                fields.add((how, *one))
                if kind in types and how == 'OUT' and re.search(CREATES, function):
                    by_name[0].add(one)
                if kind in types and how == 'VALUE' and re.search(DESTROYS, function):
                    by_name[1].add(one)
        for kind, one in creators | destroyers:
            self.assertTrue({('OUT', kind, one), ('VALUE', kind, one)} & fields or kind == 'UNKNOWN', one)
        self.assertEqual({one for _, one in creators ^ by_name[0]}, OTHER_CREATORS)
        self.assertEqual({one for _, one in destroyers ^ by_name[1]}, OTHER_DESTROYERS)


if __name__ == '__main__':
    main()
