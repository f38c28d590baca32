#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe on fake drivers and without a driver: exit status, JSON keys and counts."""

import os
import shutil
import unittest

from program import LIBRARIES, UNUSABLE, USABLE, USAGE, Case, fake, lists, main, newest_fake, run, run_json

PROBE_KEYS = ['loaded', 'initialised', 'reason', 'message', 'advice', 'driver', 'entry_points', 'features',
              'companions', 'nvrtc', 'tried', 'layers', 'preloaded', 'environment', 'devices']
NVRTC_KEYS = ['reason', 'path', 'place', 'cuda_version', 'target', 'is_ptx_usable', 'message', 'advice']
FEATURE_KEYS = ['name', 'usable', 'obstacle', 'message', 'since', 'values']
STATES = ['native', 'polyfill', 'adapted', 'missing']
DRIVER = '--driver=' + fake('driver_12_4')
OLD = '--driver=' + fake('driver_11_0')
OLDEST = '--driver=' + fake('driver_6_5')


class Probe(Case):
    def check_keys(self, document):
        self.assertEqual(list(document), PROBE_KEYS)
        self.assertNotEqual(document['message'], '')
        self.assertEqual(document['message'].startswith('NVIDIA driver '), document['reason'] == 'none')
        self.assertEqual(list(document['driver']), ['path', 'found_through', 'cuda_version', 'release', 'kernel_module'])
        self.assertEqual(list(document['entry_points']), STATES)
        for feature in document['features']:
            self.assertEqual(list(feature), FEATURE_KEYS)
            self.assertEqual(feature['usable'], feature['obstacle'] is None and feature['message'] is None)
        for attempt in document['tried']:
            self.assertEqual(list(attempt), ['path', 'result'])
        for variable in document['environment']:
            self.assertEqual(list(variable), ['name', 'value', 'used'])

    def test_probe_when_driver_is_given_then_loads_it_without_init(self):
        answer = run_json('probe', DRIVER, FAKE_INIT='100')
        document = answer.document
        self.check_keys(document)
        self.assertEqual(answer.status, USABLE)
        self.assertEqual((document['loaded'], document['initialised'], document['reason'], document['advice']),
                         (True, None, 'none', ''))
        self.assertEqual(os.path.realpath(document['driver']['path']), os.path.realpath(fake('driver_12_4')))
        self.assertEqual(document['driver']['cuda_version'], 12040)
        self.assertEqual(document['tried'], [{'path': fake('driver_12_4'), 'result': 'a driver for CUDA 12.4'}])
        self.assertEqual((document['environment'], document['devices']), ([], []))

    def test_json_when_written_then_members_of_the_document_and_rows_of_a_list_have_a_line_each(self):
        lines = run('probe', DRIVER, '--format=json').out.decode().splitlines()
        self.assertEqual([lines[0], lines[1], lines[-1]], ['{', '  "loaded": true,', '}'])
        self.assertEqual([line.split('"')[1] for line in lines if line.startswith('  "')], PROBE_KEYS)
        self.assertEqual(lines[lines.index('  "tried": [') + 1][:13], '    {"path": ')

    def test_probe_when_no_driver_exists_then_reports_all_slots_missing_and_the_paths_tried(self):
        answer = run_json('probe', '--root', self.directory())
        document = answer.document
        self.check_keys(document)
        self.assertEqual(answer.status, UNUSABLE)
        self.assertEqual((document['loaded'], document['initialised'], document['reason']), (False, None, 'not-found'))
        self.assertEqual(document['driver'], {'path': None, 'found_through': None, 'cuda_version': None, 'release': None,
                                              'kernel_module': None})
        self.assertEqual([document['entry_points'][state] for state in STATES[:3]], [0, 0, 0])
        self.assertGreater(len(document['tried']), 10)
        self.assertEqual({attempt['result'] for attempt in document['tried']}, {'not found'})
        self.assertNotEqual(document['advice'], '')
        self.assertNotEqual(document['message'], '')

    def test_probe_when_driver_is_switched_off_then_reason_is_not_wanted(self):
        for answer in (run_json('probe', CUSHIM_DRIVER='none'), run_json('probe', '--driver', 'none')):
            self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'not-wanted'))
            self.assertEqual(answer.document['tried'], [])

    def test_probe_when_variable_is_invalid_then_reason_is_bad_option(self):
        for name, value in (('CUSHIM_MAX_VERSION', 'new'), ('CUSHIM_MAX_VERSION', '112'),
                            ('CUSHIM_HIDE', 'cuNoSuch'), ('CUSHIM_DRIVER', '/x' * 4000)):
            answer = run_json('probe', **{name: value})
            self.check_keys(answer.document)
            self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'bad-option'), name)
            variable = answer.document['environment'][0]
            self.assertEqual((variable['name'], variable['used']), (name, True))
            self.assertTrue(value.startswith(variable['value']))  # the program truncates very long values
            self.assertIn(name, run('probe', **{name: value}).out.decode())

    def test_probe_when_file_is_not_a_driver_then_reports_the_reason(self):
        with open(self.directory() + '/libcuda.so.1', 'w', encoding='utf-8') as text:
            text.write('not a library\n')
        for path, reason in ((text.name, 'not-loadable'), (fake('stub'), 'stub'), ('/nowhere/libcuda.so.1', 'no-such-file'),
                             ('libc.so.6', 'not-a-driver')):
            answer = run_json('probe', '--driver', path)
            self.check_keys(answer.document)
            self.assertEqual((answer.status, answer.document['loaded'], answer.document['reason']), (UNUSABLE, False, reason))
            self.assertEqual([attempt['path'] for attempt in answer.document['tried']], [path])

    def test_probe_when_stub_is_on_search_path_then_names_its_file(self):
        directory = self.directory()
        os.symlink(fake('stub'), directory + '/libcuda.so.1')
        first = run_json('probe', LD_LIBRARY_PATH=directory).document['tried'][0]
        self.assertEqual(first['path'], 'libcuda.so.1')
        self.assertRegex(first['result'], rf'stub.* {directory}/libcuda\.so\.1\b')

    def test_probe_when_compared_with_table_then_counts_are_equal(self):
        for options in ([DRIVER], [OLD], [OLDEST], [DRIVER, '--max-version=11.0'], [DRIVER, '--per-thread'],
                        [DRIVER, '--hide=cuStreamQuery'], ['--driver=none']):
            counts = run_json('probe', *options).document['entry_points']
            states = [row['state'] for row in run_json('table', *options).document]
            self.assertEqual(counts, {state: states.count(state) for state in STATES}, options)
            self.assertEqual(sum(counts.values()), len(states))

    def test_devices_when_init_succeeds_then_lists_them(self):
        answer = run_json('probe', '--devices', DRIVER, FAKE_GPUS='2')
        self.assertEqual((answer.status, answer.document['initialised'], answer.document['reason']), (USABLE, True, 'none'))
        self.assertEqual(len(answer.document['devices']), 2)
        features = answer.document['devices'][1].pop('features')
        self.assertEqual([list(feature) for feature in features], [FEATURE_KEYS] * len(answer.document['features']))
        self.assertEqual(answer.document['devices'][1], {
            'ordinal': 1, 'name': 'Fake "GPU" 1\033[31m', 'compute_capability': '9.0', 'memory': 140 << 30,
            'uuid': 'GPU-f0f1f2f3-f4f5-f6f7-f8f9-fafbfcfdfeff', 'pci_bus_id': '0000:01:00.0'})
        text = run('probe', '--devices', DRIVER, FAKE_GPUS='2').out.decode()
        self.assertIn('Fake "GPU" 1?[31m', text)
        self.assertIn('143360 MiB', text)

    def test_devices_when_driver_lacks_the_query_then_value_is_null(self):
        device = run_json('probe', '--devices', OLDEST).document['devices'][0]
        self.assertEqual((device['uuid'], device['compute_capability']), (None, '9.0'))

    def test_devices_when_driver_has_none_then_exit_status_is_unusable(self):
        answer = run_json('probe', '--devices', DRIVER, FAKE_GPUS='0')
        self.assertEqual((answer.status, answer.document['initialised'], answer.document['reason'], answer.document['devices']),
                         (UNUSABLE, True, 'no-device', []))

    def test_devices_when_init_fails_then_reports_the_reason(self):
        for code, reason in (('803', 'module-mismatch'), ('804', 'module-mismatch'), ('802', 'not-ready')):
            answer = run_json('probe', '--devices', DRIVER, FAKE_INIT=code)
            self.assertEqual((answer.status, answer.document['loaded'], answer.document['initialised'],
                              answer.document['reason'], answer.document['devices']), (UNUSABLE, True, False, reason, []))
            self.assertNotEqual(answer.document['advice'], '')

    def test_start_when_init_fails_then_reports_what_the_driver_says(self):
        says = 'The driver says: Returning 999 (CUDA_ERROR_UNKNOWN) from cuInit.'
        path = run_json('run', '--softcuda', '580').document['driver']['path']
        for command in (('probe', '--devices'), ('doctor',)):
            answer = run(*command, '--driver', path, SOFTCUDA_FAIL='cuInit=999')
            self.assertEqual(answer.status, UNUSABLE)
            self.assertIn(says, ' '.join(answer.out.decode().split()))
        self.assertIn(says, run_json('probe', '--devices', '--driver', path, SOFTCUDA_FAIL='cuInit=999').document['message'])

    def test_text_when_the_driver_has_started_or_not_then_reports_which(self):
        for arguments, init, state in (((), '0', 'not queried'), (('--devices',), '0', 'the driver has started'),
                                       (('--devices',), '999', 'the driver did not start')):
            self.assertIn(f'GPUs           {state}', run('probe', DRIVER, *arguments, FAKE_INIT=init).out.decode())

    def test_devices_when_no_driver_exists_then_init_is_not_tried(self):
        answer = run_json('probe', '--devices', '--driver=none')
        self.assertEqual((answer.status, answer.document['initialised'], answer.document['devices']), (UNUSABLE, None, []))

    def test_devices_when_root_is_given_then_reason_is_of_that_system(self):
        tree = self.tree().driver(LIBRARIES).kernel_module().nodes()
        for variables, reason in (({}, 'no-device'), ({'CUDA_VISIBLE_DEVICES': ''}, 'hidden')):
            answer = run_json('probe', '--devices', '--root', tree.root, FAKE_INIT='100', **variables)
            self.assertEqual((answer.document['reason'], answer.document['driver']['kernel_module']), (reason, '550.163.01'))

    def test_environment_when_set_then_reports_whether_each_variable_was_used(self):
        variables = {'CUSHIM_MAX_VERSION': '11.0', 'CUDA_VISIBLE_DEVICES': '0', 'NVIDIA_VISIBLE_DEVICES': 'all',
                     'LD_LIBRARY_PATH': '/nowhere', 'CUSHIM_HIDE': ''}

        def used(*arguments):
            return {row['name']: row['used'] for row in run_json(*arguments, **variables).document['environment']}
        self.assertEqual(used('probe', DRIVER), {
            'CUSHIM_MAX_VERSION': True, 'CUDA_VISIBLE_DEVICES': False, 'NVIDIA_VISIBLE_DEVICES': False,
            'LD_LIBRARY_PATH': True, 'CUSHIM_HIDE': False})
        self.assertTrue(used('probe', DRIVER, '--devices')['CUDA_VISIBLE_DEVICES'])
        self.assertFalse(used('probe', DRIVER, '--max-version=11.1')['CUSHIM_MAX_VERSION'])
        self.assertFalse(used('probe', '--driver=none')['LD_LIBRARY_PATH'])
        self.assertFalse(used('probe', '--root', self.directory())['LD_LIBRARY_PATH'])

    def test_probe_when_version_is_limited_then_reports_the_true_version(self):
        document = run_json('probe', DRIVER, '--max-version=11.0').document
        self.assertEqual(document['driver']['cuda_version'], 12040)
        first = run('probe', DRIVER, '--max-version=11.0').out.decode().splitlines()[0]
        self.assertRegex(first, r'\b12\.4\b.*\b11\.0\b')

    def test_per_thread_when_the_driver_is_too_old_then_what_needs_it_is_missing(self):
        counts = [run_json('probe', OLDEST, *options).document['entry_points'] for options in ([], ['--per-thread'])]
        self.assertGreater(counts[1]['missing'], counts[0]['missing'])
        answer = run_json('probe', OLDEST, '--per-thread', '--require-slot=StreamQuery_v1')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'too-old'))
        self.assertIn('needs CUDA 7.0 for per-thread default streams', answer.document['message'])
        self.assertIn('CUDA 7.0 needs driver', answer.document['advice'])
        self.assertEqual(run('probe', OLDEST, '--require-slot=StreamQuery_v1').status, USABLE)


class Require(Case):
    def test_require_when_driver_is_new_enough_then_exit_status_is_usable(self):
        for version in ('12.4', '12.0', '2.0', '550', '535.261.03', '340'):
            self.assertEqual(run('probe', DRIVER, '--require', version).status, USABLE)

    def test_require_when_driver_is_too_old_then_names_the_driver_to_install(self):
        answer = run_json('probe', OLD, '--require', '12.3')
        self.assertEqual((answer.status, answer.document['loaded'], answer.document['reason']), (UNUSABLE, True, 'too-old'))
        self.assertRegex(answer.document['advice'], r'\b12\.3\b.*\b545\b')
        self.assertRegex(answer.document['message'], r'\b12\.3\b.*\b11\.0\b')
        self.assertIn(answer.document['message'], run('probe', OLD, '--require=12.3').out.decode())
        self.assertIn('99.0', run_json('probe', OLD, '--require=99').document['advice'])
        self.assertEqual(run_json('probe', OLD, '--require=545.23').document['message'], answer.document['message'])
        newest = max(one.branch for one in lists.read_drivers() if one.branch)
        self.assertEqual([run('probe', OLD, f'--require={newest + more}').status for more in (0, 1)], [UNUSABLE, USAGE])
        limited = run_json('probe', DRIVER, '--max-version=470', '--require=525').document
        self.assertRegex(limited['message'], r'\b12\.0\b.*\b11\.4\b')

    def test_require_when_version_is_limited_then_advice_names_the_limit(self):
        answer = run_json('probe', DRIVER, '--max-version=11.0', '--require=12.3')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'too-old'))
        self.assertIn('CUSHIM_MAX_VERSION', answer.document['advice'])

    def test_require_when_no_driver_exists_then_reason_is_not_wanted(self):
        answer = run_json('probe', '--driver=none', '--require=12.3')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'not-wanted'))

    def test_require_slot_when_not_missing_then_accepts_either_name(self):
        for name in ('StreamQuery_v1', 'cuStreamQuery', 'DriverGetVersion_v1'):
            answer = run('probe', DRIVER, '--require-slot', name)
            self.assertEqual((answer.status, answer.err), (USABLE, b''), name)

    def test_require_slot_when_some_are_missing_then_names_each(self):
        arguments = ['--require-slot', 'StreamGetId_v1', '--require-slot=StreamQuery_v1', '--require-slot=cuGreenCtxCreate']
        answer = run_json('probe', OLD, *arguments)
        self.assertEqual((answer.status, answer.document['loaded'], answer.document['reason']), (UNUSABLE, True, 'too-old'))
        advice = answer.document['advice']
        self.assertIn('driver 550', advice)
        self.assertIn('StreamGetId_v1, GreenCtxCreate_v1', advice)
        self.assertNotIn('StreamQuery', advice)
        lines = answer.err.decode().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertIn('StreamGetId_v1 is missing: cuStreamGetId needs CUDA 12.0; this driver is CUDA 11.0.', lines[0])
        self.assertIn('cuGreenCtxCreate is missing: cuGreenCtxCreate needs CUDA 12.4', lines[1])
        text = run('probe', OLD, *arguments)
        self.assertEqual(text.status, UNUSABLE)
        for words in ('problem  StreamGetId_v1: ', 'ok       StreamQuery_v1\n', 'problem  cuGreenCtxCreate: '):
            self.assertIn(words, text.out.decode())

    def test_require_slot_when_function_is_hidden_then_advice_names_the_option(self):
        answer = run_json('probe', DRIVER, '--hide=cuStreamQuery', '--require-slot=StreamQuery_v1')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'too-old'))
        self.assertIn('--hide', answer.document['advice'])

    def test_require_slot_when_given_for_every_slot_then_names_each_missing_one(self):
        names = [row['slot'] for row in run_json('table', '--driver=none').document]
        answer = run_json('probe', OLDEST, *['--require-slot=' + name for name in names])
        self.assertEqual(answer.status, UNUSABLE)
        self.assertGreater(len(answer.err.splitlines()), 300)

    def test_require_slot_when_no_driver_exists_then_names_the_slot(self):
        answer = run_json('probe', '--driver=none', '--require-slot=StreamQuery_v1')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'not-wanted'))
        self.assertIn(b'StreamQuery_v1 is missing: No CUDA driver is loaded', answer.err)


@unittest.skipUnless(os.path.exists(newest_fake('nvrtc_12.4')), 'this build has no NVRTC for tests')
class Nvrtc(Case):
    def find(self, library, driver=DRIVER, *options):
        directory = os.path.join(self.directory(), 'lib64')
        os.mkdir(directory)
        shutil.copy(newest_fake(library), os.path.join(directory, 'libnvrtc.so.12'))
        shutil.copy(newest_fake('builtins_12.4'), os.path.join(directory, 'libnvrtc-builtins.so.12.4'))
        return directory, run_json('probe', '--nvrtc', driver, *options, CUDA_PATH=os.path.dirname(directory))

    def test_nvrtc_when_one_fits_then_is_shown(self):
        directory, answer = self.find('nvrtc_12.4')
        path = os.path.join(os.path.realpath(directory), 'libnvrtc.so.12')
        self.assertEqual(list(answer.document['nvrtc']), NVRTC_KEYS)
        self.assertEqual([answer.document['nvrtc'][key] for key in NVRTC_KEYS[:4]], ['none', path, 'CUDA_PATH', 12040])
        text = run('probe', '--nvrtc', DRIVER, CUDA_PATH=os.path.dirname(directory)).out.decode()
        self.assertIn(f'12.4, {path} (CUDA_PATH)', ' '.join(text.split()))

    def test_nvrtc_when_none_fits_then_the_probe_fails(self):
        answer = self.find('nvrtc_12.4', OLDEST)[1]
        self.assertEqual((answer.status, answer.document['nvrtc']['path']), (UNUSABLE, None))
        self.assertEqual([answer.document[key] for key in ('reason', 'message', 'advice')],
                         [answer.document['nvrtc'][key] for key in ('reason', 'message', 'advice')])
        self.assertEqual(answer.document['reason'], 'too-old')

    def test_nvrtc_when_its_file_ends_the_process_then_says_so(self):
        directory = self.find('nvrtc_12.4')[0]
        shutil.copy(fake('aborts'), os.path.join(directory, 'libnvrtc.so.12'))
        answer = run_json('probe', '--nvrtc', DRIVER, CUDA_PATH=os.path.dirname(directory))
        self.assertIn('ends the process that opens it', answer.document['nvrtc']['message'])

    def test_nvrtc_when_not_asked_for_then_is_null(self):
        self.assertIsNone(run_json('probe', DRIVER).document['nvrtc'])


if __name__ == '__main__':
    main()
