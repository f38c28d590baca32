#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""probe for scripts: --choose, --timeout, and the types of the JSON documents."""

import os
import subprocess
import time

from program import PROGRAM, UNUSABLE, USABLE, USAGE, Case, environment, fake, for_each, main, run, run_json

DRIVER = '--driver=' + fake('driver_12_4')  # one GPU of compute capability 9.0 with 140 GiB
LIST = 'cu13: cuda>=13.0; cu12: cuda>=12.0 arch>=7.5; cpu'


class Choose(Case):
    def choose(self, builds, *arguments, status=USABLE, **variables):
        """The build that is printed, and the lines on stderr."""
        answer = run('probe', '--choose', builds, *arguments, **variables)
        self.assertEqual(answer.status, status, answer)
        return answer.out.decode(), answer.err.decode().splitlines()

    def test_choose_when_the_first_build_does_not_fit_then_prints_the_next_and_the_reason(self):
        self.assertEqual(self.choose(LIST, DRIVER),
                         ('cu12\n', ['cushim: cu13: cuda>=13.0 is required; the driver is for CUDA 12.4.']))

    def test_choose_when_no_driver_can_be_used_then_only_a_build_without_conditions_fits(self):
        for arguments, variables in ((['--driver=none'], {}), ([DRIVER], {'FAKE_INIT': '999'}),
                                     ([DRIVER], {'FAKE_GPUS': '0'}), ([DRIVER], {'FAKE_CRASH': 'cuInit'})):
            out, lines = self.choose(LIST, *arguments, **variables)
            self.assertEqual((out, len(lines)), ('cpu\n', 2), variables)

    def test_choose_when_the_driver_does_not_return_then_chooses_without_it(self):
        start = time.monotonic()
        out, lines = self.choose(LIST, DRIVER, '--timeout=1', FAKE_HANG='cuInit')
        self.assertEqual(out, 'cpu\n')
        self.assertIn('did not return', lines[0])
        self.assertLess(time.monotonic() - start, 30)

    def test_choose_when_none_fits_then_prints_nothing(self):
        out, lines = self.choose('cu13: cuda>=13.0; new: arch>=10.0', DRIVER, status=UNUSABLE)
        self.assertEqual((out, len(lines)), ('', 2))
        self.assertIn('GPU 0 has compute capability 9.0', lines[1])

    def test_choose_when_a_condition_is_given_then_it_decides(self):
        for condition, fits in (('cuda>=12.4', True), ('cuda>=12.5', False), ('cuda<12.4', False), ('cuda<13', True),
                                ('arch>=9.0', True), ('arch<9.0', False), ('arch>=8.0 arch<10.0', True),
                                ('memory>=140G', True), ('memory>=141G', False), ('memory<1T', True),
                                ('memory>=2147483648', True), ('memory>=150323855360', True), ('memory>=150323855361', False),
                         ('memory>=16777215T', False),
                         ('cuStreamQuery', True), ('cuStreamGetDevice', False), ('cuda>=12,arch>=7.5', True)):
            out, _ = self.choose(f'one: {condition}; other', DRIVER)
            self.assertEqual(out, 'one\n' if fits else 'other\n', condition)

    def test_choose_when_names_and_conditions_are_long_then_none_is_cut(self):
        """A condition behind the 512th character decided nothing, and a name was cut to 63 characters."""
        many = ' '.join(['cuda>=12.0'] * 400)
        name = 'a' * 2000
        self.assertEqual(self.choose(f'{name}: {many} cuda>=13.0; cpu', DRIVER)[0], 'cpu\n')
        self.assertEqual(self.choose(f'{name}: {many}; cpu', DRIVER)[0], name + '\n')
        self.assertEqual(self.choose('; '.join(f'b{i}: cuda>=13.0' for i in range(3000)) + ';c', DRIVER)[0], 'c\n')
        self.choose(f'{name}: {many} cuStreamQuer; cpu', DRIVER, status=USAGE)

    def test_choose_when_builds_are_separated_by_commas_then_the_message_names_the_semicolon(self):
        _, lines = self.choose('cu12,cu13', DRIVER, status=USAGE)
        self.assertIn('"cu12,cu13" is not the name of a build; a semicolon (;) separates builds', lines[0])

    def test_choose_when_the_version_is_limited_then_the_limit_decides(self):
        self.assertEqual(self.choose(LIST, DRIVER, '--max-version=11.8')[0], 'cpu\n')

    def test_choose_when_the_list_is_invalid_then_refused(self):
        for builds in ('', 'a: cuda>12', 'a: cuda>=x', 'a: nothing', 'a b: cuda>=12.0', ': cuda>=12.0', 'a;;b',
                       'a: memory>=G', 'a: memory>=16777216T', 'a: memory>=18446744073709551616', 'a: memory>=1GB',
                       'a: cuda==12.0', 'a: size>=3', 'a: cuda>=' + '1' * 600):
            out, lines = self.choose(builds, DRIVER, status=USAGE)
            self.assertEqual(out, '', builds)
            self.assertIn('--choose', lines[0])

    def test_choose_when_written_as_json_then_names_every_build(self):
        document = run_json('probe', '--choose', LIST, DRIVER).document
        self.assertEqual(document['choice'], 'cu12')
        self.assertEqual([(build['name'], build['fits'], build['message'] == '') for build in document['builds']],
                         [('cu13', False, False), ('cu12', True, True), ('cpu', True, True)])
        self.assertIsNone(run_json('probe', '--choose', 'cu13: cuda>=13.0', DRIVER).document['choice'])

    def test_choose_when_a_requirement_is_not_met_then_says_whether_the_driver_has_started(self):
        for arguments, started in (([DRIVER, '--require=99.0'], True), ([DRIVER], True), (['--driver=none'], False),
                                   ([DRIVER, '--no-start', '--require=99.0'], False), (['--for=cuda=12.4'], False)):
            document = run_json('probe', '--choose', 'cu12: cuda>=12.0; cpu', *arguments).document
            self.assertEqual(document['started'], started, arguments)

    def test_choose_when_a_machine_is_described_then_a_requirement_decides_as_on_that_machine(self):
        builds = ['--choose', 'cu12: cuda>=12.0; cpu']
        for requirement, choice in (('12.0', 'cu12'), ('13.0', 'cpu')):
            arguments = ['probe', *builds, '--require=' + requirement]
            for machine in ('--for=driver=550', DRIVER):
                answer = run_json(*arguments, machine)
                self.assertEqual((answer.status, answer.document['choice']), (USABLE, choice), (requirement, machine))
                self.assertEqual(run(*arguments, machine).out.decode(), choice + '\n')
        answer = run('probe', *builds, '--for=driver=550', '--require=arch>=8.0', '--format=json')
        self.assertEqual((answer.status, answer.out), (USAGE, b''))
        self.assertIn(b'The GPUs are not known', answer.err)

    def test_choose_when_a_shell_uses_it_then_one_line_is_enough(self):
        script = f'case $("$0" probe --choose "{LIST}" "$1" 2>/dev/null) in cu12) echo twelve ;; *) echo other ;; esac'
        done = subprocess.run(['sh', '-c', script, PROGRAM, DRIVER], env=environment(), stdout=subprocess.PIPE,
                              check=True)
        self.assertEqual(done.stdout, b'twelve\n')


class Timeout(Case):
    def test_probe_when_the_driver_hangs_or_crashes_then_still_answers(self):
        def check(how):
            answer = run_json('probe', '--devices', '--timeout=1', DRIVER, **{how: 'cuInit'})
            document = answer.document
            self.assertEqual((answer.status, document['loaded'], document['initialised'], document['reason']),
                             (UNUSABLE, False, False, 'no-answer'))
            self.assertEqual(document['devices'], [])
            self.assertIn('doctor', document['advice'])
        for_each(check, ('FAKE_HANG', 'FAKE_CRASH'))
        self.assertEqual(run('probe', '--devices', DRIVER, FAKE_CRASH='cuInit').status, UNUSABLE)

    def test_wait_when_each_try_hangs_then_ends(self):
        start = time.monotonic()
        answer = run_json('probe', '--devices', '--timeout=1', '--wait=1', DRIVER, FAKE_HANG='cuInit')
        self.assertEqual((answer.status, answer.document['reason']), (UNUSABLE, 'no-answer'))
        self.assertLess(time.monotonic() - start, 60)

    def test_probe_when_the_output_is_read_late_then_the_time_does_not_count(self):
        reader, writer = os.pipe()
        os.set_blocking(writer, False)
        try:
            while True:
                os.write(writer, b'.' * 4096)  # until the pipe is full
        except BlockingIOError:
            os.set_blocking(writer, True)
        command = [PROGRAM, 'probe', '--devices', '--timeout=5', '--format=json', DRIVER]
        with subprocess.Popen(command, env=environment(), stdout=writer) as probe, os.fdopen(reader, 'rb') as file:
            os.close(writer)
            time.sleep(5.5)
            out = file.read()
            self.assertEqual(probe.wait(), USABLE)
        self.assertTrue(out.endswith(b'}\n'))


TEXT, TRUTH, NUMBER, NONE = str, bool, int, type(None)
# The schema that the man page describes: a key and the types of its value, and the same for the elements of an array.
PROBE = {
    'loaded': TRUTH, 'initialised': (TRUTH, NONE), 'reason': TEXT, 'message': TEXT, 'advice': TEXT,
    'driver': {'path': (TEXT, NONE), 'found_through': (TEXT, NONE), 'cuda_version': (NUMBER, NONE),
               'release': (TEXT, NONE),
               'kernel_module': (TEXT, NONE)},
    'entry_points': {'native': NUMBER, 'polyfill': NUMBER, 'adapted': NUMBER, 'missing': NUMBER},
    'companions': [{'name': TEXT, 'library': TEXT, 'reason': TEXT, 'path': (TEXT, NONE), 'driver_version': (TEXT, NONE),
                    'api_version': (TEXT, NONE), 'message': TEXT, 'advice': TEXT}],
    'nvrtc': (NONE,), 'tried': [{'path': TEXT, 'result': TEXT}], 'layers': [{'name': TEXT, 'path': TEXT}],
    'preloaded': [{'path': TEXT, 'through': TEXT, 'function': (TEXT, NONE)}],
    'environment': [{'name': TEXT, 'value': TEXT, 'used': TRUTH}],
    'devices': [{'ordinal': NUMBER, 'name': (TEXT, NONE), 'compute_capability': (TEXT, NONE), 'memory': (NUMBER, NONE),
                 'uuid': (TEXT, NONE), 'pci_bus_id': (TEXT, NONE)}],
}
CHOICE = {'builds': [{'name': TEXT, 'fits': TRUTH, 'message': TEXT}], 'choice': (TEXT, NONE), 'started': TRUTH}


class Origin(Case):
    def test_probe_when_a_file_of_the_loader_names_the_directory_then_reports_it(self):
        tree = self.tree().driver('/usr/local/cuda-13.0/compat').directory('/usr/lib64')
        os.symlink('/usr/local/cuda-13.0', tree.root + '/usr/local/cuda')
        os.symlink('/usr/local/cuda/compat/libcuda.so.1', tree.root + '/usr/lib64/libcuda.so.1')
        tree.file('/etc/ld.so.conf.d/000_cuda.conf', '# CUDA\n/usr/local/cuda/lib64\n')
        driver = run_json('probe', '--root', tree.root).document['driver']
        self.assertIsNone(driver['found_through'])
        tree.file('/etc/ld.so.conf.d/999_compat.conf', '# CUDA\n/usr/local/cuda/compat # forward\n')
        driver = run_json('probe', '--root', tree.root).document['driver']
        self.assertEqual(driver['found_through'], '/etc/ld.so.conf.d/999_compat.conf')

    def test_probe_when_a_variable_names_the_directory_then_reports_it(self):
        directory = self.directory()
        os.symlink(fake('driver_12_4'), directory + '/libcuda.so.1')
        path = os.path.dirname(fake('driver_12_4')) + ':' + directory
        driver = run_json('probe', LD_LIBRARY_PATH=path).document['driver']
        self.assertEqual(driver['found_through'], 'LD_LIBRARY_PATH')


class Schema(Case):
    def check(self, value, schema, place):
        if isinstance(schema, dict):
            self.assertIsInstance(value, dict, place)
            for key, inner in schema.items():
                self.assertIn(key, value, place)
                self.check(value[key], inner, f'{place}.{key}')
        elif isinstance(schema, list):
            self.assertIsInstance(value, list, place)
            for element in value:
                self.check(element, schema[0], place + '[]')
        else:
            self.assertIn(type(value), schema if isinstance(schema, tuple) else (schema,), place)

    def test_json_when_a_driver_works_or_not_then_has_the_documented_types(self):
        for arguments, variables in (([DRIVER, '--devices'], {'CUDA_VISIBLE_DEVICES': '0'}), ([DRIVER], {}),
                                     (['--driver=none'], {}), (['--driver', '/nowhere/libcuda.so.1'], {}),
                                     ([DRIVER, '--devices'], {'FAKE_INIT': '999'}),
                                     ([DRIVER, '--devices', '--timeout=1'], {'FAKE_HANG': 'cuInit'})):
            self.check(run_json('probe', *arguments, **variables).document, PROBE, 'probe')
        self.check(run_json('probe', DRIVER, '--choose', LIST).document, CHOICE, 'choose')


if __name__ == '__main__':
    main()
