#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The report as a page, in Chromium."""
import json
import pathlib
import time
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
        return pathlib.Path(path).read_text(encoding='utf-8')

    def show(self, *arguments, **variables):
        """Opens the page of a run of the known program."""
        self.trace(KNOWN, *arguments, **variables)
        return self.open()

    def open_changed(self, change):
        """Opens the page after change() has changed what its numbers mean."""
        before, mark, rest = self.open().partition('<script id="trace" type="application/json">')
        meaning, end, after = rest.partition('</script>')
        meaning = json.loads(meaning)
        change(meaning)
        path = self.file + '.changed.html'
        pathlib.Path(path).write_text(before + mark + json.dumps(meaning) + end + after, encoding='utf-8')
        self.browser.open(path)
        self.assertEqual(self.browser.errors, [])

    def pixel(self, x, y):
        return self.browser.run(f'[...pen.getImageData({x}, {y}, 1, 1).data].slice(0, 3)')

    def selected(self):
        return self.browser.run('[name(selected), resultName(selected), find("#details").innerText]')

    def test_page_when_opened_then_asks_no_network(self):
        text = self.show('streams')
        self.assertIn("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'\"", text)
        self.browser.run('new Promise((done) => fetch("http://127.0.0.1:9/").then(done, done)).then(() => 1)')
        self.assertIn('Content Security Policy', self.browser.errors.pop(0))
        self.browser.errors.clear()

    def test_page_when_capture_is_invalidated_then_is_red(self):
        self.show('streams')
        self.assertEqual(self.browser.run('trace.captures.map((one) => one.isInvalidated)'), [False, True])
        for index, bottom, middle in ((0, CAPTURE, CAPTURE), (1, RED, [255, 211, 209])):
            self.browser.run(f'view(trace.captures[{index}].begin - 1000, trace.captures[{index}].end + 1000); draw()')
            row = self.browser.run(f'y(rowOf.get(trace.captures[{index}].track))')
            place = self.browser.run(f'x(trace.captures[{index}].begin) + 1')
            self.assertEqual(self.pixel(place, row + 27), bottom)
            self.assertEqual(self.pixel(place, row + 1), middle)

    def test_page_when_call_is_clicked_then_shows_its_arguments(self):
        self.show('streams')
        self.browser.press('e')
        name, result, _ = self.selected()
        self.assertEqual((name, result), ('cuStreamSynchronize', 'CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED'))
        call = self.browser.run('called.findIndex((_, i) => name(i) === "cuLaunchHostFunc")')
        self.browser.run(f'view(begin[{call}] - 1000, end[{call}] + 1000); draw()')
        place = self.browser.run(f'[(x(begin[{call}]) + x(end[{call}])) / 2, canvas.offsetTop + y(0) + ROW / 2]')
        self.browser.click(*place)
        name, result, details = self.selected()
        self.assertEqual((name, result), ('cuLaunchHostFunc', 'CUDA_SUCCESS'))
        self.assertRegex(details, r'^cuLaunchHostFunc CUDA_SUCCESS\n'
                                  r'hStream\tstream \d+\nfn\t0x[0-9a-f]+\nuserData\tNULL\n')
        self.assertTrue(self.browser.run('trace.findings.some((one) => one.isBad && begin.includes(one.calls[0]))'))
        self.browser.run('[...document.querySelectorAll("#findings button")]'
                         '.find((one) => one.innerText.startsWith("cuStreamEndCapture:")).click()')
        self.assertEqual(self.selected()[:2], ['cuStreamEndCapture', 'CUDA_ERROR_STREAM_CAPTURE_INVALIDATED'])

    def test_page_when_call_with_finding_is_selected_then_shows_it_in_full(self):
        self.show('streams')
        self.browser.press('e')
        details = self.selected()[2]
        [lost] = [one for one in self.browser.run('trace.findings') if one['title'] == 'Captures that were lost']
        self.assertGreater(len(lost['text']), 150)
        self.assertIn(f'Captures that were lost: {lost["text"]}.\n', details)
        self.browser.run('select(0)')
        self.assertNotIn('Captures that were lost', self.selected()[2])

    def test_page_when_a_call_waits_for_a_kernel_then_has_its_name(self):
        self.show('wait-for-kernels', SOFTCUDA_EMPTY_KERNELS='1')
        self.browser.run('select(called.findIndex((_, i) => name(i) === "cuStreamSynchronize"))')
        self.assertRegex(self.selected()[2], r'waits for\tcuLaunchKernel of function 1 \(.*scale.*\) at 0\.')

    def test_page_when_driver_explains_a_failure_then_has_its_message(self):
        self.show('fail', '1')
        found = [one for one in self.browser.run('trace.findings') if 'driver' in one]
        self.assertIn('API call conflicts with a stream capture sequence', found[0]['driver'])
        self.browser.run(f'select([...begin].indexOf({found[0]["calls"][0]}))')
        self.assertIn(f'The driver: {found[0]["driver"]}\n', self.selected()[2])

    def test_page_when_program_asks_for_functions_that_are_missing_then_these_calls_have_not_failed(self):
        self.show('lookup')
        calls = self.browser.run('[...called.keys()].map((i) => [name(i), resultName(i), failed(i)])')
        self.assertIn(['cuGetProcAddress', 'CUDA_ERROR_NOT_FOUND', False], calls)
        self.assertEqual([call for call in calls if call[2]],
                         [['cuGetProcAddress_v2', 'CUDA_ERROR_INVALID_VALUE', True]])
        self.assertIn(', 1 failed', self.browser.run('find("#summary").innerText'))

    def test_page_when_findings_differ_in_numbers_then_are_one_button_without_a_sum(self):
        self.show('streams')
        begins, threads = self.browser.run('[[...begin], [...thread]]')
        texts = {9: 'cuStreamSynchronize took 3.10 ms; before it, in stream 2: cuLaunchKernel (10 calls)',
                 4: 'cuStreamSynchronize took 20.5 us; before it, in stream 2: cuLaunchKernel (9 calls)'}
        findings = [{'title': 'The longest waits', 'text': text, 'isBad': False, 'count': 1,
                     'calls': [begins[call], threads[call]]} for call, text in texts.items()]
        left = {'title': 'What was left at the end', 'text': '2 of 2 streams were alive', 'isBad': False, 'count': 1,
                'calls': []}
        self.open_changed(lambda meaning: meaning.update(findings=[*findings, left]))
        buttons = self.browser.run('[...document.querySelectorAll("#findings button:not(.bad)")]'
                                   '.map((one) => one.innerText)')
        one = '2 × cuStreamSynchronize took …; before it, in stream 2: cuLaunchKernel (… calls)'
        self.assertEqual(buttons, [one, left['text']])
        for call in (4, 9, 4):
            self.browser.run('find("#findings button:not(.bad)").click()')
            self.assertEqual(self.browser.run('selected'), call)
            self.assertIn(f'The longest waits: {texts[call]}.\n', self.selected()[2])
        self.browser.run('find("#findings button:last-child").click()')
        self.assertEqual(self.browser.run('find("#details").innerText').split('\n')[0], left['title'])
        self.assertIn(left['text'], self.browser.run('find("#details").innerText'))

    def test_page_when_it_has_streams_then_their_rows_say_whose_time_they_show(self):
        self.show('streams')
        drawn = self.browser.run("""(() => {
          const texts = [];
          pen.fillText = function (text, left, middle) {
            texts.push([text, Math.floor((middle - y(0)) / ROW), left < LEFT]);
            return CanvasRenderingContext2D.prototype.fillText.call(this, text, left, middle);
          };
          draw();
          delete pen.fillText;
          return texts;
        })()""")
        labels = [[text for text, row, is_label in drawn if is_label and row == number] for number in range(4)]
        self.assertEqual(labels[2:], [['stream 1', 'time of calls on the host'],
                                      ['stream 2', 'time of calls on the host']])
        for thread in labels[:2]:
            self.assertRegex('; '.join(thread), r'^thread \d+$')
        self.browser.mouse('mouseMoved', 20, self.browser.run('canvas.offsetTop + y(2) + 10'))
        self.assertEqual(self.browser.run('canvas.title'),
                         'stream 1: the time of calls on the host, not of the work on the GPU')

    def test_page_when_rows_are_in_another_order_then_are_sorted_by_number(self):
        self.trace(KNOWN, 'streams')

        def change(meaning):
            threads = [one for one in meaning['tracks'] if not one['isStream']]
            streams = [one for one in meaning['tracks'] if one['isStream']]
            names = 'thread 1002', 'thread 998', 'stream 10', 'stream 9'
            for one, name in zip(threads + streams, names, strict=True):
                one['name'] = name
        self.open_changed(change)
        self.assertEqual(self.browser.run('rows.map((row) => row.label)'),
                         ['thread 998', 'thread 1002', 'stream 9', 'stream 10'])

    def test_page_when_asked_then_explains_itself(self):
        self.show('streams')
        shown = 'find("#help").open && find("#help").innerText'
        self.assertEqual(self.browser.run(shown), False)
        self.browser.press('?')
        self.assertIn('The trace does not have the time at which the GPU does the work.', self.browser.run(shown))
        for key in self.browser.run('Object.keys(keys)'):
            words = {'-': '\u2212', 'N': 'Shift+n', 'E': 'Shift+e'}
            word = 'arrow keys' if key.startswith('Arrow') else words.get(key, key)
            self.assertIn(word, self.browser.run(shown).partition('Keys')[2])
        self.browser.press('?')
        self.assertEqual(self.browser.run(shown), False)
        self.browser.run('find("#ask").click()')
        self.assertEqual(self.browser.run('find("#help").open'), True)
        self.browser.run('find("#help").close()')

    def test_page_when_it_draws_a_colour_then_the_legend_has_it(self):
        self.show('streams')
        in_legend = self.browser.run('[...document.querySelectorAll("#legend i")]'
                                     '.map((one) => one.style.background.match(/--(\\w+)/)[1])')
        kinds = self.browser.run('kinds.map(([, kind]) => kind)')
        self.assertEqual(sorted(in_legend), sorted([*kinds, 'dense', 'error', 'capture', 'invalidated', 'range']))

    def test_page_when_window_is_small_then_fits(self):
        self.trace(KNOWN, 'streams')
        with chromium.Chromium(width=1280, height=800) as browser:
            self.open()
            browser.open(self.file + '.html')
            browser.run('search("launch"); step(matches, 1); step(errors, 1)')
            browser.draw()
            self.assertEqual(browser.run('[document.body.scrollWidth, document.body.scrollHeight]'), [1280, 800])
            for part in ('header', '#tools', '#details'):
                hidden = browser.run(f'[find("{part}").scrollWidth - find("{part}").clientWidth,'
                                     f' find("{part}").scrollHeight - find("{part}").clientHeight]')
                self.assertEqual(hidden, [0, 0], part)
            self.assertLess(browser.run('find("#tools").offsetHeight'), 45)
            self.assertGreaterEqual(browser.run('canvas.clientHeight - rows.length * ROW - TOP'), 0)
            self.assertEqual(browser.run('find("#findings").scrollHeight - find("#findings").clientHeight'), 0)
            browser.press('?')
            top, bottom = browser.run('(({top, bottom}) => [top, bottom])(find("#help").getBoundingClientRect())')
            self.assertEqual((top >= 0, bottom <= 800), (True, True))
            self.assertEqual(browser.run('find("#help").scrollHeight - find("#help").clientHeight'), 0)

    def test_page_when_searched_then_goes_from_match_to_match(self):
        self.show('streams')
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
        self.show('streams')
        span, moment = self.browser.run('[to - from, timeAt(500)]')
        row = self.browser.run('canvas.offsetTop + y(0)') # it depends on the number of findings
        self.browser.mouse('mouseWheel', 500, row, deltaX=0, deltaY=-400)
        end = time.monotonic() + 20
        while self.browser.run('to - from') == span and time.monotonic() < end: # Chromium hands a wheel on later
            self.browser.draw()
        nearer, same, before = self.browser.run('[to - from, timeAt(500), from]')
        self.assertLess(nearer, span * 0.6)
        self.assertAlmostEqual(same, moment, delta=1)
        for kind, place in (('mousePressed', 500), ('mouseMoved', 450), ('mouseReleased', 450)):
            self.browser.mouse(kind, place, row, button='left', buttons=1)
        self.browser.draw()
        self.assertAlmostEqual(self.browser.run('from'), before + nearer * 50 / 1010, delta=1)
        self.browser.press('0')
        self.assertAlmostEqual(self.browser.run('to - from'), span, delta=1)

    def test_page_when_calls_wait_then_has_arrows(self):
        self.show('streams')
        self.assertEqual(self.browser.run('waits.map((i) => [name(source[i]), name(i)])'),
                         [['cuEventRecord', 'cuStreamWaitEvent'], ['cuLaunchHostFunc', 'cuStreamSynchronize'],
                          ['cuLaunchHostFunc', 'cuStreamSynchronize']])
        self.assertGreater(self.browser.run(ARROW_PIXELS), 500)

    def test_page_when_calls_are_many_then_errors_are_seen_and_arrows_are_not(self):
        self.show('mix', '40000')
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
        shown_name = self.browser.run('find("#details td:not(:empty)").closest("table").rows[2].cells[1].textContent')
        self.assertEqual(shown_name, '"' + shown.replace('\\', '\\\\').replace('"', '\\"') + '"')

    def test_page_when_filtered_then_has_those_calls(self):
        self.trace(KNOWN, 'streams')
        self.open('--function', 'Launch')
        self.assertEqual(self.browser.run('Array.from(called, (_, i) => name(i))'), ['cuLaunchHostFunc'] * 4)
        self.open('--errors')
        self.assertEqual(self.browser.run('count'), 2)

    def test_page_when_trace_is_empty_then_opens(self):
        self.show('nothing')
        self.assertEqual(self.browser.run('find("#summary").innerText'), '0 calls in 0 ns, 0 failed')


if __name__ == '__main__':
    main()
