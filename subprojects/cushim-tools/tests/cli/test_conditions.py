#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One grammar of conditions: each row of tests/conditions.tsv, asked in each place of the program and the library."""

import ctypes
import os
import subprocess
import sys
import unittest

from program import (LIBRARY, NEWEST, SOURCES, UNUSABLE, USABLE, USAGE, Case, environment, fake, for_each, main,
                     newest_fake, run)

DRIVER = '--driver=' + fake('driver_12_4')
ROWS = [line.rstrip('\n').split('\t') for line in open(os.path.join(SOURCES, 'tests', 'conditions.tsv'), encoding='utf-8')
        if not line.startswith(('#', 'condition\t'))]
STATUS = {'yes': USABLE, 'no': UNUSABLE, 'wrong': USAGE}
WRONG = (1, 500)  # CUDA_ERROR_INVALID_VALUE, or CUDA_ERROR_NOT_FOUND of a name
# In a process of its own: asks cushim_require() and cushim_choose() of the started driver, and prints their codes.
ASK = '''
import ctypes, sys
cushim = ctypes.CDLL(sys.argv[1])
assert cushim.cushim_init() == 0
for text in sys.argv[2:]:
    names, chosen = (ctypes.c_char_p * 1)(text.encode()), ctypes.c_char_p()
    required = cushim.cushim_require(names, ctypes.c_size_t(1), 0, None)
    result = cushim.cushim_choose(b'one: ' + text.encode() + b'; other', ctypes.byref(chosen))
    print(required, result, (chosen.value or b'-').decode())
'''


class Conditions(Case):
    def test_condition_when_asked_of_the_program_then_has_its_answer_in_each_option(self):
        def check(row):
            condition, answer, _ = row
            if answer == 'wrong':
                self.assertEqual(run('doctor', f'--require={condition}').status, USAGE, condition)
            for option in ('--require', '--feature', '--require-slot'):
                self.assertEqual(run('probe', DRIVER, f'{option}={condition}').status, STATUS[answer], (option, condition))
            if condition:
                chosen = run('probe', DRIVER, '--choose', f'one: {condition}; other')
                self.assertEqual((chosen.status, chosen.out), {'yes': (0, b'one\n'), 'no': (0, b'other\n'),
                                                               'wrong': (USAGE, b'')}[answer], condition)
        self.assertGreater(len(ROWS), 70)
        for_each(check, ROWS)

    @unittest.skipIf(LIBRARY is None, 'this build has no shared library for Python')
    def test_condition_when_asked_of_the_library_then_has_the_same_answer(self):
        done = subprocess.run([sys.executable, '-c', ASK, LIBRARY, *(row[0] for row in ROWS)],
                              env=environment(CUSHIM_DRIVER=fake('driver_12_4')), stdout=subprocess.PIPE, check=True)
        lines = done.stdout.decode().splitlines()
        self.assertEqual(len(lines), len(ROWS))
        for (condition, answer, _), line in zip(ROWS, lines):
            required, result, chosen = line.split()
            if answer == 'wrong':
                self.assertIn(int(required), WRONG, condition)
                if condition:
                    self.assertIn((int(result), chosen), [(code, '-') for code in WRONG], condition)
                continue
            self.assertEqual((int(required), int(result), chosen),
                             (0 if answer == 'yes' else 801, 0, 'one' if answer == 'yes' else 'other'), condition)

    def test_conditions_on_gpus_when_required_one_by_one_then_one_gpu_must_meet_all(self):
        self.assertEqual(run('probe', DRIVER, '--require=arch>=9.0', '--require=memory>=140G').status, USABLE)
        answer = run('probe', DRIVER, '--require=arch>=9.0', '--require=memory>=141G')
        self.assertEqual(answer.status, UNUSABLE)
        self.assertIn('GPU 0 has compute capability 9.0 and 143360 MiB', answer.out.decode().replace('\n', ' '))

    def test_require_when_a_version_is_given_twice_then_the_newest_counts(self):
        self.assertEqual(run('probe', DRIVER, '--require=13.0', '--require=12.0').status, UNUSABLE)

    def test_require_when_a_condition_is_not_met_then_names_it_and_the_driver_to_install(self):
        text = run('probe', DRIVER, '--require=cuda>=13.0', '--require=driver>=595.10')
        self.assertEqual(text.status, UNUSABLE)
        out = ' '.join(text.out.decode().split())
        self.assertIn('cuda>=13.0 is required; the driver is for CUDA 12.4.', out)
        self.assertIn('CUDA 13.2 needs driver 595 or newer.', out)
        self.assertIn('cuda>=13.0, driver>=595.10', out)

    def test_release_when_the_name_of_the_file_has_it_then_it_decides(self):
        tree = self.tree().driver('/usr/lib/x86_64-linux-gnu', release='550.54.14')
        path = tree.root + '/usr/lib/x86_64-linux-gnu/libcuda.so.1'
        for condition, status in (('driver>=550.54', USABLE), ('driver>=550.54.14', USABLE), ('driver>=550.54.15', UNUSABLE),
                                  ('driver<550.54.15', USABLE), ('driver>=550.163', UNUSABLE), ('driver>=555', UNUSABLE),
                                  ('driver<555', USABLE), ('driver>=551', UNUSABLE), ('driver<551', USABLE),
                                  ('driver>=535.261', USABLE)):
            self.assertEqual(run('probe', '--devices', '--driver', path, f'--require={condition}').status, status, condition)
            limited = run('probe', '--devices', '--driver', path, '--max-version=12.2', f'--require={condition}').status
            self.assertEqual(limited, {'driver>=535.261': USABLE}.get(condition, UNUSABLE if '>' in condition else USABLE),
                             condition)
        self.assertIn(b'the driver is 550.54.14, for CUDA', run('probe', '--driver', path, '--require=driver>=900').out)

    def test_for_when_a_machine_is_described_then_only_what_is_known_is_answered(self):
        refused, met, unmet = USAGE, USABLE, UNUSABLE
        for machine, condition, status in (
                ('driver=550.54.14 arch=8.0', 'driver>=550.54', met), ('driver=550.54.14', 'driver>=550.54.15', unmet),
                ('driver=550', 'driver>=550.54', refused), ('driver=550', 'driver<550.54', refused),
                ('driver=550', 'driver>=550', met), ('driver=550', 'driver>=555', unmet), ('driver=550', '12.4', met),
                ('driver=550', 'cuda>=12.5', unmet), ('driver=550', 'cuda<12.5', met), ('cuda=12.4', '550', met),
                ('cuda=12.4', 'driver>=550.54', refused), ('cuda=12.5', 'driver>=550.54', met),
                ('driver=550', 'arch>=8.0', refused), ('arch=8.0', 'arch>=8.0', met), ('arch=8.0', 'arch>=8.6', unmet),
                ('arch=8.0', 'memory>=1G', refused), ('arch=8.0,memory=40G', 'memory>=1G', met),
                ('arch=8.0', 'cuda>=12.0', refused), ('driver=535', 'cuStreamGetId', met),
                ('driver=470', 'cuStreamGetId', unmet), ('driver=525', 'StreamGetDevice_v1', met),  # a polyfill
                ('driver=535', 'memory-pools', refused), ('driver=440', 'memory-pools', unmet),
                ('driver=535', 'graphs', met), ('driver=535', 'pool-descriptors', refused), ('driver=12', 'graphs', refused),
                ('arch=80', 'arch>=8.0', refused), ('', '12.0', refused), ('driver=580', 'arch>=75', refused)):
            answer = run('probe', '--for', machine, f'--require={condition}', CUSHIM_DRIVER='/nowhere/libcuda.so.1')
            self.assertEqual((answer.status, bool(answer.err)), (status, status != met), (machine, condition, answer.err))
            if 'wrong' not in condition and 'arch=80' not in machine and machine and condition != 'arch>=75':
                chosen = run('probe', '--for', machine, '--choose', f'one: {condition}; other')
                self.assertEqual((chosen.status, chosen.out), {met: (0, b'one\n'), unmet: (0, b'other\n'),
                                                               refused: (USAGE, b'')}[status], (machine, condition))
        for arguments in ([], ['--devices', '--require=12.0'], ['--require=12.0', DRIVER]):
            self.assertEqual(run('probe', '--for=driver=550', *arguments).status, USAGE, arguments)

    def test_slot_when_it_can_be_polyfilled_then_the_first_version_is_that_of_each_limit(self):
        """What --for takes from the lists is what the library does with a driver of that version."""
        driver = '--driver=' + newest_fake(f'fake_{NEWEST}')
        slots = ['StreamGetDevice_v1', 'LaunchHostFunc_v1', 'StreamGetCtx_v2', 'CtxCreate_v4', 'StreamGetCaptureInfo_v3',
                 'GraphInstantiateWithFlags_v1', 'FuncGetParamCount_v1', 'StreamGetId_v1', 'EventElapsedTime_v2']
        def check(version):
            for slot in slots:
                one = run('probe', driver, f'--max-version={version}', f'--require={slot}').status
                self.assertEqual(run('probe', f'--for=cuda={version}', f'--require={slot}').status, one, (version, slot))
        for_each(check, ['6.5', '9.1', '9.2', '10.0', '11.3', '12.3', '12.4', '12.8', '13.2'])


if __name__ == '__main__':
    main()
