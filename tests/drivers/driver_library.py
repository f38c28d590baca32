# SPDX-License-Identifier: MIT
"""The file of a driver: where it is, and its own symbol table as nm prints it, independent of our lists."""
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))


def names_of(*script):
    """The names of everything that a script can fetch."""
    done = subprocess.run([os.path.join(HERE, script[0]), '--names', *script[1:]], stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout.split()


DRIVERS, STUBS = names_of('fetch'), names_of('fetch-toolkit', 'stubs')


def cache():
    base = os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache')
    return os.path.realpath(os.environ.get('CUSHIM_CACHE') or os.path.join(base, 'cushim'))


def directory():
    """The directory of the drivers for the architecture of the tests."""
    return os.path.join(cache(), '-'.join(filter(None, ('drivers', os.environ.get('CUSHIM_ARCH')))))


def cached_path(name):
    """The path of a driver or stub in the cache; None if `name` is not one of its names."""
    if name in DRIVERS:
        return os.path.join(directory(), name, 'libcuda.so.1')
    if name in STUBS:
        return os.path.join(cache(), 'toolkit', name, 'stubs', 'libcuda.so')
    return None


def cached_drivers():
    """[(name, path)] of the drivers in the cache, oldest first."""
    return [(name, cached_path(name)) for name in DRIVERS if os.path.exists(cached_path(name))]


def fetch(name):
    """Fetches a driver into the cache. Returns the reason for a failure, or None."""
    script = os.path.join(HERE, 'fetch' if name in DRIVERS else 'fetch-toolkit')
    done = subprocess.run([script, name], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    lines = done.stderr.strip().splitlines()
    return None if done.returncode == 0 else (lines or ['no reason given'])[0]


def environment_for(path):
    """The environment that opens a driver: 390 and 418 need a library beside them, 340 an executable stack."""
    found = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    directories = [os.path.dirname(os.path.abspath(path)), found.get('LD_LIBRARY_PATH', '')]
    found['LD_LIBRARY_PATH'] = ':'.join(filter(None, directories))
    found['GLIBC_TUNABLES'] = 'glibc.rtld.execstack=2'
    return found


class Library:
    """A driver's file and its exported functions: name -> offset."""

    def __init__(self, path):
        self.path = os.path.abspath(path)
        if os.path.isdir(self.path):
            self.path = os.path.join(self.path, 'libcuda.so.1')
        table = subprocess.run(['nm', '-D', '--defined-only', '--format=posix', self.path], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True, check=False)
        self.error = table.stderr.strip() if table.returncode != 0 else None
        self.exports = {}
        for line in table.stdout.splitlines():
            name, kind, value = line.split()[:3]
            if kind in 'TtWw':
                self.exports[name.split('@')[0]] = int(value, 16)
        self.names = {offset: name for name, offset in self.exports.items()}

    @property
    def environment(self):
        return environment_for(self.path)
