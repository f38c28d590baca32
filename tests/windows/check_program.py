# SPDX-License-Identifier: MIT
"""The program cushim under Wine, with a new Wine prefix: without a driver, with one in System32, and with a given one.

usage: check_program.py WINE PROGRAM LIBRARY FAKES SOFTCUDA OBJDUMP NVML

SOFTCUDA is the library of the newest softcuda; the directories of the others are beside its directory. The test
compares the program's output for a fake driver with the export list of that file, as objdump reads it.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', 'loader', 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position

# Libraries that every Windows has.
SYSTEM_LIBRARIES = re.compile(r'(kernel32|msvcrt|shell32|api-ms-win-.*)\.dll', re.I)

wine, program, library, fakes, softcuda, objdump, fake_nvml = map(pathlib.Path, sys.argv[1:8])


def objdump_says(path):
    return subprocess.run([objdump, '-p', path], stdout=subprocess.PIPE, text=True, check=True).stdout


def exports_of(path):
    """The exported functions of the driver, without those of the test."""
    table = objdump_says(path).split('[Ordinal/Name Pointer] Table')[1]
    return set(re.findall(r'^\s*\[\s*\d+\]\s+(?:\+base\[\s*\d+\]\s+\w+\s+)?(cu\w+)$', table.split('\n\n')[0], re.M))


class Program(unittest.TestCase):
    def setUp(self):
        # The program runs in its own directory on drive C, with its library beside it.
        self.system32 = prefix / 'drive_c' / 'windows' / 'system32'
        self.home = prefix / 'drive_c' / 'cushim'
        self.home.mkdir()
        self.addCleanup(shutil.rmtree, self.home)
        for file in (program, library):
            shutil.copy(file, self.home)

    def put(self, fake, path):
        shutil.copy(fakes / f'{fake}.dll' if isinstance(fake, str) else fake, path)
        self.addCleanup(path.unlink)

    def run_program(self, *arguments, variables=None):
        environment = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
        environment.update(CUSHIM_WINEPREFIX=str(prefix), **(variables or {}))
        done = subprocess.run([wine, self.home / program.name, *arguments], cwd=self.home, env=environment,
                              stdout=subprocess.PIPE, timeout=120, check=False)
        return done.returncode, done.stdout.decode('utf-8').replace('\r\n', '\n')

    def ask(self, *arguments, status=0, variables=None):
        """The program's output as data."""
        actual, text = self.run_program(*arguments, '--format=json', variables=variables)
        self.assertEqual(actual, status, text)
        return json.loads(text)

    def hold_table_against_exports(self, driver):
        exports = exports_of(driver)
        rows = self.ask('table', '--driver', str(driver))
        native = [row for row in rows if row['state'] == 'native']
        for row in native:
            abi = row['slot'].rpartition('_')[2]
            self.assertEqual(row['symbol'], row['function'] + ('' if abi == 'v1' else '_' + abi))
        self.assertLessEqual({row['symbol'] for row in native}, exports)
        for row in rows:
            if row['state'] not in ('native', 'adapted'):
                self.assertNotIn('cu' + re.sub('_v1$', '', row['slot']), exports)
        self.assertGreater(len(native), 100)

    def test_list_when_nvml_is_in_system32_then_it_answers(self):
        first, second = ('GPU-11111111-2222-3333-4444-555555555555', 'GPU-88913974-b729-bde5-cec9-7908a6baaae2')
        gpus = {'FAKE_GPUS': f'0:1:0 2684 {first} 89 1 -1 NVIDIA GeForce RTX 4090;0:2:0 2684 {second} 89 0 -1 another'}
        self.assertIn('on Windows only NVML (nvml.dll) lists them', self.ask('probe', '--list')['message'])
        self.put(fake_nvml, self.system32 / 'nvml.dll')
        answer = self.ask('probe', '--list', variables={**gpus, 'CUDA_VISIBLE_DEVICES': '1'})
        self.assertEqual([(gpu['ordinal'], gpu['uuid'], gpu['pci_bus_id'], gpu['compute_capability'], gpu['hidden_by'])
                          for gpu in answer['gpus']],
                         [(None, first, '0000:01:00.0', '8.9', 'variable'), (0, second, '0000:02:00.0', '8.9', None)])

    def test_probe_when_there_is_no_driver_then_it_says_so(self):
        status, text = self.run_program('probe')
        self.assertEqual(status, 1, text)
        answer = self.ask('probe', status=1)
        self.assertIn(answer['message'], text)
        self.assertEqual((answer['loaded'], answer['reason']), (False, 'not-found'))
        self.assertEqual([attempt['path'] for attempt in answer['tried']], ['nvcuda.dll'])

    def test_probe_when_a_driver_is_in_the_current_directory_then_it_is_not_loaded(self):
        self.put('fake_12040', self.home / 'nvcuda.dll')
        self.assertEqual(self.ask('probe', status=1)['reason'], 'not-found')
        self.assertEqual(self.ask('probe', '--driver', 'nvcuda.dll', status=1)['reason'], 'no-such-file')

    def test_probe_when_a_driver_is_in_system32_then_it_is_loaded(self):
        self.put('fake_12040', self.system32 / 'nvcuda.dll')
        answer = self.ask('probe')
        self.assertTrue(answer['loaded'])
        self.assertIsNone(answer['initialised'])
        self.assertEqual(answer['driver']['path'].lower(), r'c:\windows\system32\nvcuda.dll')
        self.assertEqual(answer['driver']['cuda_version'], 12040)
        self.assertGreater(answer['entry_points']['native'], 300)

    def test_probe_when_a_log_is_requested_then_each_load_is_appended(self):
        self.put('fake_12040', self.system32 / 'nvcuda.dll')
        log = self.home / 'grün.log'
        for _ in range(2):
            self.ask('probe', '--wait', '1', variables={'CUSHIM_LOG': 'C:\\cushim\\grün.log'})
        lines = log.read_bytes().decode('utf-8').splitlines()
        self.assertEqual(len(lines), 4, lines)  # the attempt and the outcome of each load
        self.assertRegex(lines[1].lower(), r'^cushim\[\d+\]: loaded c:\\windows\\system32\\nvcuda\.dll$')

    def test_run_when_there_is_a_driver_then_every_step_is_right(self):
        self.put(softcuda, self.system32 / 'nvcuda.dll')
        answer = self.ask('run')
        self.assertEqual({step['outcome'] for step in answer['steps']}, {'passed'})
        self.assertEqual((len(answer['steps']), answer['passed']), (9, True))
        self.assertEqual((answer['driver']['softcuda'], answer['driver']['instead_of']), ('580', None))

    def test_run_when_there_is_no_driver_then_on_softcuda_beside_it(self):
        self.assertEqual(self.ask('run', status=1), {'passed': False, 'driver': None, 'steps': []})
        self.home = self.home / 'subprojects' / 'cushim-tools' / 'cli'
        self.home.mkdir(parents=True)
        for file in (program, library):
            shutil.copy(file, self.home)
        directory = self.home.parent.parent / 'softcuda' / '580'
        directory.mkdir(parents=True)
        shutil.copy(softcuda, directory / 'nvcuda.dll')
        answer = self.ask('run')
        self.assertEqual((answer['passed'], answer['driver']['softcuda'], answer['driver']['instead_of']),
                         (True, '580', 'not-found'))

    def test_probe_when_the_driver_can_start_then_it_shows_its_devices(self):
        self.put(softcuda, self.system32 / 'nvcuda.dll')
        answer = self.ask('probe', '--devices', '--require', '13.0', '--require-slot', 'StreamGetId_v1')
        self.assertTrue(answer['initialised'])
        self.assertEqual(len(answer['devices']), 1)
        self.assertEqual({finding['verdict'] for finding in self.ask('doctor')['findings']}, {'ok'})

    def test_table_when_the_drivers_are_of_each_version_then_each_slot_is_its_export(self):
        drivers = sorted(softcuda.parent.parent.glob(f'*/{softcuda.name}'))
        self.assertGreater(len(drivers), 5)
        for driver in *drivers, *(fakes / f'{fake}.dll' for fake in ('fake_6050', 'fake_11040', 'fake_13000')):
            self.hold_table_against_exports(driver)

    def test_probe_when_a_path_is_given_then_that_is_loaded(self):
        directory = self.home / 'grün 猫'
        directory.mkdir()
        self.put('fake_11040', directory / 'nvcuda.dll')
        self.put('fake_12040', self.system32 / 'nvcuda.dll')
        path = 'C:\\cushim\\grün 猫\\nvcuda.dll'
        for spelling in (path, path.replace('\\', '/'), 'grün 猫/nvcuda.dll', '.\\grün 猫\\nvcuda.dll'):
            answer = self.ask('probe', '--driver', spelling)
            self.assertEqual((answer['driver']['path'], answer['driver']['cuda_version']), (path, 11040))
        answer = self.ask('probe', variables={'CUSHIM_DRIVER': path})
        self.assertEqual(answer['driver']['path'], path)
        self.assertEqual(answer['tried'][0]['path'], path)

    def test_probe_when_the_file_is_broken_then_it_says_how(self):
        whole = (fakes / 'fake_12040.dll').read_bytes()
        for name, content in {'empty': b'', 'text': b'not a library\n', 'short': whole[:3000], 'head': whole[:64],
                              'elf': b'\x7fELF\x02\x01\x01' + bytes(100)}.items():
            (self.home / f'{name}.dll').write_bytes(content)
            answer = self.ask('probe', '--driver', f'./{name}.dll', status=1)
            self.assertEqual(answer['reason'], 'not-loadable', name)
            self.assertIn('error', answer['tried'][0]['result'])
        (self.home / 'lacks.dll').write_bytes(whole.replace(b'msvcrt.dll', b'nosuch.dll'))
        answer = self.ask('probe', '--driver', './lacks.dll', status=1)
        self.assertIn('a library that it needs was not found', answer['tried'][0]['result'])
        for fake, reason in {'not_library': 'not-a-driver', 'not_stub': 'stub', 'not_error': 'not-a-driver'}.items():
            self.assertEqual(self.ask('probe', '--driver', str(fakes / f'{fake}.dll'), status=1)['reason'], reason)

    def test_lookup_when_a_driver_is_there_then_each_row_is_its_export(self):
        fake = fakes / 'fake_11040.dll'
        rows = self.ask('lookup', '--all', '--driver', str(fake))
        self.assertEqual(len(rows), len(lists.read()))
        exports = exports_of(fake)
        for row in rows:
            self.assertEqual(row['found'], row['version'] <= 11040, row)
            if row['function'] not in ('cuInit', 'cuGetErrorString'): # adapted on every driver
                self.assertEqual(row['symbol'] in exports, row['found'], row)

    def test_doctor_when_on_windows_then_it_speaks_of_no_device_files(self):
        self.put('fake_12040', self.system32 / 'nvcuda.dll')
        for arguments in (['doctor'], ['doctor', '--driver', 'none'], ['doctor', '--driver', './nowhere.dll']):
            checks = {finding['check'] for finding in self.ask(*arguments, status=1)['findings']}
            self.assertFalse(checks & {'device-nodes', 'kernel-module', 'container', 'gpu', 'wsl'}, checks)


class Files(unittest.TestCase):
    def test_program_and_library_when_built_then_need_nothing_but_windows(self):
        for path in (program, library):
            for needed in re.findall(r'DLL Name: (\S+)', objdump_says(path)):
                if needed != library.name:
                    self.assertRegex(needed, SYSTEM_LIBRARIES)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as scratch:
        prefix = pathlib.Path(scratch)
        # Wine creates the prefix on its first run; if Wine is not installed, the tests are skipped.
        status = subprocess.run([wine, 'cmd', '/c', 'exit'], env={**os.environ, 'CUSHIM_WINEPREFIX': scratch},
                                check=False).returncode
        if status:
            sys.exit(status)
        try:
            unittest.main(argv=sys.argv[:1])
        finally:
            subprocess.run([wine, 'wineboot', '--end-session', '--kill'], check=False,
                           env={**os.environ, 'CUSHIM_WINEPREFIX': scratch})
