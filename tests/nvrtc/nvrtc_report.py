# SPDX-License-Identifier: MIT
"""Runs nvrtc_report in a process of its own, with copies of NVRTC in a directory of the test."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

REPORT, FAKES = (pathlib.Path(path) for path in sys.argv[1:3])
VARIABLES = ('VIRTUAL_ENV', 'CONDA_PREFIX', 'CUDA_PATH', 'CUDA_HOME', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES')
WHEEL = 'lib/python3.11/site-packages/nvidia/cuda_nvrtc/lib'
WHEEL_13 = 'lib/python3.11/site-packages/nvidia/cu13/lib'


def soname(version):
    """The name of the library in a wheel: libnvrtc.so.12."""
    major = version.split('.', maxsplit=1)[0]
    return 'libnvrtc.so.' + {'11': '11.0' if version == '11.0' else '11.2'}.get(major, major)


class NvrtcTest(unittest.TestCase):
    """A test with a directory."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix='cushim-nvrtc-')  # pylint: disable=consider-using-with
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name).resolve()

    def put(self, directory, version, builtins=True):
        """Puts a fake there as in a wheel. Returns the path of the library."""
        target = self.directory / directory
        target.mkdir(parents=True, exist_ok=True)
        if builtins:
            shutil.copy(FAKES / f'builtins_{version}.so', target / f'libnvrtc-builtins.so.{version}')
        return shutil.copy(FAKES / f'nvrtc_{version}.so', target / soname(version))

    def find(self, report=REPORT, environment=None, process=None, under=(), **arguments):
        """What the program prints: {name: value}. Paths in the environment are below the directory. `under` is the start
        of the command."""
        settings = {name: value for name, value in os.environ.items() if name not in VARIABLES}
        settings.update(CUSHIM_DRIVER='none')
        settings.update({name: str(self.directory / value) for name, value in (environment or {}).items()})
        done = subprocess.run([*under, report, *(f'{name}={value}' for name, value in arguments.items())], env=settings,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **(process or {}))
        self.assertEqual((done.returncode, done.stderr), (0, ''))
        return dict(line.split('=', 1) for line in done.stdout.splitlines())

    def expect(self, found, **values):
        """The values are as expected; a message or an advice contains its words."""
        for name, value in values.items():
            check = self.assertIn if name in ('message', 'advice') else self.assertEqual
            check(value, found.get(name), found)


def main():
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
