#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The companions of real drivers (`tests/drivers/fetch 535 550` and `fetch --companions`), as `cushim probe` finds them.

  test_companions.py PROGRAM NUMBER [FFNVCODEC]

NUMBER is the driver that is loaded; the other one's companions lie beside it or in its place. FFNVCODEC is the program tests/compat/ffnvcodec.c.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

PROGRAM, NUMBER = sys.argv[1], sys.argv[2]
OTHER = {'535': '550', '550': '535'}[NUMBER]
API = {'535': '12.1', '550': '12.2'}
CACHE = pathlib.Path(os.environ.get('CUSHIM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cushim'))
NAMES = {'NVCUVID': 'libnvcuvid', 'NVENC': 'libnvidia-encode', 'NVML': 'libnvidia-ml'}
SKIPPED = 77


def library(number, name):
    """The file of a library of a driver."""
    directory = CACHE / ('drivers' if name == 'libcuda' else 'companions') / number
    return (directory / f'{name}.so.1').resolve()


def version(number):
    return library(number, 'libcuda').name.removeprefix('libcuda.so.')


class Companions(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix='cushim-companions-'))
        self.addCleanup(shutil.rmtree, self.root)
        self.libraries = self.root / 'usr/lib64'
        self.libraries.mkdir(parents=True)
        self.put(NUMBER, 'libcuda')

    def put(self, number, name, linked=True):
        file = library(number, name)
        shutil.copy(file, self.libraries)
        if linked:
            os.symlink(file.name, self.libraries / f'{name}.so.1')

    def probe(self, *arguments, **variables):
        """{name: row} of the companions."""
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(('CUSHIM_', 'CUDA_', 'NVIDIA_')) and name != 'LD_LIBRARY_PATH'}
        done = subprocess.run([PROGRAM, 'probe', '--format=json', *arguments], env={**kept, **variables},
                              stdout=subprocess.PIPE, check=False)  # without a GPU, the status is 1
        return {row['name']: row for row in json.loads(done.stdout)['companions']}

    def below_root(self):
        return self.probe(f'--root={self.root}')

    def check(self, rows, number, message=''):
        for name, stem in NAMES.items():
            row = rows[name]
            self.assertEqual(row['reason'], 'none', row)
            self.assertEqual(row['driver_version'], version(number))
            self.assertEqual(pathlib.Path(row['path']).parent, self.libraries)
            self.assertEqual(row['api_version'], API[number] if name == 'NVENC' else None)
            self.assertIn(message, row['message'])
            self.assertEqual(row['message'] == '', message == '')
            self.assertEqual(row['library'], stem + '.so.1')

    def test_companions_when_below_a_root_then_found_with_the_version_of_the_api(self):
        for stem in NAMES.values():
            self.put(NUMBER, stem)
        self.check(self.below_root(), NUMBER)

    def put_32_bit(self, stem):
        content = bytearray(library(NUMBER, stem).read_bytes())
        content[4] = 1  # EI_CLASS: ELFCLASS32
        (self.libraries / f'{stem}.so.1').write_bytes(content)

    def put_stub(self, stem):
        stubs = self.root / 'opt/cuda/stubs'
        stubs.mkdir(parents=True, exist_ok=True)
        shutil.copy(library(NUMBER, stem), stubs / f'{stem}.so')
        os.symlink(stubs / f'{stem}.so', self.libraries / f'{stem}.so.1')

    def ffnvcodec(self, mode):
        """What a program with FFmpeg's header prints: a line with the path of each library, or with the reason."""
        if len(sys.argv) < 4:
            self.skipTest('nv-codec-headers are not installed (Debian: libffmpeg-nvenc-dev)')
        driver = str(self.libraries / 'libcuda.so.1')
        done = subprocess.run([sys.argv[3], mode, driver], env={**os.environ, 'CUSHIM_DRIVER': driver}, text=True,
                              stdout=subprocess.PIPE, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)
        return done.stdout

    def test_ffnvcodec_when_a_companion_can_be_opened_then_that_of_the_driver_before_another(self):
        for layout, linked, found in (('both versions', NUMBER, NUMBER), ('links to the other one', OTHER, NUMBER),
                                      ('only the other one', OTHER, OTHER)):
            with self.subTest(layout):
                for file in self.libraries.glob('libnv*'):
                    file.unlink()
                for stem in NAMES.values():
                    self.put(linked, stem)
                    if layout != 'only the other one':
                        self.put(NUMBER if linked == OTHER else OTHER, stem, linked=False)
                said = self.ffnvcodec('open')
                for stem in ('libnvcuvid', 'libnvidia-encode'):
                    self.assertIn(f'{self.libraries}/{stem}.so.{"1" if found == OTHER else version(found)}', said)

    def test_ffnvcodec_when_no_companion_can_be_opened_then_logs_why(self):
        for put, reason in ((self.put_32_bit, 'ELF'), (self.put_stub, 'is the stub of a Toolkit'),
                            (lambda stem: None, 'libnvcuvid.so.1 is missing')):
            with self.subTest(reason):
                for file in self.libraries.glob('libnv*'):
                    file.unlink()
                for stem in NAMES.values():
                    put(stem)
                self.assertRegex(self.ffnvcodec('closed'), f'NVCUVID Cannot load libnvcuvid.so.1: .*{reason}')

    def test_companions_when_only_the_driver_is_given_then_those_beside_it(self):
        for stem in NAMES.values():
            self.put(NUMBER, stem)
        for name, row in self.probe(f'--driver={self.libraries}/libcuda.so.1').items():
            self.assertEqual((row['reason'], row['driver_version']), ('none', version(NUMBER)), name)
            self.assertEqual(pathlib.Path(row['path']).parent, self.libraries)

    def test_companions_when_links_lead_to_the_other_version_then_that_of_the_driver(self):
        for stem in NAMES.values():
            self.put(OTHER, stem)
            self.put(NUMBER, stem, linked=False)
        self.check(self.below_root(), NUMBER)

    def test_companions_when_only_the_other_version_exists_then_opened_and_named(self):
        for stem in NAMES.values():
            self.put(OTHER, stem)
        self.check(self.below_root(), OTHER,
                   f'is of driver {version(OTHER)}, but the loaded driver is of {version(NUMBER)}, so ')

    def test_companions_when_the_other_version_is_that_of_the_kernel_module_then_right(self):
        for stem in NAMES.values():
            self.put(OTHER, stem)
        module = self.root / 'sys/module/nvidia/version'
        module.parent.mkdir(parents=True)
        module.write_text(version(OTHER) + '\n')
        self.check(self.below_root(), OTHER)

    def test_companions_when_nvcuvid_is_absent_then_nvenc_names_it(self):
        self.put(NUMBER, 'libnvidia-encode')
        row = self.below_root()['NVENC']
        self.assertEqual(row['reason'], 'needs-library')
        self.assertIn('libnvcuvid.so.1', row['message'])

    def test_companions_when_the_file_is_32_bit_then_said(self):
        self.put_32_bit('libnvidia-ml')
        row = self.below_root()['NVML']
        self.assertEqual(row['reason'], 'not-loadable')
        self.assertIn('ELF', row['message'])

    def test_companions_when_a_stub_is_linked_then_passed_over(self):
        stubs = self.root / 'opt/cuda/stubs'
        stubs.mkdir(parents=True)
        shutil.copy(library(NUMBER, 'libnvidia-ml'), stubs / 'libnvidia-ml.so')
        os.symlink('/opt/cuda/stubs/libnvidia-ml.so', self.libraries / 'libnvidia-ml.so.1')
        row = self.below_root()['NVML']
        self.assertEqual(row['reason'], 'stub')
        self.assertIn('opt/cuda/stubs/libnvidia-ml.so is the stub', row['message'])

    def test_companions_when_the_container_lacks_video_then_said(self):
        self.put(NUMBER, 'libnvidia-ml')
        rows = self.probe(f'--driver={self.libraries}/libcuda.so.1', NVIDIA_DRIVER_CAPABILITIES='compute,utility')
        if rows['NVENC']['reason'] == 'none':
            self.skipTest('this machine has NVENC')
        for name in ('NVCUVID', 'NVENC'):
            self.assertEqual(rows[name]['reason'], 'not-found')
            self.assertIn('missing in this container: NVIDIA_DRIVER_CAPABILITIES lacks video.', rows[name]['message'])
        self.assertEqual(rows['NVML']['reason'], 'none')
        done = subprocess.run([PROGRAM, 'doctor', '--format=json', f'--driver={self.libraries}/libcuda.so.1'],
                              env={**os.environ, 'NVIDIA_DRIVER_CAPABILITIES': 'compute,utility'},
                              stdout=subprocess.PIPE, check=False)
        notes = [row for row in json.loads(done.stdout)['findings'] if row['check'] == 'companions']
        self.assertEqual([row['message'] for row in notes[:2]], [rows[name]['message'] for name in ('NVCUVID', 'NVENC')])
        self.assertEqual({row['verdict'] for row in notes}, {'note'})


def main():
    for number in ('535', '550'):
        for name in ('libcuda', *NAMES.values()):
            if not library(number, name).exists():
                print(f'{name} of driver {number} is not in the cache: run tests/drivers/fetch 535 550 and '
                      'tests/drivers/fetch --companions')
                return SKIPPED
    return not unittest.main(argv=sys.argv[:1], exit=False).result.wasSuccessful()


if __name__ == '__main__':
    sys.exit(main())
