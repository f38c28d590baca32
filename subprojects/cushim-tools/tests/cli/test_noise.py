#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver that writes to stdout, leaves a process behind, or does not return does not spoil what a command writes."""

import json
import subprocess

from program import PROGRAM, UNUSABLE, USABLE, Case, environment, fake, for_each, main, run, run_json

COMMANDS = (('probe',), ('probe', '--devices'), ('table',), ('lookup', 'cuInit'), ('lookup', 'cuInit', '11.0'),
            ('lookup', '--all'))
DRIVER = '--driver=' + fake('driver_12_4')


class Noise(Case):
    def test_answer_when_driver_writes_to_stdout_then_it_goes_to_stderr(self):
        for command in COMMANDS:
            expected, answer = run_json(*command, DRIVER), run_json(*command, DRIVER, FAKE_NOISE='1')
            self.assertEqual((answer.status, answer.out), (USABLE, expected.out), command)
            self.assertIn(b'noise', answer.err)
            expected, answer = run(*command, DRIVER), run(*command, DRIVER, FAKE_NOISE='1')
            self.assertEqual((answer.status, answer.out), (USABLE, expected.out), command)
        self.assertEqual(run('probe', DRIVER, '--choose=cu12:cuda>=12.0', FAKE_NOISE='1').out, b'cu12\n')

    def test_answer_when_driver_leaves_a_process_then_the_program_does_not_wait_for_it(self):
        for command in COMMANDS:
            done = subprocess.run([PROGRAM, *command, DRIVER, '--format=json'], env=environment(FAKE_LEAVES='1'),
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                  timeout=15, check=False)
            text = done.stdout.replace(b'\0', b'').decode()
            self.assertEqual(done.returncode, USABLE, text)
            self.assertTrue(json.loads(text))

    def test_answer_when_driver_ends_or_hangs_in_the_middle_then_one_document_is_written(self):
        def check_json(variables):
            answer = run_json('probe', '--devices', '--timeout=2', DRIVER, **variables)
            self.assertEqual((answer.status, answer.document['reason'], answer.document['devices']),
                             (UNUSABLE, 'no-answer', []))

        def check_text(variables):
            self.assertEqual(run('probe', '--devices', '--timeout=2', DRIVER, **variables).out.count(b'The driver '), 1)
        for_each(lambda row: row[0](row[1]), [(check, {how: 'cuDeviceGetName'}) for check in (check_json, check_text)
                                              for how in ('FAKE_CRASH', 'FAKE_HANG')])

    def test_answer_when_driver_ends_the_second_process_then_all_slots_are_missing(self):
        for command in (('table', 'StreamQuery'), ('lookup', 'cuStreamQuery')):
            answer = run_json(*command, DRIVER, FAKE_ONCE=self.directory() + '/once')
            self.assertEqual((answer.status, {row['state'] for row in answer.document}), (UNUSABLE, {'missing'}))
            self.assertIn(b'The driver ended the process (Aborted).', answer.err)

    def test_run_when_driver_writes_or_ends_then_one_document_is_written(self):
        expected, answer = run_json('run', DRIVER), run_json('run', DRIVER, FAKE_NOISE='1')
        self.assertIn(b'noise', answer.err)
        for document in (expected.document, answer.document):
            for step in document['steps']:
                del step['microseconds']
        self.assertEqual((answer.status, answer.document), (expected.status, expected.document))
        self.assertNotEqual(answer.document['steps'], [])
        for variables in ({'FAKE_CRASH': 'cuDeviceGetName'}, {'FAKE_ONCE': self.directory() + '/once'}):
            answer = run_json('run', DRIVER, **variables)
            self.assertEqual(answer.status, UNUSABLE)
            self.assertEqual(answer.document, {'driver': None, 'steps': [], 'passed': False})
            self.assertIn(b'The driver ended the process (Aborted).', answer.err)

    def test_answer_when_stdout_is_closed_or_full_then_the_failure_is_reported(self):
        for command in (*COMMANDS, ('doctor',), ('run', '--softcuda=580')):
            for stdout in (None, '/dev/full'):
                before = ['sh', '-c', 'exec "$@" >&-', 'sh'] if stdout is None else ['sh', '-c', 'exec "$@" >/dev/full', 'sh']
                driver = [] if command[0] == 'run' else [DRIVER]
                answer = run(*command, *driver, before=before)
                self.assertEqual(answer.status, UNUSABLE, (command, stdout))
                self.assertIn(b'cannot write the output', answer.err)
                self.assertEqual(answer.err.count(b'cannot write'), 1)


if __name__ == '__main__':
    main()
