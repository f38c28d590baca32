#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table and lookup on fake drivers and without a driver, a driver that is newer than the list, and the output."""

import os
import pty
import subprocess

from program import (NEWEST, NEXT_MAJOR, PROGRAM, UNUSABLE, USABLE, Case, environment, fake, lists, main, newest_fake,
                     run, run_json)

STATES = ['native', 'polyfill', 'adapted', 'missing']
DRIVER = '--driver=' + fake('driver_12_4')


class Table(Case):
    def test_table_when_written_as_json_then_each_slot_has_all_keys(self):
        answer = run_json('table', DRIVER)
        self.assertEqual(answer.status, USABLE)
        self.assertGreater(len(answer.document), 400)
        names = {row['slot'] for row in answer.document}
        self.assertEqual(len(names), len(answer.document))
        for row in answer.document:
            self.assertEqual(list(row), ['slot', 'function', 'since', 'state', 'symbol', 'via', 'layered'])
            self.assertTrue(row['function'].startswith('cu' + row['slot'].rsplit('_v', 1)[0]), row)
            self.assertIsInstance(row['since'], int)
            self.assertIn(row['state'], STATES)
            self.assertEqual(row['symbol'] is not None, row['state'] == 'native', row)
            self.assertTrue(row['state'] == 'polyfill' or row['via'] == [], row)
            self.assertLessEqual(set(row['via']), names)

    def test_table_when_slot_is_native_then_symbol_is_the_drivers(self):
        rows = {row['slot']: row for row in run_json('table', DRIVER).document}
        self.assertEqual(rows['StreamQuery_v1'], {'slot': 'StreamQuery_v1', 'function': 'cuStreamQuery', 'since': 2000,
                                                  'state': 'native', 'symbol': 'cuStreamQuery', 'via': [],
                                                  'layered': False})
        self.assertEqual(rows['DeviceTotalMem_v2']['symbol'], 'cuDeviceTotalMem_v2')
        self.assertEqual(rows['StreamGetId_v1']['state'], 'missing')

    def test_table_when_a_layer_has_replaced_a_slot_then_says_so(self):
        layer = fake('layer')
        rows = {row['slot']: row for row in run_json('table', DRIVER, CUSHIM_LAYERS=layer).document}
        self.assertEqual({slot for slot, row in rows.items() if row['layered']}, {'StreamQuery_v1'})
        self.assertEqual((rows['StreamQuery_v1']['state'], rows['StreamQuery_v1']['symbol']), ('native', 'cuStreamQuery'))
        self.assertIn('(layered)', run('table', DRIVER, 'StreamQuery', CUSHIM_LAYERS=layer).out.decode())
        answer = run_json('probe', DRIVER, CUSHIM_LAYERS=layer)
        self.assertEqual(answer.document['layers'], [{'name': 'layer', 'path': layer}])
        self.assertIn(layer, run('probe', DRIVER, CUSHIM_LAYERS=layer).out.decode())

    def test_probe_when_a_layer_is_bad_then_no_driver_is_loaded(self):
        for layer in ('/no/such/layer.so', fake('stub'), fake('layer') + ':' + fake('layer')):
            answer = run_json('probe', DRIVER, CUSHIM_LAYERS=layer)
            self.assertEqual((answer.status, answer.document['loaded'], answer.document['reason']), (UNUSABLE, False, 'bad-layer'))
            self.assertIn(layer.split(':')[0], answer.document['message'])
            self.assertIn('CUSHIM_LAYERS', answer.document['advice'])
            self.assertEqual(answer.document['layers'], [])
            row = next(row for row in run_json('doctor', DRIVER, CUSHIM_LAYERS=layer).document if row['check'] == 'settings')
            self.assertEqual(row['verdict'], 'problem')
            self.assertIn(answer.document['message'], row['text'])

    def test_table_when_filtered_then_ignores_case_and_matches_driver_functions(self):
        for filter in ('captureinfo', 'CAPTUREINFO', 'cuStreamGetCaptureInfo'):
            slots = [row['slot'] for row in run_json('table', DRIVER, filter).document]
            self.assertEqual(slots, ['StreamGetCaptureInfo_v1', 'StreamGetCaptureInfo_v2', 'StreamGetCaptureInfo_v3'])
        self.assertEqual(len(run_json('table', DRIVER, '').document), len(run_json('table', DRIVER).document))

    def test_table_when_nothing_matches_then_document_is_empty(self):
        answer = run_json('table', DRIVER, 'nosuch')
        self.assertEqual((answer.status, answer.document), (UNUSABLE, []))
        self.assertIn(b'no slot has "nosuch" in its name', answer.err)

    def test_table_when_no_driver_exists_then_all_slots_are_missing(self):
        answer = run_json('table', '--driver=none')
        self.assertEqual(answer.status, UNUSABLE)
        self.assertEqual({row['state'] for row in answer.document}, {'missing'})
        self.assertIn(b'cushim: Loading a driver was disabled on request.', answer.err)

    def test_table_when_written_as_text_then_columns_are_aligned(self):
        lines = run('table', DRIVER).out.decode().splitlines()
        since, state = lines[0].index('SINCE'), lines[0].index('STATE')
        for line in lines[1:]:
            self.assertRegex(line[since - 1:], r'\A \d+\.\d+ +(native|polyfill|adapted|missing)')
            self.assertIn(line[state:].split()[0], STATES)
            self.assertEqual(line, line.rstrip())


class Lookup(Case):
    def test_lookup_all_when_driver_is_loaded_then_lists_each_entry_point(self):
        answer = run_json('lookup', '--all', DRIVER)
        self.assertEqual((answer.status, len(answer.document)), (USABLE, len(lists.read())))
        self.assertEqual(len({(row['function'], row['version']) for row in answer.document}), len(lists.read()))
        for row in answer.document:
            self.assertEqual(list(row), ['function', 'version', 'found', 'symbol', 'answer', 'since', 'message'])
            self.assertEqual((row['answer'] == 'found', row['message'] is None), (row['found'], row['found']), row)
            self.assertLessEqual(row['since'], row['version'])
            is_adapted = row['function'] in ('cuInit', 'cuGetErrorString')
            self.assertEqual(row['symbol'] is not None, row['found'] and not is_adapted, row)
        found = {row['symbol'] for row in answer.document if row['found']}
        self.assertIn('cuDeviceTotalMem_v2', found)
        self.assertNotIn('cuStreamGetId', found)

    def test_lookup_all_when_no_driver_exists_then_finds_nothing(self):
        answer = run_json('lookup', '--all', '--driver=none')
        self.assertEqual((answer.status, len(answer.document)), (UNUSABLE, len(lists.read())))
        self.assertFalse(any(row['found'] for row in answer.document))

    def test_lookup_when_found_then_reports_the_symbol(self):
        answer = run_json('lookup', 'cuDeviceTotalMem', '12.3', DRIVER)
        self.assertEqual((answer.status, answer.document), (USABLE, [
            {'function': 'cuDeviceTotalMem', 'version': 12030, 'found': True, 'symbol': 'cuDeviceTotalMem_v2',
             'answer': 'found', 'since': 2000, 'message': None}]))

    def test_lookup_when_not_found_then_reports_the_reason(self):
        for function, version, options, answer, since in (
                ('cuNoSuch', '12.3', [], 'unknown', None), ('cuDeviceTotalMem_v2', '12.3', [], 'suffixed', 3020),
                ('cuStreamQuery', '13.0', [], 'driver-too-old', 2000), ('cuStreamGetId', '11.0', [], 'too-new', 12000),
                ('cuStreamGetId', '12.3', [], 'lacking', 12000),
                ('cuStreamQuery', '12.0', ['--hide=cuStreamQuery'], 'hidden', 2000),
                ('cuStreamGetId', '12.0', ['--max-version=11.0'], 'limited', 12000)):
            done = run_json('lookup', function, version, DRIVER, *options)
            row = done.document[0]
            self.assertEqual((done.status, row['found'], row['symbol']), (UNUSABLE, False, None))
            self.assertEqual((row['answer'], row['since']), (answer, since))
            self.assertIn(row['message'], done.err.decode())
            text = run('lookup', function, version, DRIVER, *options)
            self.assertEqual(text.status, UNUSABLE)
            self.assertIn(f' {answer} ', text.out.decode())
            self.assertIn(f' {since // 1000}.{since % 1000 // 10}\n' if since else ' -\n', text.out.decode())

    def test_lookup_when_no_version_is_given_then_shows_what_the_name_means(self):
        rows = {one['symbol']: one for one in run_json('lookup', 'cuCtxCreate', DRIVER).document}
        self.assertEqual({symbol: (one['plain_from'], one['plain_until']) for symbol, one in rows.items()},
                         {'cuCtxCreate': (None, None), 'cuCtxCreate_v2': (3020, 13000), 'cuCtxCreate_v3': (None, None),
                          'cuCtxCreate_v4': (13000, None)})
        other = {one['symbol'] for one in run_json('lookup', 'cuGraphInstantiate', DRIVER).document}
        self.assertLessEqual({'cuGraphInstantiate_v2', 'cuGraphInstantiateWithFlags'}, other)
        text = run('lookup', 'cuCtxCreate', DRIVER)
        self.assertEqual(text.status, USABLE)
        self.assertIn(b'3.2, before 13.0', text.out)
        self.assertEqual(run('lookup', 'cuNoSuchThing', DRIVER).status, UNUSABLE)
        answer = run_json('lookup', 'cuNoSuchThing', DRIVER)
        self.assertEqual((answer.status, answer.document), (UNUSABLE, []))
        self.assertEqual(run('lookup', 'cuCtxCreate', '--driver=none').status, UNUSABLE)

    def test_lookup_when_no_driver_exists_then_not_found(self):
        answer = run_json('lookup', 'cuStreamQuery', '12.0', '--driver=none')
        self.assertEqual((answer.status, answer.document[0]['found']), (UNUSABLE, False))
        self.assertEqual(answer.document[0]['answer'], 'no-driver')
        self.assertEqual(len(answer.err.splitlines()), 1)


class NewerDriver(Case):
    """A driver of the next major version of CUDA: nothing that the list has changes, and the rest is found by name."""
    FUTURE, NEWEST = '--driver=' + newest_fake('fake_future'), '--driver=' + newest_fake(f'fake_{NEWEST}')

    def test_table_when_driver_is_newer_than_the_list_then_is_that_of_its_newest_version(self):
        for kind in ([], ['--per-thread']):
            slots, newest = (run_json('table', driver, *kind).document for driver in (self.FUTURE, self.NEWEST))
            self.assertEqual(slots, newest)
            self.assertEqual([one['slot'] for one in slots if one['state'] == 'polyfill'], [])

    def test_lookup_when_function_is_newer_than_the_list_then_is_found(self):
        version = f'{NEXT_MAJOR // 1000}.0'
        for function, kind, symbol in (('cuFromTheFuture', [], 'cuFromTheFuture'), ('cuStreamQuery', [], 'cuStreamQuery_v2'),
                                       ('cuStreamQuery', ['--per-thread'], 'cuStreamQuery_v2_ptsz'),
                                       ('cuStreamGetId', [], 'cuStreamGetId')):
            answer = run_json('lookup', self.FUTURE, *kind, function, version)
            self.assertEqual((answer.status, answer.document[0]['symbol']), (USABLE, symbol))

    def test_probe_when_driver_is_newer_than_the_list_then_says_how_to_reach_what_is_newer(self):
        answer = run_json('probe', self.FUTURE, f'--require={NEXT_MAJOR // 1000}.0')
        self.assertEqual((answer.status, answer.document['driver']['cuda_version']), (USABLE, NEXT_MAJOR))
        self.assertIn(b'cushim_lookup() finds them', run('probe', self.FUTURE).out)
        self.assertNotIn(b'cushim_lookup', run('probe', self.NEWEST).out)

    def test_doctor_when_driver_is_newer_than_the_list_then_the_library_is_no_problem(self):
        findings = run_json('doctor', self.FUTURE).document
        self.assertEqual([one['verdict'] for one in findings if one['check'] == 'library'], ['ok'])

    def test_require_when_version_is_newer_than_the_list_then_advice_names_it(self):
        version = f'{NEXT_MAJOR // 1000 + 1}.0'
        answer = run_json('probe', self.FUTURE, f'--require={version}')
        self.assertEqual(answer.status, UNUSABLE)
        self.assertIn(f'Update NVIDIA\'s driver to one for CUDA {version}.', answer.document['advice'])


class Output(Case):
    COMMANDS = (['probe', DRIVER], ['table', DRIVER], ['lookup', '--all', DRIVER], ['lookup', 'cuInit', '2.0', DRIVER],
                ['doctor', DRIVER], ['--help'], ['--version'], ['probe', '--driver=none'])

    def test_output_when_disk_is_full_then_exits_with_a_message(self):
        if not os.path.exists('/dev/full'):
            self.skipTest('this system has no /dev/full')
        for command in self.COMMANDS:
            for format in ('--format=text', '--format=json'):
                with open('/dev/full', 'wb') as full:
                    answer = run(format, *command, stdout=full)
                self.assertEqual(answer.status, UNUSABLE, command)
                self.assertIn(b'No space left on device', answer.err)

    def test_json_when_names_hold_any_bytes_then_document_is_valid(self):
        for name in (b'a\x01b\x1f', b'q"\\q', b'\xff\xfe', b'\xc3', b'\xe2\x82', b'\xed\xa0\x80', b'\xf4\x90\x80\x80', b'tab\tline\nend',
                     'gr\u00fc\u00dfe \u2713 \U0001f600'.encode(), b'\x7f\x1b[31m', b'\xc2\x9b31m', b'\xc0\x80'):
            directory = os.fsencode(self.directory()) + b'/' + name
            answer = run_json('probe', b'--driver=' + directory, CUDA_VISIBLE_DEVICES=name)
            self.assertEqual(answer.document['tried'][0]['path'], directory.decode('utf-8', 'replace_each_byte'), name)
            self.assertEqual(answer.document['environment'][-1]['value'], name.decode('utf-8', 'replace_each_byte'))

    def test_text_when_names_hold_control_characters_then_replaces_them(self):
        out = run('probe', b'--driver=/nowhere/\x1b[31m\x07\xc2\x9b', CUDA_VISIBLE_DEVICES='\033]0;title\a').out
        self.assertNotRegex(out, rb'[\x00-\x09\x0b-\x1f\x7f]|\xc2\x9b')
        self.assertIn(b'/nowhere/?[31m??', out)

    def on_terminal(self, *arguments, **variables):
        reader, writer = pty.openpty()
        with subprocess.Popen([PROGRAM, *arguments], stdout=writer, stderr=subprocess.DEVNULL,
                              env=environment(**variables)) as process:
            os.close(writer)
            out = b''
            while True:
                try:
                    piece = os.read(reader, 65536)
                except OSError:  # Linux reports in this way that the other end is closed
                    break
                if not piece:
                    break
                out += piece
            process.wait()
        os.close(reader)
        return out

    def test_text_when_written_to_a_terminal_then_has_colour(self):
        self.assertNotIn(b'\033', run('table', DRIVER, TERM='xterm').out)
        self.assertIn(b'\033[32mnative\033[0m', self.on_terminal('table', DRIVER, TERM='xterm'))
        self.assertNotIn(b'\033', self.on_terminal('table', DRIVER, TERM='dumb'))
        self.assertNotIn(b'\033', self.on_terminal('table', DRIVER))
        self.assertNotIn(b'\033', self.on_terminal('table', DRIVER, TERM='xterm', NO_COLOR='1'))
        self.assertIn(b'\033', self.on_terminal('table', DRIVER, TERM='xterm', NO_COLOR=''))
        self.assertNotIn(b'\033', self.on_terminal('table', DRIVER, '--format=json', TERM='xterm'))

    def test_text_when_locale_is_utf8_then_has_ticks(self):
        tick, cross = '\u2713'.encode(), '\u2717'.encode()
        self.assertTrue(self.on_terminal('probe', DRIVER, LANG='C.UTF-8').startswith(tick))
        self.assertTrue(self.on_terminal('probe', '--driver=none', LANG='C.UTF-8').startswith(cross))
        self.assertTrue(self.on_terminal('probe', DRIVER, LANG='C.UTF-8', LC_ALL='C').startswith(b'ok '))
        self.assertTrue(run('probe', DRIVER, LANG='C.UTF-8').out.startswith(b'ok '))

    def test_text_when_written_to_a_terminal_then_wraps_at_its_width(self):
        out = self.on_terminal('probe', '--root', self.directory()).decode()
        advice = out.splitlines()[:5]
        self.assertTrue(all(len(line) <= 80 for line in advice), advice)
        self.assertGreater(len(run('probe', '--root', self.directory()).out.splitlines()[1]), 80)


def replace_each_byte(error):
    return '\ufffd' * (error.end - error.start), error.end


if __name__ == '__main__':
    import codecs
    codecs.register_error('replace_each_byte', replace_each_byte)
    main()
