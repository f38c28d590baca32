#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver library or a layer that ends or blocks every process that opens it: each command returns, and reports and
names it."""

import collections
import concurrent.futures
import os
import shutil

from program import UNUSABLE, Case, fake, main, run, run_json

COMMANDS = [['probe'], ['probe', '--devices', '--require=12.0'], ['doctor'], ['table', 'StreamQuery'],
            ['lookup', 'cuStreamQuery', '12.0'], ['lookup', '--all'], ['run']]
NAME = 'libcuda.so.1'

Failure = collections.namedtuple('Failure', 'reason, check, advice')
FOUND = Failure('not-loadable', 'library', "Reinstall NVIDIA's driver")
REQUESTED = Failure('not-loadable', 'library', 'Correct CUSHIM_DRIVER')
LAYER = Failure('bad-layer', 'settings', 'Correct or unset CUSHIM_LAYERS')


class BrokenLibrary(Case):
    def truncated_driver(self, name=NAME):
        """Makes a directory with the first two pages of a driver: its headers refer to data beyond the end of the
        file."""
        directory = self.directory()
        with open(fake('driver_12_4'), 'rb') as whole, open(f'{directory}/{name}', 'wb') as file:
            file.write(whole.read(8192))
        return directory

    def expect_text(self, command, words, failure, **variables):
        """Expects that the command fails with these words."""
        text = run(*command, **variables)
        self.assertEqual(text.status, UNUSABLE, (command, text.err))
        told = ' '.join((text.out + text.err).decode().split()) + ' '
        self.assertRegex(told, words + r'\.\s')
        self.assertIn(failure.advice, told)

    def expect_json(self, command, words, failure, **variables):
        answer = run_json(*command, **variables)
        self.assertEqual(answer.status, UNUSABLE, command)
        if command[0] == 'probe':
            self.assertEqual((answer.document['reason'], answer.document['loaded']), (failure.reason, False))
            self.assertEqual(answer.document['entry_points']['native'], 0)
            self.assertIn(failure.advice, answer.document['advice'])
        elif command[0] == 'doctor':
            self.assertEqual((answer.document[0]['check'], answer.document[0]['verdict']), (failure.check, 'problem'))
            self.assertRegex(answer.document[0]['text'], words)
            self.assertIn(failure.advice, answer.document[0]['advice'])
        else:
            self.assertRegex(answer.err.decode(), words)

    def expect_failures(self, commands, words, failure=FOUND, **variables):
        """Expects that all commands fail with these words, as text and as JSON. They run at the same time."""
        with concurrent.futures.ThreadPoolExecutor(2 * len(commands)) as pool:
            waits = [pool.submit(expect, command, words, failure, **variables)
                     for expect in (self.expect_text, self.expect_json) for command in commands]
            for wait in waits:
                wait.result()

    def test_library_when_truncated_and_found_by_soname_then_is_named(self):
        directory = self.truncated_driver()
        self.expect_failures(COMMANDS, rf'opening it ends the process( \(.+\))?: {directory}/{NAME}: the file is incomplete',
                             LD_LIBRARY_PATH=f'/nowhere:{directory}')

    def test_library_when_truncated_and_given_by_name_then_is_named(self):
        directory = self.truncated_driver('libother.so')
        words = rf'opening it ends the process( \(.+\))?: {directory}/libother.so: the file is incomplete'
        self.expect_failures([['probe', '--driver=libother.so']], words, REQUESTED, LD_LIBRARY_PATH=directory)
        self.expect_failures([['probe']], words, REQUESTED, LD_LIBRARY_PATH=directory, CUSHIM_DRIVER='libother.so')
        document = run_json('probe', LD_LIBRARY_PATH=directory, CUSHIM_DRIVER='libother.so').document
        self.assertEqual([attempt['path'] for attempt in document['tried']], ['libother.so'])
        self.assertIn({'name': 'CUSHIM_DRIVER', 'value': 'libother.so', 'used': True}, document['environment'])

    def test_library_when_it_is_a_fifo_then_program_returns(self):
        directory = self.directory()
        os.mkfifo(f'{directory}/{NAME}')
        words = rf'opening it takes over \d+ s: {directory}/{NAME}: this is not a regular file'
        self.expect_failures(COMMANDS, words, LD_LIBRARY_PATH=directory)

    def test_library_when_constructor_ends_the_process_then_is_named(self):
        for library in (fake('aborts'), fake('exits')):
            self.expect_failures([[*command, '--driver', library] for command in COMMANDS],
                                 rf'opening it ends the process( \(.+\))?: {library}', REQUESTED)

    def test_library_when_constructor_ends_the_process_then_exec_does_not_run_the_program(self):
        for library in (fake('aborts'), fake('exits')):
            answer = run('exec', '--driver', library, '--', 'echo', 'ran')
            self.assertEqual((answer.status, answer.out), (UNUSABLE, b''))
            self.assertIn(library.encode(), answer.err)

    def test_layer_when_it_ends_the_process_then_is_named(self):
        for layer in ('aborts', 'exits', 'aborting_layer', 'exiting_layer'):
            words = rf'The layer {fake(layer)} cannot be used: opening or installing it ends the process( \(.+\))?'
            for driver in (fake('driver_12_4'), 'none'):
                self.expect_failures([[*command, '--driver', driver] for command in COMMANDS], words, LAYER,
                                     CUSHIM_LAYERS=f'{fake("layer")}:{fake(layer)}')

    def test_layer_when_it_ends_the_process_then_exec_does_not_run_the_program(self):
        for layer in ('exits', 'aborting_layer'):
            answer = run('exec', '--driver', fake('driver_12_4'), '--layer', fake(layer), '--', 'echo', 'ran')
            self.assertEqual((answer.status, answer.out), (UNUSABLE, b''))
            self.assertIn(fake(layer).encode(), answer.err)

    def test_layer_when_it_ends_the_process_then_probe_shows_the_variable(self):
        layers = fake('aborting_layer')
        document = run_json('probe', '--driver', fake('driver_12_4'), CUSHIM_LAYERS=layers).document
        self.assertEqual(document['tried'], [])
        self.assertEqual(document['environment'], [{'name': 'CUSHIM_LAYERS', 'value': layers, 'used': True}])

    def test_library_when_it_ends_the_process_then_layers_are_not_blamed(self):
        self.expect_failures([['probe', '--driver', fake('exits')]], rf'opening it ends the process: {fake("exits")}',
                             REQUESTED, CUSHIM_LAYERS=fake('layer'))

    def test_library_when_intact_one_is_given_then_truncated_one_is_not_opened(self):
        directory = self.truncated_driver()
        answer = run_json('probe', '--driver', fake('driver_12_4'), LD_LIBRARY_PATH=directory)
        self.assertEqual((answer.status, answer.err), (0, b''))
        self.assertEqual(len(answer.document['tried']), 1)

    def test_companion_when_its_code_does_not_return_then_is_named_within_the_time(self):
        for library, words in (('aborts', r'ends the process \(.+\)'), ('exits', 'ends the process'), ('hangs', 'takes over 2 s')):
            directory = self.directory()
            shutil.copy(fake('driver_12_4'), f'{directory}/{NAME}')
            shutil.copy(fake(library), f'{directory}/libnvcuvid.so.1')
            wanted = rf'NVCUVID cannot be used: opening libnvcuvid.so.1 {words}\.'
            doctor = run('doctor', '--timeout=2', '--driver', f'{directory}/{NAME}')
            self.assertRegex(' '.join(doctor.out.decode().split()), wanted)
            self.assertEqual((doctor.status, doctor.err), (UNUSABLE, b''))
            probe = run_json('probe', '--timeout=4', '--driver', f'{directory}/{NAME}')
            self.assertRegex(probe.document['companions'][0]['message'], wanted)
            self.assertEqual(probe.document['loaded'], True)


if __name__ == '__main__':
    main()
