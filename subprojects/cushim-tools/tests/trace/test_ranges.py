#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The ranges of NVTX are in the recording, and the findings have those in which a call was made."""
import os
import re
import unittest

import chromium
from traced import LAYER, PROGRAMS, Traced, main, run

VARIABLE = 'NVTX_INJECTION64_PATH'
# The second one has NVIDIA's header, where that is installed.
VARIANTS = [path for path in (os.path.join(PROGRAMS, name) for name in ('ranges', 'ranges_of_header'))
            if os.path.exists(path)]
WIDE = 'grün 三 \U0001f600'
OUTER = 'before the first call > outer'


class Ranges(Traced):
    def ranges(self, *options):
        """[(name, phase, name of the track)]"""
        events = self.events(*options)
        tracks = {one['tid']: one['args']['name'] for one in events if one['name'] == 'thread_name'}
        return [(one['name'], one['ph'], re.sub(r'\d+', 'N', tracks[one['tid']], count=1)) for one in events
                if one.get('cat') == 'range']

    def record(self, program, what):
        self.assertEqual(self.trace(program, what).out, b'1\n')

    def test_ranges_when_program_uses_nvtx_then_json_has_rows_of_them(self):
        row = 'ranges of thread N'
        for program in VARIANTS:
            self.record(program, 'ranges')
            self.assertEqual(self.ranges(), [
                ('before the first call', 'X', row), ('outer', 'X', row + ', level 2'), (WIDE, 'X', row + ', level 3'),
                ('library: kernel <3>', 'X', row + ', level 4'), ('mark', 'i', row + ', level 5'),
                ('started', 'X', row + ', level 3'), ('of a thread without calls', 'X', row),
                ('never ends', 'B', row), ('(no name)', 'B', row + ', level 2')])
            events = self.events()
            begins = {one['name']: one['ts'] for one in events if one.get('cat') == 'range'}
            calls = [one for one in events if one.get('cat') in ('call', 'error')]
            self.assertLess(begins['before the first call'], calls[0]['ts'])
            self.assertLess(calls[-1]['ts'], begins['never ends'])

    def test_findings_when_call_was_in_ranges_then_have_them(self):
        for program in VARIANTS:
            self.record(program, 'ranges')
            lines = self.report('--calls', '--errors').count('cuCtxSynchronize()')
            found = [one['args'] for one in self.events() if one.get('cat') == 'finding']
            self.assertEqual((lines, len(found)), (5, 5))
            self.assertEqual([one.get('range') for one in found], [
                f'{OUTER} > {WIDE} > library: kernel <3>', f'{OUTER} > library: kernel <3>', f'{OUTER} > started', None,
                'before the first call'])
            texts = re.findall(r'^ {33}in range (.*)$', self.report('--findings'), re.M)
            self.assertEqual(texts, [one['range'] for one in found if 'range' in one])

    def test_ranges_when_program_makes_no_call_then_report_is_empty_and_right(self):
        for program in VARIANTS:
            self.record(program, 'alone')
            self.assertRegex(self.report(), r'^\S+ alone\n0 calls in 0 ns, 0 failed, 1 process\n')
            self.assertEqual(self.ranges()[0], ('alone', 'i', 'ranges of thread N'))

    def test_ranges_when_other_tool_is_set_then_is_left_alone(self):
        answer = self.trace('/bin/sh', '-c', f'echo ${VARIABLE}', **{VARIABLE: '/nowhere/tool.so'})
        self.assertEqual(answer.out, b'/nowhere/tool.so\n')
        self.assertIn(f'trace: {VARIABLE} is set (/nowhere/tool.so), so the ranges of NVTX are not recorded'.encode(),
                      answer.err)
        self.assertEqual(self.trace('/bin/sh', '-c', f'echo ${VARIABLE}').out.decode().strip(), os.path.realpath(LAYER))

    def test_ranges_when_process_is_not_recorded_then_program_is_as_without_them(self):
        for program in VARIANTS:
            self.assertEqual(self.trace('env', '-u', 'CUSHIM_TRACE', program, 'alone').out, b'1\n')

    def test_ranges_when_signal_handlers_use_them_then_each_is_recorded_or_counted(self):
        for program in VARIANTS:
            self.record(program, 'signals')
            lost = re.search(r'^(\d+) beginnings or ends of ranges', self.report(), re.M)
            names = [name for name, _, _ in self.ranges()]
            handled = names.count('of a signal handler')
            self.assertEqual(names.count('often'), 200000)
            self.assertGreater(handled + int(lost[1] if lost else 0), 0)

    def test_ranges_when_thread_is_cancelled_in_its_first_then_others_continue(self):
        for program in VARIANTS:
            self.record(program, 'cancel')
            self.assertEqual([name for name, _, _ in self.ranges()].count('cancelled'), 20)

    def test_ranges_when_program_forks_then_child_has_its_own(self):
        for program in VARIANTS:
            self.record(program, 'children')
            processes = {one['name']: one['pid'] for one in self.events() if one.get('cat') == 'range'}
            self.assertNotEqual(processes['parent'], processes['child'])
            [finding] = [one for one in self.events() if one.get('cat') == 'finding']
            self.assertEqual(finding['args']['range'], 'child')

    def test_ranges_when_thread_or_time_is_selected_then_are_those(self):
        self.trace(VARIANTS[0], 'ranges')
        thread = self.calls()[0][1]
        names = [name for name, _, _ in self.ranges()]
        self.assertEqual([name for name, _, _ in self.ranges('--thread', thread)],
                         [name for name in names if name != 'of a thread without calls'])
        self.assertEqual([name for name, _, _ in self.ranges('--from', '1000')], ['never ends', '(no name)'])

    def test_file_when_it_is_full_then_lost_ranges_are_counted(self):
        self.trace(VARIANTS[0], 'signals', options=('--size', '384K', '--keep', 'first'))
        self.assertRegex(self.report(), r'\n\d{6,} beginnings or ends of ranges of NVTX were not recorded: ')

    @unittest.skipUnless(chromium.PROGRAM, 'Chromium is not installed')
    def test_page_when_program_uses_nvtx_then_has_rows_of_ranges(self):
        self.trace(VARIANTS[0], 'ranges')
        path = self.file + '.html'
        self.assertEqual(run('trace', 'report', self.file, '--format=html', '-o', path).status, 0)
        with chromium.Chromium() as browser:
            browser.open(path)
            self.assertEqual(browser.errors, [])
            rows = browser.run('rows.filter((row) => row.ranges).map((row) => row.ranges.map((one) => one.name))')
            self.assertEqual(rows[:5], [['before the first call', 'never ends'], ['outer', '(no name)'],
                                        [WIDE, 'started'], ['library: kernel <3>'], ['mark']])
            labels = browser.run('rows.map((row) => row.label.replace(/\\d+/, "N"))')
            self.assertEqual(labels[:3], ['thread N', 'ranges of thread N', ''])
            drawn = browser.run("""(() => {
              showWhole(), draw();
              const row = rows.findIndex((one) => one.ranges), one = rows[row].ranges[0];
              return [...pen.getImageData(x((one.start + one.stop) / 2), y(row) + 4, 1, 1).data].slice(0, 3);
            })()""")
            self.assertEqual(drawn, [243, 196, 221])
            browser.run('select(errors[0])')
            details = browser.run('find("#details").innerText')
            self.assertIn(f'in range\t{OUTER} > {WIDE} > library: kernel <3>', details)


if __name__ == '__main__':
    main()
