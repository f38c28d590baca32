#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""NVIDIA's own NVRTC, from PyPI: each compiles for what the record says. tests/nvrtc/fetch downloads them."""
import os
import pathlib
import sys

sys.dont_write_bytecode = True
from nvrtc_report import NvrtcTest, main  # pylint: disable=wrong-import-position

CACHE = pathlib.Path(os.environ.get('CUSHIM_CACHE') or
                     pathlib.Path(os.environ.get('XDG_CACHE_HOME') or pathlib.Path.home() / '.cache') / 'cushim') / 'nvrtc'
WHEELS = {one.name: one for one in CACHE.glob('*.[0-9]')}


def number(version):
    major, minor = version.split('.')
    return 1000 * int(major) + 10 * int(minor)


class Wheels(NvrtcTest):
    """Each wheel in a virtual environment of its own."""

    def find_in(self, path, **arguments):
        return self.find(environment={'VIRTUAL_ENV': '/'}, root=path, **arguments)

    def test_wheel_when_of_the_version_of_the_driver_then_compiles(self):
        for version, path in WHEELS.items():
            for capability, target in ((8000, '80'), (8060, '86')):
                for output, kind in ((0, 'compute_'), (1, 'sm_')):
                    with self.subTest(version=version, target=kind + target):
                        found = self.find_in(path, driver=number(version), capability=capability, output=output)
                        self.expect(found, version=str(number(version)), target=kind + target, is_ptx_usable='1',
                                    place='VIRTUAL_ENV', compile='0')

    def test_wheel_when_newer_than_the_driver_then_compiles_for_the_gpu_itself(self):
        for version, path in WHEELS.items():
            major, minor = map(int, version.split('.'))
            if minor == 0:
                continue
            with self.subTest(version=version):
                found = self.find_in(path, driver=1000 * major, capability=8060)
                self.expect(found, version=str(number(version)), target='sm_86', is_ptx_usable='0', compile='0')

    def test_wheel_when_without_volta_or_kepler_then_says_so(self):
        for version, path in WHEELS.items():
            for capability, last in ((3070, 11), (7000, 12)):
                with self.subTest(version=version, capability=capability):
                    found = self.find_in(path, driver=13050, capability=capability)
                    if int(version.split('.')[0]) <= last:
                        self.expect(found, target=f'compute_{capability // 1000}{capability % 1000 // 10}', compile='0')
                    else:
                        self.expect(found, reason='lacks-feature')

    def test_wheel_when_without_builtins_then_is_refused(self):
        for version, path in WHEELS.items():
            with self.subTest(version=version):
                library = next(one for one in path.rglob('libnvrtc.so.*'))
                target = self.directory / version / 'cuda/lib64'
                target.mkdir(parents=True)
                (target / library.name).write_bytes(library.read_bytes())
                found = self.find(environment={'CUDA_PATH': '/cuda'}, driver=13050, root=self.directory / version)
                self.expect(found, reason='needs-library')
                (target / library.name).unlink()


if __name__ == '__main__':
    if not WHEELS:
        print(f'skipped: {CACHE} has no NVRTC; tests/nvrtc/fetch downloads it')
        sys.exit(77)
    main()
