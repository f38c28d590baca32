# SPDX-License-Identifier: MIT
"""Builds the wheel and the source distribution for pip (PEP 517), with Meson and pack.py."""
import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import pack  # pylint: disable=wrong-import-position

# The program finds the shared library in the package, wherever pip places it; programs can open it with ctypes.
OPTIONS = ['--prefix=/usr', '--libdir=lib', '--buildtype=release', '-Db_ndebug=true', '-Db_pie=true', '-Dtypes=own',
           '-Dtests=disabled', '-Dtools=enabled', '-Ddefault_library=both', '-Dc_link_args=-s']


def get_requires_for_build_wheel(config_settings=None):
    del config_settings
    return [name for name in ('meson', 'ninja') if shutil.which(name) is None]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """The setting `setup-args` has further options for meson setup."""
    del metadata_directory
    more = (config_settings or {}).get('setup-args', [])
    with tempfile.TemporaryDirectory() as build:
        subprocess.run(['meson', 'setup', build, str(pack.ROOT), *OPTIONS, *([more] if isinstance(more, str) else more)],
                       check=True)
        subprocess.run(['meson', 'compile', '-C', build], check=True)
        platform = sysconfig.get_platform().replace('-', '_').replace('.', '_')
        return pack.wheel(build, platform, wheel_directory)


def build_sdist(sdist_directory, config_settings=None):
    del config_settings
    return pack.source(sdist_directory)
