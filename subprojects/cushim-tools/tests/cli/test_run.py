#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run: on every softcuda; in place of the machine's driver only if it has none; and every fault is reported."""

import os

from program import LIBRARIES, UNUSABLE, USABLE, USAGE, Case, fake, lists, main, run, run_json

STEPS = ['start', 'copy in', 'kernel', 'copy out', 'host function', 'fork and join', 'capture', 'launches', 'end']
DRIVERS = {str(one.branch): one.version for one in lists.known_drivers()}
NEWEST = lists.known_drivers()[-1]


class Run(Case):
    def outcomes(self, document):
        self.assertEqual(list(document), ['driver', 'steps', 'passed'])
        for step in document['steps']:
            self.assertEqual(list(step), ['step', 'outcome', 'microseconds', 'message'])
            self.assertGreaterEqual(step['microseconds'], 0)
            self.assertNotEqual(step['message'], '')
        return {step['step']: step['outcome'] for step in document['steps']}

    def all_passed(self, answer):
        self.assertEqual((answer.status, answer.err), (USABLE, b''))
        self.assertEqual(self.outcomes(answer.document), dict.fromkeys(STEPS, 'passed'))
        self.assertIs(answer.document['passed'], True)

    def runs_on_softcuda(self, answer, instead_of):
        self.all_passed(answer)
        driver = answer.document['driver']
        self.assertEqual(list(driver), ['path', 'cuda_version', 'device', 'softcuda', 'instead_of'])
        self.assertEqual((driver['cuda_version'], driver['softcuda'], driver['instead_of']), (NEWEST.version, str(NEWEST.branch), instead_of))

    def test_run_when_no_driver_exists_then_uses_softcuda(self):
        empty = self.directory()
        self.runs_on_softcuda(run_json('run', '--root', empty), 'not-found')
        answer = run('run', '--root', empty)
        lines = answer.out.decode().splitlines()
        self.assertEqual((answer.status, answer.err, len(lines)), (USABLE, b'', len(STEPS) + 2))
        self.assertIn(run_json('probe', '--root', empty).document['message'], lines[0])
        self.assertIn(f'driver {NEWEST.branch} for CUDA {lists.version_text(NEWEST.version)}', lines[1])
        for step, line in zip(STEPS, lines[2:]):
            self.assertRegex(line, r'^ok +%s +\d+\.\d{3} ms  \w' % step)

    def test_run_when_driver_is_switched_off_then_uses_softcuda(self):
        self.runs_on_softcuda(run_json('run', '--driver', 'none'), 'not-wanted')
        self.runs_on_softcuda(run_json('run', CUSHIM_DRIVER='none'), 'not-wanted')

    def test_run_when_driver_has_no_gpu_then_uses_softcuda(self):
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes()
        self.runs_on_softcuda(run_json('run', '--root', tree.root, FAKE_INIT='100'), 'no-device')

    def test_run_when_driver_is_broken_then_does_not_use_softcuda(self):
        tree = self.tree().driver(LIBRARIES).kernel_module('580.65.06').nodes()
        answer = run_json('run', '--root', tree.root, FAKE_INIT='803')
        self.assertEqual((answer.status, answer.document), (UNUSABLE, {'passed': False, 'driver': None, 'steps': []}))
        self.assertIn(b'cushim run --softcuda 580', answer.err)

    def test_run_when_given_driver_does_not_exist_then_does_not_use_softcuda(self):
        for answer in (run_json('run', '--driver', '/nowhere'), run_json('run', CUSHIM_DRIVER='/nowhere')):
            self.assertEqual((answer.status, answer.document['driver']), (UNUSABLE, None))
            self.assertNotEqual(answer.err, b'')

    def test_run_when_on_each_softcuda_then_steps_succeed_or_are_skipped(self):
        for driver, version in DRIVERS.items():
            answer = run_json('run', '--softcuda', driver)
            outcomes = self.outcomes(answer.document)
            late = 'passed' if version >= 10000 else 'skipped'
            expected = {step: late if step in ('capture', 'launches') else 'passed' for step in STEPS}
            self.assertEqual((answer.status, outcomes), (USABLE, expected), driver)
            self.assertEqual(answer.document['driver']['cuda_version'], version)
            self.assertEqual((answer.document['driver']['softcuda'], answer.document['driver']['instead_of']), (driver, None))

    def test_run_when_softcuda_is_given_as_a_path_then_reports_it(self):
        path = run_json('run', '--softcuda', '550').document['driver']['path']
        self.assertTrue(os.path.isabs(path))
        answer = run_json('run', CUSHIM_DRIVER=path)
        self.all_passed(answer)
        self.assertEqual((answer.document['driver']['softcuda'], answer.document['driver']['path']), ('550', path))

    def test_run_when_limited_or_hidden_then_applies_to_softcuda(self):
        self.runs_on_softcuda(run_json('run', '--root', self.directory(), '--hide', 'cuStreamGetId'), 'not-found')
        answer = run_json('run', '--root', self.directory(), '--max-version', '9.1')
        self.assertEqual(self.outcomes(answer.document)['capture'], 'skipped')
        self.assertIn('needs CUDA 10.0', answer.document['steps'][6]['message'])

    def test_run_when_call_fails_then_its_step_is_the_last(self):
        for call, step, code in (('cuMemAlloc_v2', 'start', '2'), ('cuLaunchKernel', 'kernel', '719'),
                                 ('cuStreamEndCapture', 'capture', '901'), ('cuGraphLaunch:77', 'launches', '999'),
                                 ('cuEventDestroy_v2:2', 'end', '700')):
            answer = run_json('run', '--softcuda', '580', SOFTCUDA_FAIL=f'{call}={code}')
            outcomes = self.outcomes(answer.document)
            self.assertEqual((answer.status, answer.document['passed']), (UNUSABLE, False), call)
            self.assertEqual(list(outcomes), STEPS[:STEPS.index(step) + 1])
            self.assertEqual(list(outcomes.values()), ['passed'] * STEPS.index(step) + ['failed'])
            self.assertIn(f'({code})', answer.document['steps'][-1]['message'])
            self.assertRegex(answer.document['steps'][-1]['message'],
                             fr'The driver says: Returning {code} \(CUDA_ERROR_\w+\) from {call.split(":")[0]}\.$')

    def test_run_when_driver_has_no_log_then_a_failure_has_the_code_alone(self):
        answer = run_json('run', '--softcuda', '550', SOFTCUDA_FAIL='cuLaunchKernel=719')
        self.assertRegex(answer.document['steps'][-1]['message'], r'\(719\)$')

    def test_run_when_driver_does_nothing_then_reports_wrong_results(self):
        answer = run_json('run', '--driver', fake('driver_12_4'))
        self.assertEqual((answer.status, answer.document['passed']), (UNUSABLE, False))
        self.assertEqual(list(self.outcomes(answer.document).values())[-1], 'failed')

    def test_run_when_module_is_refused_then_uses_a_memset(self):
        answer = run_json('run', '--softcuda', '580', SOFTCUDA_FAIL='cuModuleLoadData=218')
        self.all_passed(answer)
        self.assertIn('memset', answer.document['steps'][2]['message'])
        self.assertIn('(218)', answer.document['steps'][2]['message'])

    def test_run_when_host_functions_are_late_then_waits_for_them(self):
        answer = run_json('run', '--softcuda', '580', SOFTCUDA_LATE_CALLBACKS='2')
        self.all_passed(answer)
        self.assertGreater(answer.document['steps'][STEPS.index('launches')]['microseconds'], 100 * 2000)

    def test_softcuda_option_when_given_to_another_command_then_uses_it(self):
        for driver, version in DRIVERS.items():
            softcuda = ('--softcuda', driver)
            probe = run_json('probe', '--devices', *softcuda)
            self.assertEqual((probe.status, probe.document['driver']['cuda_version']), (USABLE, version))
            self.assertEqual([device['name'] for device in probe.document['devices']], ['softcuda ' + driver])
            first = run('probe', *softcuda).out.decode().splitlines()[0]
            self.assertIn(f'softcuda, a software driver, as driver {driver} for CUDA {lists.version_text(version)}', first)
            state = {row['slot']: row['state'] for row in run_json('table', 'StreamGetId', *softcuda).document}
            self.assertEqual(state, {'StreamGetId_v1': 'native' if version >= 12000 else 'missing'})
            self.assertEqual(run('lookup', 'cuStreamGetId', '12.0', *softcuda).status, USABLE if version >= 12000 else UNUSABLE)
            self.assertEqual(run('doctor', *softcuda).status, USABLE)

    def test_softcuda_option_when_invalid_then_refused(self):
        for arguments in (['run', '--softcuda', '999'], ['run', '--softcuda', ''], ['run', '--softcuda', '../580'],
                          ['run', '--softcuda', '580', '--driver', '/x'], ['probe', '--softcuda', '580', '--root', '/'],
                          ['run', 'on']):
            answer = run(*arguments)
            self.assertEqual((answer.status, answer.out), (USAGE, b''), arguments)


if __name__ == '__main__':
    main()
