#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Without memory, a command gives the answer that it gives otherwise, or fails with a message and status 1."""

import itertools
import os
import pathlib
import struct

from program import NEWEST, PROGRAM, UNUSABLE, Case, fake, main, newest_fake, run

DRIVER = '--driver=' + newest_fake(f'fake_{NEWEST}')  # a failing dlsym() would allocate its message
NO_PROGRAM = 127
REPORTS = [], ['--calls'], ['--findings'], ['--format=json'], ['--format=html']
COMMANDS = [['probe', DRIVER], ['probe', '--devices', DRIVER], ['table', 'StreamQuery', DRIVER],
            ['lookup', 'cuInit', '12.0', DRIVER], ['doctor', DRIVER], ['table', '--driver=none'],
            ['exec', DRIVER, '--layer', fake('layer'), '--', '/no/such/program']]


def stop_last_call(path):
    """The last call did not return, its process did not end, and the files have changed, so that no addr2line starts."""
    trace, calls = bytearray(pathlib.Path(path).read_bytes()), []
    for chunk in range(256 << 10, len(trace), 64 << 10):
        used, = struct.unpack_from('<Q', trace, chunk + 32)
        at = chunk + 40
        while at < chunk + used:
            head, begin = struct.unpack_from('<2Q', trace, at)
            if head & 0xfff < 0xf00:
                calls.append((begin, at))
            elif head & 0xfff == 0xf02: # exit
                struct.pack_into('<Q', trace, at, head | 0xfff)
            elif head & 0xfff == 0xf05: # a module
                struct.pack_into('<Q', trace, at + 64, 0)
            at += 8 * (head >> 13 & 0xffff)
    trace[max(calls)[1] + 5] &= ~0x20
    pathlib.Path(path).write_bytes(trace)


class NoMemory(Case):
    def check(self, command, **variables):
        """Runs the command with 0, 1, 2, ... allocations that succeed, until none fails."""
        mark = os.path.join(self.directory(), 'failed')
        expected = run(*command)
        self.assertEqual(expected.status == NO_PROGRAM, command[0] == 'exec')
        statuses = []
        has_failed, counts = True, itertools.count()
        while has_failed:
            count = next(counts)
            answer = run(*command, LD_PRELOAD=fake('no_memory'), NO_MEMORY_AFTER=str(count), NO_MEMORY_FILE=mark,
                         **variables)
            has_failed = os.path.exists(mark)
            if has_failed:
                os.remove(mark)
            self.assertNotIn(b'(null)', answer.out + answer.err, count)
            statuses.append(answer.status)
            if answer.status == UNUSABLE:
                self.assertNotEqual(answer.out + answer.err, b'', count)
                continue
            # The environment of this run has a variable more, which probe shows.
            out = answer.out.replace(b'Environment\n  LD_PRELOAD=' + fake('no_memory').encode() + b'\n', b'')
            self.assertEqual((answer.status, out, answer.err), (expected.status, expected.out, expected.err), count)
        self.assertIn(UNUSABLE, statuses)
        self.assertEqual(statuses[-1], expected.status)

    def test_command_when_memory_ends_then_answer_is_right_or_status_is_unusable(self):
        for command in COMMANDS:
            for variables in ({}, {'NO_MEMORY_ONCE': '1'}):
                with self.subTest(command=command, **variables):
                    self.check(command, **variables)

    def test_report_when_memory_ends_then_is_complete_or_status_is_unusable(self):
        if b'cushim trace' not in run('--help').out:
            self.skipTest('this program has no trace')
        path = os.path.join(self.directory(), 'a.trace')
        self.assertEqual(run('trace', '-o', path, '--softcuda', '580', '--', PROGRAM, 'probe').status, 0)
        stop_last_call(path)
        self.assertIn(b'did not return', run('trace', 'report', path).out)
        for options in REPORTS:
            for variables in ({}, {'NO_MEMORY_ONCE': '1'}):
                with self.subTest(options=options, **variables):
                    self.check(['trace', 'report', path, *options], **variables)


if __name__ == '__main__':
    main()
