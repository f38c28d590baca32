#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report as a page, in Chromium."""
import unittest

import chromium
from test_json import ODD
from traced import KNOWN, Traced, main, run

RED, CAPTURE = [209, 36, 47], [236, 228, 250]

# How many pixels of the canvas change if the arrows are not drawn.
ARROW_PIXELS = '''(() => {
  draw();
  const read = () => pen.getImageData(0, 0, canvas.width, canvas.height).data, before = read(), saved = waits.splice(0);
  draw();
  const after = read();
  waits.push(...saved);
  return before.reduce((sum, value, i) => sum + (value !== after[i]), 0);
})()'''


@unittest.skipUnless(chromium.PROGRAM, 'Chromium is not installed')
class Html(Traced):
    @classmethod
    def setUpClass(cls):
        cls.browser = cls.enterClassContext(chromium.Chromium())

    def open(self, *options):
        """Opens the page of the recorded calls. Returns its text."""
        path = self.file + '.html'
        answer = run('trace', 'report', self.file, '--format=html', '-o', path, *options)
        self.assertEqual((answer.status, answer.out, answer.err), (0, b'', b''))
        self.browser.open(path)
        self.assertEqual(self.browser.requests, ['file://' + path])
        self.assertEqual(self.browser.errors, [])
        with open(path, encoding='utf-8') as file:
            return file.read()

    def pixel(self, x, y):
        return self.browser.run(f'[...pen.getImageData({x}, {y}, 1, 1).data].slice(0, 3)')

    def selected(self):
        return self.browser.run('[name(selected), resultName(selected), find("#details").innerText]')

    def test_page_when_opened_then_asks_no_network(self):
        self.trace(KNOWN, 'streams')
        text = self.open()
        self.assertIn("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\"", text)
        self.browser.run('new Promise((done) => fetch("http://127.0.0.1:9/").then(done, done)).then(() => 1)')
        self.assertIn('Content Security Policy', self.browser.errors.pop(0))
        self.browser.errors.clear()

    def test_page_when_capture_is_invalidated_then_is_red(self):
        self.trace(KNOWN, 'streams')
        self.open()
        self.assertEqual(self.browser.run('trace.captures.map((one) => one.isInvalidated)'), [False, True])
        for index, bottom, middle in ((0, CAPTURE, CAPTURE), (1, RED, [255, 211, 209])):
            self.browser.run(f'view(trace.captures[{index}].begin - 1000, trace.captures[{index}].end + 1000); draw()')
            row = self.browser.run(f'y(rowOf.get(trace.captures[{index}].track))')
            place = self.browser.run(f'x(trace.captures[{index}].begin) + 1')
            self.assertEqual(self.pixel(place, row + 21), bottom)
            self.assertEqual(self.pixel(place, row + 1), middle)

    def test_page_when_call_is_clicked_then_shows_its_arguments(self):
        self.trace(KNOWN, 'streams')
        self.open()
        self.browser.press('e')
        name, result, _ = self.selected()
        self.assertEqual((name, result), ('cuStreamSynchronize', 'CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED'))
        call = self.browser.run('called.findIndex((_, i) => name(i) === "cuLaunchHostFunc")')
        place = self.browser.run(f'[(x(begin[{call}]) + x(end[{call}])) / 2, canvas.offsetTop + y(0) + ROW / 2]')
        self.browser.click(*place)
        name, result, details = self.selected()
        self.assertEqual((name, result), ('cuLaunchHostFunc', 'CUDA_SUCCESS'))
        self.assertRegex(details, r'^cuLaunchHostFunc CUDA_SUCCESS\n'
                                  r'hStream\tstream \d+\nfn\t0x[0-9a-f]+\nuserData\tNULL\n')
        self.assertEqual(self.browser.run('trace.findings.some((one) => one.isBad && begin.includes(one.begin))'), True)
        self.browser.run('find("#findings button:last-child").click()')
        self.assertEqual(self.selected()[:2], ['cuStreamEndCapture', 'CUDA_ERROR_STREAM_CAPTURE_INVALIDATED'])

    def test_page_when_searched_then_goes_from_match_to_match(self):
        self.trace(KNOWN, 'streams')
        self.open()
        self.browser.press('/')
        self.browser.call('Input.insertText', text='launch')
        self.browser.draw()
        hits = 'find("#hits").innerText'
        self.assertEqual(self.browser.run(hits), '4 found')
        begins = self.browser.run('matches.map((i) => begin[i])')
        for number, direction in ((1, 'next'), (2, 'next'), (1, 'previous'), (4, 'previous'), (1, 'next')):
            self.browser.run(f'find("#{direction}").click()')
            self.assertEqual(self.browser.run(hits), f'{number} of 4')
            self.assertEqual(self.browser.run('begin[selected]'), begins[number - 1])
        handles = sum('0x' in call for _, _, call in self.calls())
        for text, count in (('capture_mode_global', 2), ('INVALIDATED', 1), ('0x', handles), ('nothing', 0)):
            self.browser.run(f'search("{text}")')
            self.assertEqual(self.browser.run('matches.length'), count, text)

    def test_page_when_zoomed_then_keeps_the_time_at_the_pointer(self):
        self.trace(KNOWN, 'streams')
        self.open()
        span, time = self.browser.run('[to - from, timeAt(500)]')
        self.browser.mouse('mouseWheel', 500, 300, deltaX=0, deltaY=-400)
        self.browser.draw()
        nearer, same, before = self.browser.run('[to - from, timeAt(500), from]')
        self.assertLess(nearer, span * 0.6)
        self.assertAlmostEqual(same, time, delta=1)
        for kind, place in (('mousePressed', 500), ('mouseMoved', 450), ('mouseReleased', 450)):
            self.browser.mouse(kind, place, 300, button='left', buttons=1)
        self.browser.draw()
        self.assertAlmostEqual(self.browser.run('from'), before + nearer * 50 / 1010, delta=1)
        self.browser.press('0')
        self.assertAlmostEqual(self.browser.run('to - from'), span, delta=1)

    def test_page_when_calls_wait_then_has_arrows(self):
        self.trace(KNOWN, 'streams')
        self.open()
        self.assertEqual(self.browser.run('waits.map((i) => [name(source[i]), name(i)])'),
                         [['cuEventRecord', 'cuStreamWaitEvent'], ['cuLaunchHostFunc', 'cuStreamSynchronize'],
                          ['cuLaunchHostFunc', 'cuStreamSynchronize']])
        self.assertGreater(self.browser.run(ARROW_PIXELS), 500)

    def test_page_when_calls_are_many_then_errors_are_seen_and_arrows_are_not(self):
        self.trace(KNOWN, 'mix', '40000')
        self.open()
        self.assertEqual(self.browser.run('[count > 40000, errors.length, waits.length > 5000]'), [True, 12, True])
        for number in range(12):
            place = self.browser.run(f'[x(begin[errors[{number}]]), y(threadRow(errors[{number}])) + 10]')
            self.assertEqual(self.pixel(int(place[0]) + 1, place[1]), RED)
        self.assertEqual(self.browser.run(ARROW_PIXELS), 0)

    def test_page_when_names_have_odd_bytes_then_shows_them(self):
        self.trace(KNOWN, 'text', ODD)
        shown = ODD.decode(errors='replace')
        self.assertEqual(self.open().count('</script'), 3)
        self.assertEqual(self.browser.run('trace.command'), f'{KNOWN} text {shown}')
        self.browser.run('select(0)')
        self.assertEqual(self.browser.run('find("td:not(:empty)").closest("table").rows[2].cells[1].textContent'),
                         '"' + shown.replace('\\', '\\\\').replace('"', '\\"') + '"')

    def test_page_when_filtered_then_has_those_calls(self):
        self.trace(KNOWN, 'streams')
        self.open('--function', 'Launch')
        self.assertEqual(self.browser.run('Array.from(called, (_, i) => name(i))'), ['cuLaunchHostFunc'] * 4)
        self.open('--errors')
        self.assertEqual(self.browser.run('count'), 2)

    def test_page_when_trace_is_empty_then_opens(self):
        self.trace(KNOWN, 'nothing')
        self.open()
        self.assertEqual(self.browser.run('find("#summary").innerText'), '0 calls in 0 ns, 0 failed')


if __name__ == '__main__':
    main()
