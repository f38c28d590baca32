#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each setting of the list is read or refused: a wrong value is named with what is allowed, and cuInit returns 1.

  test_settings.py SETTINGS_INC LIBRARY...
"""
import ctypes
import os
import pathlib
import re
import sys
import tempfile
import unittest

from forked import forked

ROWS = re.findall(r'^SOFT_SETTING\((\w+), (\w+), \S+ \S+ "(.*?)", "', pathlib.Path(sys.argv[1]).read_text(), re.M)
LIBRARIES = sys.argv[2:]
# For each type, values that are not understood, and what the message says.
WRONG = {
    'number': {'two': '0 to', '-1': '0 to', '1x': '0 to', '0x1': '0 to', '4294967296': '0 to',
               '99999999999999999999': '0 to'},
    'size': {'4X': '"4G"', 'G': '"4G"', '4GG': '"4G"', '-4G': '"4G"', '99999999T': 'more than',
             '18446744073709551616': '"4G"'},
    'faults': {'cuMemAllok_v2=2': '"cuMemAlloc_v2"?', 'cuMemAlloc=OUT_OF_MEMORI': '"OUT_OF_MEMORY"?',
               'cuMemAlloc:x=2': '"x"', 'cuMemAlloc:0=2': '"0"', 'cuMemAlloc:=2': '""', 'cuMemAlloc': 'such as',
               'cuMemAlloc=': 'result', 'cuMemAlloc=0': 'result 0', 'cuMemAlloc=SUCCESS': 'result',
               'cuMemAlloc=2x': 'result', 'cuMemAlloc=2:1': 'such as', 'cuMemAlloc_v0=2': 'did you mean',
               'cuMemAlloc=2, cuInit': 'such as', '=2': 'no driver'},
    'features': {'memory_pools': '"memory-pools"?', 'memory-pools, nonsense': '"nonsense"'},
    'functions': {'cuMemAllok': '"cuMemAlloc"?', 'cuStreamGetId, cuNoSuchThing': '"cuNoSuchThing"', '*': '"*"',
                  'cuStreamQuery_ptds': '"cuStreamQuery_ptsz"?', 'x' * 300: '"xxx'},
    'file': {'/nowhere/at/all': 'cannot be written'},
}
RIGHT = {
    'size': ['1000000', '512M', '1G', '0T'],
    'faults': ['cuMemAlloc=2', 'cuMemAlloc_v1:3=CUDA_ERROR_OUT_OF_MEMORY ,  cuLaunchHostFunc_v2=999,', '*:90=NOT_READY',
               'cuStreamQuery_ptsz=2', 'cuD3D11GetDevice=2', 'cuMemAlloc=2147483647'],
    'functions': ['cuGreenCtxCreate', 'cuMemGetAttribute_v2', 'cuD3D11GetDevice'],
}


def start(library, **variables):
    """The result of cuInit, and the messages."""
    return forked(lambda: ctypes.CDLL(library).cuInit(0), **variables)


class Settings(unittest.TestCase):
    def test_setting_when_a_value_of_its_type_then_accepted(self):
        self.assertGreaterEqual(len(ROWS), 9)
        for name, kind, example in ROWS:
            for value in [example, '', *RIGHT.get(kind, [])]:
                for library in LIBRARIES:
                    with self.subTest(name=name, value=value, library=library):
                        self.assertEqual(start(library, **{f'SOFTCUDA_{name}': value}), (0, ''))

    def test_setting_when_not_understood_then_named_and_the_start_fails(self):
        for name, kind, _ in ROWS:
            for value, says in WRONG[kind].items():
                for library in LIBRARIES:
                    with self.subTest(name=name, value=value, library=library):
                        code, message = start(library, **{f'SOFTCUDA_{name}': value})
                        self.assertEqual(code, 1)
                        self.assertRegex(message, f'^softcuda: SOFTCUDA_{name}: .*{re.escape(says)}.*\\n$')

    def test_setting_when_no_setting_has_its_name_then_named_and_the_start_fails(self):
        self.assertEqual(start(LIBRARIES[-1], SOFTCUDA_MEMROY='4G'), (
            1, 'softcuda: environment: "SOFTCUDA_MEMROY": softcuda has no such setting; '
               'did you mean "SOFTCUDA_MEMORY"?\n'))

    def test_settings_when_two_are_wrong_then_both_are_named(self):
        code, message = start(LIBRARIES[-1], SOFTCUDA_MEMORY='4X', SOFTCUDA_DEVICES='65')
        self.assertEqual(code, 1)
        self.assertIn('SOFTCUDA_MEMORY', message)
        self.assertIn('SOFTCUDA_DEVICES', message)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)  # the example of a file is written
        unittest.main(argv=sys.argv[:1])
