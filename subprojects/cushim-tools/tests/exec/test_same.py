#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A program's own cushim gives the same answers on our library as on the driver behind it."""
import glob
import os
import unittest

from under_exec import DRIVERS, PROGRAM, Case, lists, main, newest_fake, run, softcuda, under

COMMANDS = [[command, *more, kind] for command, *more in (['table'], ['lookup', '--all'])
            for kind in ('--format=json', '--per-thread')]


class Same(Case):
    def compare(self, path, says_something=False, **variables):
        for command in COMMANDS:
            command = [*command, '--format=json']
            direct = run(*command, '--driver', path, **variables)
            answer = under(['--driver', path], PROGRAM, *command, **variables)
            self.assertEqual((direct.status, answer.status, answer.err != b''), (0, 0, says_something), path)
            self.assertEqual(answer.json, direct.json, (path, command))

    def test_answers_when_driver_is_softcuda_then_are_the_same(self):
        for one in lists.known_drivers():
            self.compare(softcuda(one.branch))

    def test_answers_when_driver_is_newer_than_the_list_then_are_the_same(self):
        self.compare(newest_fake('fake_future'), says_something=True)

    def test_answers_when_driver_is_real_then_are_the_same(self):
        drivers = sorted(glob.glob(os.path.join(DRIVERS, '*', 'libcuda.so.1')))
        if not drivers:
            raise unittest.SkipTest('there are no real drivers in the cache: tests/drivers/fetch')
        for path in drivers:
            self.compare(path, LD_LIBRARY_PATH=os.path.dirname(path))


if __name__ == '__main__':
    main()
