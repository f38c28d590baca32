# SPDX-License-Identifier: MIT
"""The doctor on a machine that is changed, with a driver that makes the system calls of a real one (start_driver.c)."""
import glob
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
# pylint: disable=wrong-import-position
from agreement import Agreement
from program import PROGRAM, nobody_can_run, run_json

START_DRIVER = os.path.abspath(sys.argv.pop(3))
NOBODY = 'uid=65534'
SOURCES = glob.glob(os.path.join(HERE, 'fault*.c'))
NVML = {'LD_LIBRARY_PATH': os.path.dirname(START_DRIVER)}  # that of the tests
with open(PROGRAM, 'rb') as program_file:
    IS_MUSL = b'ld-musl' in program_file.read(65536)

# With a change or variable that contains one of these, the start of the driver does not end.
HANGS = 'FAKE_HANG', 'FAKE_WAIT', 'mps=silent', 'CUDA_MPS', 'kill-thread'


class Machine(Agreement):
    @classmethod
    def setUpClass(cls):
        if shutil.which('cc') is None:
            raise unittest.SkipTest('there is no compiler')
        directory = cls.enterClassContext(tempfile.TemporaryDirectory(prefix='cushim-test-'))
        os.chmod(directory, 0o755)
        fault = directory + '/fault'
        subprocess.run(['cc', '-o', fault, *SOURCES, '-ldl'], check=True)
        cls.machine = fault, 'machine'  # a machine that seems to have a GPU
        done = subprocess.run([*cls.machine, '--', '/bin/true'], stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            raise unittest.SkipTest(done.stdout.decode().strip())
        cls.has_nobody = nobody_can_run()

    def possible(self, *faults):
        return self.has_nobody or NOBODY not in faults

    def require_nobody(self):
        if not self.has_nobody:
            self.skipTest('another user cannot run the program cushim here')

    def examine(self, *faults, options=(), **variables):
        machine = {'before': (*self.machine, *faults, '--'), **variables}
        hangs = any(word in ' '.join((*faults, *variables)) for word in HANGS)
        limit = '--timeout=2' if hangs else '--timeout=20' # a busy machine takes long for a start
        answer = run_json('doctor', limit, *options, '--driver', START_DRIVER, **machine)
        self.compare(answer.document[0], ['--devices', limit, '--driver', START_DRIVER], **machine)
        return answer

    def require(self, fault):
        done = subprocess.run([*self.machine, fault, '--', '/bin/true'], stdout=subprocess.PIPE, check=False)
        if done.returncode != 0:
            self.skipTest(done.stdout.decode().strip())
