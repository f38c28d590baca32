#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Where calls were made: their callers, and backtraces of those that fail."""
import csv
import os
import re
import shutil
import signal
import struct
import unittest

from traced import HERE, KNOWN, NESTED, PROGRAMS, Traced, main

FROM = re.compile(r'  from (?P<module>[^+ ]+)\+0x(?P<offset>[0-9a-f]+)( \((?P<function>\w+)(, (?P<line>[^)]*))?\))?')


def line_of(text):
    """The line of program.c that has this text for the first time."""
    with open(os.path.join(HERE, 'program.c'), encoding='utf-8') as file:
        return next(number for number, line in enumerate(file, 1) if text in line)


class Places(Traced):
    def lines(self, *options):
        return self.report('--calls', *options).splitlines()

    def test_calls_when_made_by_program_then_each_has_its_caller(self):
        self.trace(KNOWN, 'calls')
        found = [FROM.search(line) for line in self.lines() if ' cu' in line]
        self.assertEqual({one['module'] for one in found}, {'program'})
        self.assertEqual(len({one['offset'] for one in found}), len(found), 'each call is at a place of its own')

    @unittest.skipUnless(shutil.which('addr2line'), 'there is no addr2line')
    def test_calls_when_program_has_lines_then_callers_have_them(self):
        self.trace(KNOWN, 'calls')
        found = [FROM.search(line) for line in self.lines('--function', 'cuStreamEndCapture')]
        self.assertEqual([(one['function'], one['line']) for one in found],
                         [('make_calls', f'program.c:{line_of("    cuStreamEndCapture(stream, &graph);")}')])

    @unittest.skipUnless(shutil.which('addr2line'), 'there is no addr2line')
    def test_calls_when_program_was_changed_then_have_no_lines(self):
        copy = os.path.join(self.directory(), 'program')
        shutil.copy(KNOWN, copy)
        self.trace(copy, 'calls')
        self.assertIn('make_calls', self.report('--calls'))
        os.utime(copy, (1, 1))
        report = self.report('--calls')
        self.assertEqual(('make_calls' in report, '  from program+0x' in report), (False, True))

    def test_calls_when_failed_then_have_a_backtrace_of_the_program(self):
        self.trace(KNOWN, 'fail', '1')
        lines = self.lines()
        for index, line in enumerate(lines):
            frames = []
            for after in lines[index + 1:]:
                if not after.startswith(45 * ' '):
                    break
                frames += re.findall(r'^ {45}at (\S+)', after)
            if ' = CUDA_ERROR' in line:
                self.assertGreater(len(frames), 2, line)
                self.assertEqual(frames[0], FROM.search(line)['module'] + '+0x' + FROM.search(line)['offset'])
                self.assertTrue(all('+0x' in frame for frame in frames), frames)
            elif ' = CUDA_SUCCESS' in line:
                self.assertEqual(frames, [], line)

    def test_stacks_when_requested_then_each_call_has_a_backtrace(self):
        self.trace(KNOWN, 'calls', options=['--stacks'])
        lines = self.lines()
        calls = [index for index, line in enumerate(lines) if not line.startswith(45 * ' ')]
        self.assertEqual(len(calls), 14)
        for index in calls:
            self.assertRegex(lines[index + 1], r'^ {45}at program\+0x')

    def test_stacks_when_deep_then_the_innermost_frames_are_kept(self):
        self.trace(KNOWN, 'deep', options=['--stacks'])
        self.assertEqual([lines for _, lines in self.stacks()], [32])

    def test_stacks_when_call_does_not_return_then_it_has_a_backtrace(self):
        self.trace(KNOWN, 'hang', options=['--stacks'], status=-signal.SIGKILL)
        lines = self.lines('--errors')
        self.assertIn(' did not return', lines[0])
        self.assertRegex(lines[1], r'^ {45}at program\+0x')

    def test_child_when_forked_then_has_callers_and_no_backtrace(self):
        for what in ('fork', 'raw-fork'):
            self.trace(KNOWN, what, options=['--stacks'])
            parent = self.lines()[0].split()[1]
            lines = [line for line in self.lines() if not line.startswith(45 * ' ')]
            child = [line for line in lines if line.split()[1] != parent]
            self.assertEqual((len(child), [line for line in lines if '  from program+0x' not in line]), (2, []))
            self.assertEqual(len(self.lines('--process', child[0].split()[1])), 2, 'no backtrace')
            self.assertGreater(len(self.lines('--process', parent)), 2 * 5 - 1)

    def stacks(self, *options):
        """[(call, the number of lines of its backtrace)]"""
        found = []
        for line in self.lines(*options):
            if not line.startswith(45 * ' '):
                found.append([line, 0])
            elif line.startswith(45 * ' ' + 'at '):
                found[-1][1] += 1
        return found

    def test_probe_when_function_is_missing_then_it_has_no_backtrace(self):
        self.trace(KNOWN, 'lookup')
        results = [(re.search(r'\) = (\w+)', call)[1], lines > 0) for call, lines in self.stacks() if 'Proc' in call]
        self.assertEqual(sorted(results), [('CUDA_ERROR_INVALID_VALUE', True), ('CUDA_ERROR_NOT_FOUND', False)]
                         + 3 * [('CUDA_SUCCESS', False)])

    def test_sticky_error_when_later_calls_return_it_then_the_first_one_has_a_backtrace(self):
        self.trace(os.path.join(PROGRAMS, 'finding_sticky'), 'sticky_error', 'wrong')
        lines = [lines for _, lines in self.stacks('--errors')]
        self.assertGreater(len(lines), 4)
        self.assertEqual([count > 0 for count in lines], [True] + (len(lines) - 1) * [False])

    def test_handler_when_its_signal_is_blocked_then_its_call_has_no_backtrace(self):
        self.trace(KNOWN, 'failing-handler')
        found = [(re.search('name="(.*?)"', call)[1], lines > 0) for call, lines in self.stacks('--errors')]
        self.assertEqual(found, [('program', True), ('handler', False), ('program', True)])

    def test_process_when_selected_then_report_has_its_calls(self):
        self.trace(KNOWN, 'fork')
        whole = self.calls()
        processes = list(dict.fromkeys(process for process, _, _ in whole))
        self.assertEqual(len(processes), 2)
        for process in processes:
            own = [call for call in whole if call[0] == process]
            self.assertEqual(self.calls('--process', process), own)
            self.assertIn(f'\n{len(own)} calls in ', self.report('--process', process))
            events = self.events('--process', process)
            self.assertEqual({event['pid'] for event in events if event.get('cat') == 'call'}, {int(process)})
        self.assertEqual(self.calls('--process', '1'), [])

    def test_caller_when_selected_then_report_has_its_calls(self):
        self.trace(KNOWN, 'nested', options=['--layer', NESTED])
        whole = [line for line in self.lines() if not line.startswith(45 * ' ')]
        modules = {FROM.search(line)['module'] for line in whole}
        self.assertIn('program', modules)
        selected = [line for line in self.lines('--caller', 'trace/program') if not line.startswith(45 * ' ')]
        self.assertEqual(selected, [line for line in whole if '  from program+' in line])
        self.assertEqual(self.report('--calls', '--caller', 'libnothing'), '')

    def test_room_when_used_again_then_callers_still_have_names(self):
        self.trace(KNOWN, 'count', '30000', options=['--size', '512K'])
        lines = self.lines()
        self.assertGreater(len(lines), 100)
        self.assertEqual([line for line in lines if '  from program+0x' not in line], [])

    def test_summary_when_calls_have_callers_then_has_their_modules(self):
        self.trace(KNOWN, 'calls')
        lines = self.report().split('Callers:\n')[1].splitlines()
        self.assertRegex(lines[1], rf'^ +\S+ [mun]?s +14 +2  {re.escape(KNOWN)}$')
        self.assertEqual(lines[2], '')

    def test_json_when_calls_have_callers_then_has_them(self):
        self.trace(KNOWN, 'fail', '1')
        events = self.events()
        callers = [event['args'].get('caller') for event in events if event.get('cat') in ('call', 'error')]
        self.assertTrue(callers and all(one.startswith('program+0x') for one in callers), callers)

    def test_csv_when_requested_then_has_a_row_for_each_call(self):
        self.trace(KNOWN, 'calls')
        head, *rows = csv.reader(self.report('--format=csv').splitlines())
        self.assertEqual(head, 'seconds process thread nanoseconds function arguments result caller'.split())
        self.assertEqual([(row[1], row[2], f'{row[4]}({row[5]}) = {row[6]}') for row in rows], self.calls())
        self.assertTrue(all(row[7].startswith('program+0x') and row[3].isdigit() for row in rows))

    def test_duration_when_call_has_a_place_then_is_that_of_the_call(self):
        for options in [], ['--stacks']:
            self.trace(os.path.join(PROGRAMS, 'clock'), options=options)
            for function in 'cuDriverGetVersion', 'cuMemAlloc':
                _, row = csv.reader(self.report('--format=csv', '--function', function).splitlines())
                self.assertEqual(row[3], '1000', 'a reading of the clock takes 1 us')

    def test_place_when_library_is_not_the_programs_then_it_is_in_the_program(self):
        program, libraries = (os.path.join(PROGRAMS, name) for name in ('place_program', 'place.so'))
        for name in 'own/libx.so', 'site-packages/libx.so', 'dist-packages/x/libx.so', 'own/libcublas.so.13':
            library = os.path.join(self.directory(), name)
            os.makedirs(os.path.dirname(library), exist_ok=True)
            shutil.copy(libraries, library)
            self.trace(program, library)
            _, row = csv.reader(self.report('--format=csv', '--errors').splitlines())
            self.assertIn('libx.so+0x' if name == 'own/libx.so' else 'place_program+0x', row[7])

    def test_file_when_backtrace_is_too_long_then_is_left_out(self):
        self.trace(KNOWN, 'fail', '1')
        data = bytearray(self.read())
        used, = struct.unpack_from('<Q', data, 0x40000 + 32)
        place, stacks = 0x40000 + 40, 0
        while place < 0x40000 + used:
            word, = struct.unpack_from('<Q', data, place)
            if word & 0xfff == 0xf04:
                stacks += 1
                struct.pack_into('<Q', data, place + 32, 1) # of no call
            place += 8 * (word >> 13 & 0xffff)
        self.write(data)
        self.assertGreater(stacks, 2)
        self.assertNotIn(45 * ' ' + 'at ', self.report('--calls'))


if __name__ == '__main__':
    main()
