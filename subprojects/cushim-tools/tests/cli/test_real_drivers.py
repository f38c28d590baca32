#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program on NVIDIA's own drivers, which tests/drivers/fetch keeps in a cache. tests/drivers/suite compares the tables,
lookups and counts that it prints with the drivers."""

import glob
import os
import shutil

from program import CACHE, DRIVERS, USABLE, UNUSABLE, Case, lists, main, run, run_json

VERSIONS = {str(one.branch): one.version for one in lists.read_drivers()}


class RealDrivers(Case):
    def drivers(self):
        """Yields name, version, file and environment of each driver in the cache. Drivers with several files need a
        search path."""
        found = 0
        for name, version in VERSIONS.items():
            directory = os.path.join(DRIVERS, name)
            if os.path.exists(directory + '/libcuda.so.1'):
                found += 1
                yield name, version, directory + '/libcuda.so.1', {'LD_LIBRARY_PATH': directory}
        if found == 0:
            self.skipTest(f'there is no driver in {DRIVERS}; tests/drivers/fetch gets them')

    def test_probe_when_driver_is_on_search_path_then_finds_it(self):
        for name, version, _, variables in self.drivers():
            with self.subTest(driver=name):
                answer = run_json('probe', **variables)
                document = answer.document
                # The machine can show, without a start, that it has no GPU.
                self.assertEqual(answer.status, USABLE if document['reason'] == 'none' else UNUSABLE)
                self.assertEqual((document['loaded'], document['initialised']), (True, None))
                self.assertEqual(document['driver']['cuda_version'], version)
                self.assertRegex(document['driver']['release'], rf'^{name}\.\d+')
                self.assertEqual(document['tried'][-1]['path'], 'libcuda.so.1')
                if answer.status == USABLE:
                    self.assertIn(b' NVIDIA driver ' + name.encode(), run('probe', **variables).out.splitlines()[0])

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
                message = [row['text'] for row in answer.document if row['check'] == 'library'][0]
                self.assertRegex(message, rf'is NVIDIA driver {name}\.\d+(\.\d+)? for CUDA ')

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
            self.skipTest(f'{directory} has no stub; tests/drivers/fetch-toolkit 12.4-debian fetches one')
        for stub in stubs:
            with self.subTest(stub=stub):
                self.assertEqual(run_json('probe', '--driver', stub).document['reason'], 'stub')
                self.assertEqual(run_json('doctor', '--driver', stub).document[0]['check'], 'stub')


if __name__ == '__main__':
    main()
