#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver library that ends or blocks every process that opens it: each command returns, and reports and names it."""

import concurrent.futures
import os

from program import UNUSABLE, Case, fake, main, run, run_json

COMMANDS = [['probe'], ['probe', '--devices', '--require=12.0'], ['doctor'], ['table', 'StreamQuery'],
            ['lookup', 'cuStreamQuery', '12.0'], ['lookup', '--all'], ['run']]
NAME = 'libcuda.so.1'


class BrokenLibrary(Case):
    def truncated_driver(self, name=NAME):
        """Makes a directory with the first two pages of a driver: its headers refer to data beyond the end of the
        file."""
        directory = self.directory()
        with open(fake('driver_12_4'), 'rb') as whole, open(f'{directory}/{name}', 'wb') as file:
            file.write(whole.read(8192))
        return directory

    def expect_text(self, command, words, **variables):
        """Expects that the command fails with these words."""
        text = run(*command, **variables)
        self.assertEqual(text.status, UNUSABLE, (command, text.err))
        told = (text.out + text.err).decode()
        self.assertRegex(told, 'opening it ' + words + r'\.\s')
        self.assertIn("Reinstall NVIDIA's driver", told)

    def expect_json(self, command, words, **variables):
        answer = run_json(*command, **variables)
        self.assertEqual(answer.status, UNUSABLE, command)
        if command[0] == 'probe':
            self.assertEqual((answer.document['reason'], answer.document['loaded']), ('not-loadable', False))
            self.assertEqual(answer.document['entry_points']['native'], 0)
            self.assertIn('Reinstall', answer.document['advice'])
        elif command[0] == 'doctor':
            self.assertEqual((answer.document[0]['check'], answer.document[0]['verdict']), ('library', 'problem'))
            self.assertRegex(answer.document[0]['message'], words)
            self.assertIn('Reinstall', answer.document[0]['advice'])
        else:
            self.assertRegex(answer.err.decode(), words)

    def expect_failures(self, commands, words, **variables):
        """Expects that all commands fail with these words, as text and as JSON. They run at the same time."""
        with concurrent.futures.ThreadPoolExecutor(2 * len(commands)) as pool:
            waits = [pool.submit(expect, command, words, **variables)
                     for expect in (self.expect_text, self.expect_json) for command in commands]
            for wait in waits:
                wait.result()

    def test_library_when_truncated_and_found_by_soname_then_is_named(self):
        directory = self.truncated_driver()
        self.expect_failures(COMMANDS, rf'ends the process( \(.+\))?: {directory}/{NAME}: the file is incomplete',
                             LD_LIBRARY_PATH=f'/nowhere:{directory}')

    def test_library_when_truncated_and_given_by_name_then_is_named(self):
        directory = self.truncated_driver('libother.so')
        words = rf'ends the process( \(.+\))?: {directory}/libother.so: the file is incomplete'
        self.expect_failures([['probe', '--driver=libother.so']], words, LD_LIBRARY_PATH=directory)
        self.expect_failures([['probe']], words, LD_LIBRARY_PATH=directory, CUSHIM_DRIVER='libother.so')
        document = run_json('probe', LD_LIBRARY_PATH=directory, CUSHIM_DRIVER='libother.so').document
        self.assertEqual([attempt['path'] for attempt in document['tried']], ['libother.so'])
        self.assertIn({'name': 'CUSHIM_DRIVER', 'value': 'libother.so', 'used': True}, document['environment'])

    def test_library_when_it_is_a_fifo_then_program_returns(self):
        directory = self.directory()
        os.mkfifo(f'{directory}/{NAME}')
        words = rf'does not return within \d+ seconds: {directory}/{NAME}: this is not a regular file'
        self.expect_failures(COMMANDS, words, LD_LIBRARY_PATH=directory)

    def test_library_when_constructor_aborts_then_is_named(self):
        path = fake('aborts')
        self.expect_failures([[*command, '--driver', path] for command in COMMANDS],
                             rf'ends the process( \(.+\))?: {path}')

    def test_library_when_intact_one_is_given_then_truncated_one_is_not_opened(self):
        directory = self.truncated_driver()
        answer = run_json('probe', '--driver', fake('driver_12_4'), LD_LIBRARY_PATH=directory)
        self.assertEqual((answer.status, answer.err), (0, b''))
        self.assertEqual(len(answer.document['tried']), 1)


if __name__ == '__main__':
    main()
