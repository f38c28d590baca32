#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report as JSON: the trace-event format."""
import json
import os
import pty
import re
import signal
import subprocess
from collections import Counter

from traced import FINDINGS, KNOWN, PROGRAM, Traced, environment, main, run

ODD = b'odd "name\\ \x01\n\xff\xc3\xa4 </script>'


class Json(Traced):
    def events(self, *options):
        """The events, each of which is a line."""
        text = self.report('--format=json', *options)
        events = json.loads(text)['traceEvents']
        lines = text.splitlines()[1:-1]
        self.assertEqual([json.loads(line.rstrip(',')) for line in lines], events)
        return events

    def known(self, *options):
        return [event for event in self.events(*options) if event['ph'] in 'XB' and event['cat'] in ('call', 'error')]

    @staticmethod
    def text(event):
        """A call as --calls prints it."""
        arguments = dict(event['args'])
        result = arguments.pop('returns')
        assert arguments.pop('caller').startswith('program+0x')
        words = [f'{name}={json.dumps(value) if name == "name" else value}' for name, value in arguments.items()]
        return f'{event["name"]}({", ".join(words)})' + (f' = {result}' if event['ph'] == 'X' else ' ' + result)

    def test_json_when_program_is_known_then_has_each_call(self):
        self.trace(KNOWN, 'calls')
        events = self.known()
        self.assertEqual([(str(event['pid']), str(event['tid']), self.text(event)) for event in events], self.calls())
        self.assertEqual(len(events), 14)
        times = [float(line.split()[0]) for line in self.report('--calls').splitlines()
                 if not line.startswith(45 * ' ')]
        self.assertEqual([round(event['ts'] * 1000) for event in events], [round(time * 1e9) for time in times])
        for event, after in zip(events, events[1:]):
            self.assertLess(0, event['dur'])
            self.assertLessEqual(round((event['ts'] + event['dur']) * 1000), round(after['ts'] * 1000))
        self.assertEqual([event['name'] for event in events if event['cat'] == 'error'],
                         ['cuStreamIsCapturing', 'cuModuleGetFunction'])
        self.assertIs(type(events[0]['args']['Flags']), int)

    def test_calls_as_json_when_program_is_known_then_are_those_of_the_events(self):
        self.trace(KNOWN, 'calls')
        answer = json.loads(self.report('--calls', '--format=json'))
        self.assertEqual(answer['command'], f'{KNOWN} calls')
        self.assertEqual(answer['schema'], '1.0')
        events = self.known()
        self.assertEqual(len(answer['calls']), len(events))
        for call, event in zip(answer['calls'], events):
            arguments = dict(event['args'])
            self.assertEqual(call['result'], arguments.pop('returns'))
            self.assertEqual(call['caller'], arguments.pop('caller'))
            self.assertEqual(call['arguments'], arguments)
            self.assertEqual((call['function'], call['process'], call['thread']),
                             (event['name'], event['pid'], event['tid']))
            self.assertEqual(call['begin_ns'], round(event['ts'] * 1000))
            self.assertEqual(call['end_ns'] - call['begin_ns'], round(event['dur'] * 1000))
        failed = json.loads(self.report('--calls', '--format=json', '--errors'))['calls']
        self.assertEqual([call['function'] for call in failed], ['cuStreamIsCapturing', 'cuModuleGetFunction'])

    def test_calls_as_json_when_none_is_selected_then_list_is_empty(self):
        self.trace(KNOWN, 'calls')
        self.assertEqual(json.loads(self.report('--calls', '--format=json', '--function', 'cuNothing'))['calls'], [])

    def test_json_when_program_uses_streams_then_has_their_tracks(self):
        self.trace(KNOWN, 'streams')
        events = self.events()
        names = {event['tid']: event['args']['name'] for event in events if event['name'] == 'thread_name'}
        self.assertEqual(sorted(re.sub('(thread ).*', r'\1', name) for name in names.values()),
                         ['stream 1', 'stream 2', 'thread ', 'thread '])
        process, = [event for event in events if event['name'] == 'process_name']
        self.assertEqual(process['args']['name'], f'{KNOWN} streams')
        self.assertEqual([event['name'] for event in events
                          if event['ph'] == 'i' and names[event['tid']].startswith('stream 2')],
                         ['StreamWaitEvent', 'LaunchHostFunc', 'StreamSynchronize'])
        captures = [(event['name'], names[event['tid']][:8]) for event in events if event.get('cat') == 'capture']
        self.assertEqual(captures, [('capture', 'stream 1'), ('invalidated capture', 'stream 1')])

    def test_names_when_reports_have_the_same_streams_then_agree(self):
        answer = self.trace(FINDINGS, 'replace')
        first, second = (int(handle, 16).to_bytes(8, 'little') for handle in answer.out.split())
        self.write(self.read().replace(second, first)) # softcuda does not use a handle again
        events = self.events()
        names = {event['tid']: event['args']['name'] for event in events if event['name'] == 'thread_name'}
        streams = [names[event['tid']] for event in events if event['ph'] == 'i']
        thread = self.calls()[0][1]
        calls = [re.search('hStream=(.*)[)]', call)[1] for _, _, call in self.calls('--function', 'StreamSynchronize')]
        special = {'CU_STREAM_LEGACY': 'the legacy stream',
                   'CU_STREAM_PER_THREAD': f'the per-thread stream of thread {thread}'}
        self.assertEqual(streams, [special.get(name, name) for name in calls])
        self.assertEqual(streams, ['stream 3', 'stream 4', *special.values()])
        page = self.report('--format=html').split('<script id="trace" type="application/json">')[1]
        tracks = json.loads(page.split('</script>')[0])['tracks']
        self.assertEqual(Counter(track['name'] for track in tracks), Counter(names.values()))

    def test_json_when_calls_wait_then_has_arrows(self):
        self.trace(KNOWN, 'streams')
        events = self.events()
        calls = {(event['tid'], event['ts']): event['name'] for event in events if event['ph'] == 'X'}
        arrows = [[calls[event['tid'], event['ts']] for event in events if event['ph'] == end] for end in 'sf']
        self.assertEqual(list(zip(*arrows)), [('cuEventRecord', 'cuStreamWaitEvent'),
                                              ('cuLaunchHostFunc', 'cuStreamSynchronize'),
                                              ('cuLaunchHostFunc', 'cuStreamSynchronize')])

    def test_events_when_format_is_strict_then_have_what_viewers_need(self):
        for what in ('calls', 'streams', 'hang'):
            self.trace(KNOWN, what, status=-signal.SIGKILL if what == 'hang' else 0)
            events = self.events()
            for event in events:
                needed = {'name', 'ph', 'pid'} | ({'ts', 'tid'} if event['ph'] != 'M' else set())
                self.assertLessEqual(needed, set(event))
                self.assertEqual('dur' in event, event['ph'] == 'X', event)
                self.assertIn(event['ph'], 'XBiMsf')
            # A call that did not return begins, and nothing ends.
            self.assertEqual([(event['name'], event['args']['returns']) for event in events if event['ph'] == 'B'],
                             [('cuStreamSynchronize', 'did not return')] if what == 'hang' else [])
            unended = [call for call in json.loads(self.report('--calls', '--format=json'))['calls']
                       if call['result'] is None or call['end_ns'] is None]
            self.assertEqual([(call['function'], call['result'], call['end_ns']) for call in unended],
                             [('cuStreamSynchronize', None, None)] if what == 'hang' else [])
            starts, ends = ([event['id'] for event in events if event['ph'] == end] for end in 'sf')
            self.assertEqual((sorted(starts), len(set(starts))), (sorted(ends), len(ends)))
            self.assertGreaterEqual(len(starts), 3 if what == 'streams' else 0)

    def test_json_when_names_have_odd_bytes_then_is_valid(self):
        self.trace(KNOWN, 'text', ODD)
        shown = ODD.decode(errors='replace')
        text = self.report('--format=json')
        self.assertNotIn('</', text)
        document = json.loads(text)
        self.assertEqual(document['otherData']['command'], f'{KNOWN} text {shown}')
        self.assertEqual(document['traceEvents'][1]['args']['name'], f'{KNOWN} text {shown}')
        self.assertEqual(self.known()[0]['args']['name'], shown)

    def test_json_when_filtered_then_has_those_calls(self):
        self.trace(KNOWN, 'streams')
        events = self.known()
        self.assertEqual(self.known('--errors'), [event for event in events if event['cat'] == 'error'])
        self.assertEqual(self.known('--function', 'Launch'), [event for event in events if 'Launch' in event['name']])
        other = events[-2]['tid']
        self.assertNotEqual(other, events[0]['tid'])
        self.assertEqual([event['name'] for event in self.known('--thread', str(other))],
                         ['cuCtxSetCurrent', 'cuStreamSynchronize'])
        middle = f'{events[5]["ts"] / 1e6:.9f}'
        self.assertEqual(self.known('--to', middle) + self.known('--from', middle)[1:], events)
        self.assertEqual([event for event in self.events('--function', 'Wait') if event['ph'] in 'sf'], [])

    def test_output_when_named_then_is_that_file(self):
        self.trace(KNOWN, 'calls')
        path = self.file + '.json'
        answer = run('trace', 'report', self.file, '--format=json', '-o', path)
        self.assertEqual((answer.status, answer.out, answer.err), (0, b'', b''))
        with open(path, encoding='utf-8') as file:
            self.assertEqual(file.read(), self.report('--format=json'))
        for path, why in (('/nowhere/a', b'No such file'), (self.file, b'this file is the trace')):
            answer = run('trace', 'report', self.file, '-o', path)
            self.assertEqual((answer.status, answer.out, why in answer.err), (1, b'', True), answer.err)
        self.assertEqual(len(self.calls()), 14)

    def report_on_terminal(self, *options):
        """The status and what it writes to stderr, which is a terminal."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([PROGRAM, 'trace', 'report', self.file, '-o', os.devnull, *options], stderr=theirs,
                              env=environment()) as process:
            os.close(theirs)
            text = b''
            try:
                while part := os.read(ours, 4096):
                    text += part
            except OSError: # the other side is closed
                pass
        os.close(ours)
        return process.wait(), text

    def test_progress_when_report_is_long_then_is_a_line_of_the_terminal(self):
        count = 2000001
        self.trace(KNOWN, 'count', str(count))
        advice = b'2000001 calls are more than most viewers open; --from and --to,'
        status, text = self.report_on_terminal('--format=json')
        self.assertEqual(status, 0)
        self.assertRegex(text, rb'^(\rcushim: trace: +\d+ %% of %d calls)+\r\033\[Kcushim: trace: %s' % (count, advice))
        answer = run('trace', 'report', self.file, '--format=json', '-o', os.devnull)
        self.assertEqual((answer.status, answer.err.count(b'\n')), (0, 1))
        self.assertTrue(answer.err.startswith(b'cushim: trace: ' + advice), answer.err)
        self.trace(KNOWN, 'calls')
        self.assertEqual(self.report_on_terminal('--format=json'), (0, b''))

    def test_command_line_when_invalid_then_refused(self):
        for arguments in (['report', 'a', '--format=xml'], ['report', 'a', '--calls', '--format=html'],
                          ['--format=json', '--', 'b']):
            answer = run('trace', *arguments)
            self.assertEqual((answer.status, answer.out), (2, b''), arguments)


if __name__ == '__main__':
    main()
