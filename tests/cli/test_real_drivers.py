#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program on NVIDIA's own drivers, which tests/drivers/fetch keeps in a cache. nm checks its output."""

import glob
import os
import shutil
import subprocess

from program import USABLE, UNUSABLE, Case, lists, main, run, run_json

CACHE = os.environ.get('CUSHIM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.join(os.path.expanduser('~'), '.cache'), 'cushim')
VERSIONS = {str(one.branch): one.version for one in lists.read_drivers()}


def exported(library):
    lines = subprocess.run(['nm', '-D', '--defined-only', library], stdout=subprocess.PIPE, check=True).stdout.decode()
    return {line.split()[2].split('@')[0] for line in lines.splitlines() if line.split()[1] in 'TtWi'}


class RealDrivers(Case):
    def drivers(self):
        """Yields name, version, file and environment of each driver in the cache. Drivers with several files need a
        search path."""
        found = 0
        for name, version in VERSIONS.items():
            directory = os.path.join(CACHE, 'drivers', name)
            if os.path.exists(directory + '/libcuda.so.1'):
                found += 1
                yield name, version, directory + '/libcuda.so.1', {'LD_LIBRARY_PATH': directory}
        if found == 0:
            self.skipTest(f'there is no driver in {CACHE}/drivers; tests/drivers/fetch gets them')

    def test_probe_when_driver_is_on_search_path_then_finds_it(self):
        for name, version, _, variables in self.drivers():
            with self.subTest(driver=name):
                answer = run_json('probe', **variables)
                document = answer.document
                self.assertEqual((answer.status, document['loaded'], document['initialised']), (USABLE, True, None))
                self.assertEqual(document['driver']['cuda_version'], version)
                self.assertEqual(document['tried'][-1]['path'], 'libcuda.so.1')
                self.assertIn(b' NVIDIA driver ' + name.encode(), run('probe', **variables).out.splitlines()[0])

    def test_table_when_slot_is_native_then_nm_lists_its_symbol(self):
        if not shutil.which('nm'):
            self.skipTest('nm is not installed')
        for name, version, library, variables in self.drivers():
            with self.subTest(driver=name):
                names = exported(library)
                table = run_json('table', '--driver', library, **variables).document
                counts = run_json('probe', '--driver', library, **variables).document['entry_points']
                self.assertEqual(sum(counts.values()), len(table))
                for row in table:
                    own = 'cu' + (row['slot'][:-3] if row['slot'].endswith('_v1') else row['slot'])
                    self.assertEqual(row['symbol'], own if own in names else None, row)
                    self.assertEqual(row['state'] == 'native', own in names, row)
                    self.assertTrue(row['since'] <= version or row['state'] in ('polyfill', 'missing'), row)

    def test_lookup_all_when_found_then_nm_lists_the_symbol(self):
        if not shutil.which('nm'):
            self.skipTest('nm is not installed')
        for name, version, library, variables in self.drivers():
            with self.subTest(driver=name):
                names = exported(library)
                rows = run_json('lookup', '--all', '--driver', library, **variables).document
                self.assertEqual(len(rows), len(lists.read()))
                for row in rows:
                    self.assertEqual(row['symbol'] in names, row['found'], row)
                    self.assertTrue(row['version'] <= version or not row['found'], row)

    def test_table_when_limited_then_equals_that_of_the_older_driver(self):
        have = {name: (library, variables) for name, _, library, variables in self.drivers()}
        if not {'450', '550'} <= set(have):
            self.skipTest('the cache lacks driver 450 or 550')
        tables = []
        for name, options in (('450', []), ('550', ['--max-version=11.0'])):
            library, variables = have[name]
            rows = run_json('table', '--driver', library, *options, **variables).document
            tables.append({row['slot']: row['state'] != 'missing' for row in rows})
        differing = {slot for slot in tables[0] if tables[0][slot] != tables[1][slot]}
        self.assertLessEqual(differing, {'DeviceGetLuid_v1'})  # driver 450 on Linux lacks it, although its version has it

    def test_devices_when_init_forks_then_each_line_is_written_once(self):
        for name, _, library, variables in self.drivers():
            with self.subTest(driver=name):
                answer = run_json('probe', '--devices', '--driver', library, **variables)  # the cuInit of driver 340 forks
                document = answer.document
                self.assertIsInstance(document['initialised'], bool)
                self.assertEqual(answer.status == USABLE, bool(document['devices']))
                self.assertEqual(document['reason'] == 'none', answer.status == USABLE)
                text = run('probe', '--devices', '--driver', library, **variables).out
                self.assertEqual(text.count(b'entry points'), 1)

    def test_doctor_when_driver_is_loaded_then_names_its_release(self):
        for name, _, library, variables in self.drivers():
            with self.subTest(driver=name):
                answer = run_json('doctor', '--driver', library, **variables)
                self.assertIn(answer.status, (USABLE, UNUSABLE))
                message = [row['message'] for row in answer.document if row['check'] == 'library'][0]
                self.assertRegex(message, rf"^NVIDIA's driver {name}\.\d+(\.\d+)? for CUDA ")

    def test_root_when_it_holds_a_real_driver_then_loads_it(self):
        for name, version, library, variables in self.drivers():
            with self.subTest(driver=name):
                tree = self.tree()
                shutil.copy(library, tree.path('/usr/lib64/libcuda.so.1'))
                document = run_json('probe', '--root', tree.root, **variables).document
                self.assertEqual(document['driver']['cuda_version'], version)

    def test_stub_when_it_is_the_toolkits_then_is_recognised(self):
        directory = os.path.join(CACHE, 'toolkit')
        stubs = sorted(glob.glob(f'{directory}/*/stubs/libcuda.so'))
        if not stubs:
            self.skipTest(f'{directory} has no stub; tests/drivers/fetch-toolkit fetches them')
        for stub in stubs:
            with self.subTest(stub=stub):
                self.assertEqual(run_json('probe', '--driver', stub).document['reason'], 'stub')
                self.assertEqual(run_json('doctor', '--driver', stub).document[0]['check'], 'stub')


if __name__ == '__main__':
    main()
