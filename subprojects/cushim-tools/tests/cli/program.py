# SPDX-License-Identifier: MIT
"""Runs the program cushim in a known environment, and builds directories that look like different machines."""

import concurrent.futures
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), '..', '..', '..', '..')
sys.path.insert(0, os.path.join(SOURCES, 'loader', 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position

PROGRAM, FAKES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
# The shared library, for Python; None if there is none, or one with a sanitizer, whose own library Python lacks.
LIBRARY = os.path.join(os.path.dirname(PROGRAM), '..', '..', '..', 'loader', 'libcushim.so.0')
if not os.path.exists(LIBRARY) or os.environ.get('TEST_SANITIZERS', 'none') != 'none':
    LIBRARY = None
CACHE = os.environ.get('CUSHIM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cushim')
DRIVERS = os.path.join(CACHE, '-'.join(filter(None, ('drivers', os.environ.get('CUSHIM_ARCH')))))
SKIPPED = 77
USABLE, UNUSABLE, USAGE = 0, 1, 2


def machine(path):
    """The processor architecture that an ELF file is built for, as its header has it."""
    with open(path, 'rb') as file:
        return int.from_bytes(file.read(20)[18:], sys.byteorder)


MULTIARCH = {62: 'x86_64-linux-gnu', 183: 'aarch64-linux-gnu', 21: 'powerpc64le-linux-gnu', 3: 'i386-linux-gnu',
             40: 'arm-linux-gnueabihf'}.get(machine(PROGRAM), 'lib')
# Built for another architecture, the program runs under an emulator, and programs of this system run beside it.
IS_FOREIGN = machine(PROGRAM) != machine(sys.executable)
LIBRARIES = '/usr/lib/' + MULTIARCH


def source(path):
    with open(os.path.join(SOURCES, path), encoding='utf-8') as file:
        return file.read()


# The words for checks of the doctor that the manual has.
LIST = source('subprojects/cushim-tools/cli/cushim.1').partition('each can occur')[2].partition('.Ed')[0]
CHECKS = set(re.findall(r'[a-z-]+', ' '.join(re.findall(r'^    ([a-z, -]+?)  ', LIST, re.M))))


def fake(name):
    """The path of a fake driver: driver_12_4, driver_11_0, driver_6_5, stub."""
    return os.path.join(FAKES, name + '.so')


NEWEST = max(one.version for one in lists.read())
NEXT_MAJOR = (NEWEST // 1000 + 1) * 1000


def newest_fake(name):
    """The path of a fake driver with every function of the list: fake_13040 (of its newest version), or fake_future, of
    the next major version of CUDA, which also has functions that the list lacks."""
    return os.path.join(FAKES, '..', '..', '..', 'cushim-testing', 'fakes', name + '.so')


def environment(**variables):
    """The environment of this process, without the variables that affect a driver, and with `variables`."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(('CUSHIM_', 'CUDA_', 'NVIDIA_', 'FAKE_', 'LC_')) and name not in (
                'LD_LIBRARY_PATH', 'LANG', 'NO_COLOR', 'TERM')}
    kept['GLIBC_TUNABLES'] = 'glibc.rtld.execstack=2'  # the real driver 340 needs an executable stack
    kept.update(variables)
    return kept


class Answer:
    """The result of one run of the program."""

    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr

    @property
    def json(self):
        assert self.out.endswith(b'\n') and not self.out.endswith(b'\n\n'), self.out
        return json.loads(self.out.decode('utf-8'))  # strict UTF-8


def run(*arguments, before=(), stdout=subprocess.PIPE, **variables):
    command = [*before, PROGRAM, *arguments]
    return Answer(subprocess.run(command, env=environment(**variables), stdin=subprocess.DEVNULL, stdout=stdout,
                                 stderr=subprocess.PIPE, timeout=120, check=False))


def for_each(check, rows):
    """Calls check(row) for each row, for several at the same time: they mostly wait."""
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        list(pool.map(check, rows))


def run_json(*arguments, **settings):
    """Runs the program with --format=json. It writes one valid document in every case."""
    answer = run(*arguments, '--format=json', **settings)
    answer.document = answer.json if arguments[0] != 'doctor' else findings(answer.json)
    return answer


def findings(document):
    """The findings of the doctor, the leading one first. "text" is what is wrong, in all words."""
    assert list(document) == ['version', 'findings', 'system'] and document['version'] == 1
    for row in document['findings']:
        row['text'] = ' '.join(filter(None, (row['message'], row['evidence'])))
    return document['findings']


class Tree:
    """A directory that looks like the file system of a machine."""

    def __init__(self):
        self.root = tempfile.mkdtemp(prefix='cushim-tree-')
        os.chmod(self.root, 0o755)

    def path(self, path):
        whole = self.root + path
        os.makedirs(os.path.dirname(whole), exist_ok=True)
        return whole

    def file(self, path, text='', mode=0o644):
        with open(self.path(path), 'w', encoding='utf-8') as file:
            file.write(text)
        os.chmod(self.root + path, mode)
        return self

    def directory(self, path):
        os.makedirs(self.root + path, exist_ok=True)
        return self

    def driver(self, directory, release='550.163.01', which='driver_12_4'):
        """Installs a driver as packages do: libcuda.so.1 is a link to libcuda.so.550.163.01."""
        name = 'libcuda.so.' + release
        shutil.copy(fake(which), self.path(f'{directory}/{name}'))
        if release != '1':
            os.symlink(name, self.path(directory + '/libcuda.so.1'))
        return self

    def kernel_module(self, release='550.163.01'):
        return self.file('/proc/driver/nvidia/version', 'NVRM version: NVIDIA UNIX x86_64 Kernel Module  '
                         f'{release}  Mon Jan  1 00:00:00 UTC 2024\nGCC version:  gcc 12\n')

    def nodes(self, mode=0o666):
        for node in ('/dev/nvidiactl', '/dev/nvidia0', '/dev/nvidia-uvm'):
            self.file(node, mode=mode)
        return self

    def gpu_on_bus(self, address='0000:01:00.0'):
        self.file(f'/sys/bus/pci/devices/{address}/vendor', '0x10de\n')
        return self.file(f'/sys/bus/pci/devices/{address}/class', '0x030200\n')

    def gpu(self, number, uuid, device='0x2335', name='NVIDIA H200', address=None):
        """A GPU that the kernel module lists. Its device file is a plain file: only as root can it be a device."""
        address = address or f'0000:{number + 1:02x}:00.0'
        self.gpu_on_bus(address).file(f'/sys/bus/pci/devices/{address}/device', device + '\n')
        self.file(f'/sys/bus/pci/devices/{address}/uevent', 'DRIVER=nvidia\n')
        self.file(f'/proc/driver/nvidia/gpus/{address}/information',
                  f'Model: \t\t {name}\nGPU UUID: \t {uuid}\nDevice Minor: \t {number}\nGPU Excluded:\t No\n')
        return self.file(f'/dev/nvidia{number}', mode=0o666)

    def container(self):
        return self.file('/.dockerenv')

    def remove(self):
        shutil.rmtree(self.root)


class Case(unittest.TestCase):
    """A test case that can build trees."""

    maxDiff = None

    def tree(self):
        tree = Tree()
        self.addCleanup(tree.remove)
        return tree

    def directory(self):
        directory = tempfile.mkdtemp(prefix='cushim-test-')
        self.addCleanup(shutil.rmtree, directory)
        os.chmod(directory, 0o755)
        return directory


def nobody_can_run():
    """Whether the user nobody can run the program, which a directory above the build may forbid."""
    try:
        subprocess.run([PROGRAM, '--version'], user=65534, stdout=subprocess.DEVNULL, check=True)
        return True
    except (PermissionError, subprocess.CalledProcessError):
        return False


def main():
    """Runs the tests of the calling file. If all of them were skipped, the file is skipped."""
    program = unittest.main(argv=[sys.argv[0], *sys.argv[3:]], exit=False, verbosity=2)
    result = program.result
    # A class that is skipped as a whole adds no test to testsRun. Neither it nor a part of a test is of the calling file.
    executed = result.testsRun - sum(type(test).__module__ == '__main__' for test, _ in result.skipped)
    if result.wasSuccessful() and executed == 0 and result.skipped:
        sys.exit(SKIPPED)
    sys.exit(0 if result.wasSuccessful() and executed > 0 else 1)
