#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""An unmodified program that fails on a newer driver: Numba of Debian 12 (0.56) takes the name with _v2 of every function.
Since CUDA 13.0 there are cuCtxGetDevice_v2 and cuCtxSynchronize_v2, with other parameters than the first versions."""
import os
import subprocess
import sys
import unittest

from under_exec import HERE, IS_FOREIGN, Case, main, under

COMMANDS = [[python, os.path.join(HERE, 'numba_sum.py')] for python in (sys.executable, '/usr/bin/python3')]


def has_numba(command):
    return subprocess.run([command[0], '-c', 'import numba.cuda'], stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False).returncode == 0


class Numba(Case):
    def setUp(self):
        self.command = next(filter(has_numba, COMMANDS), None)
        if IS_FOREIGN:
            raise unittest.SkipTest('this Python is built for another processor architecture')
        if self.command is None:
            raise unittest.SkipTest('Numba is not installed')

    def run_on_580(self, *options):
        return under(['--softcuda', '580', *options], *self.command)

    def test_numba_when_driver_has_another_version_of_a_function_then_works_with_a_limit_or_hidden_functions(self):
        plain = self.run_on_580()
        if plain.status == 0:
            raise unittest.SkipTest('this release of Numba works on driver 580')
        self.assertIn(b'Call to cuCtxGetDevice results in CUDA_ERROR_INVALID_CONTEXT', plain.err)
        for options in (['--max-version', '12.9'], ['--hide', 'CtxGetDevice_v2,CtxSynchronize_v2']):
            answer = self.run_on_580(*options)
            self.assertEqual((answer.status, answer.out), (0, b'6\n'), answer.err)


if __name__ == '__main__':
    main()
