# SPDX-License-Identifier: MIT
"""Runs programs under `cushim exec`, in a known environment."""
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
# pylint: disable=unused-import,wrong-import-position
from program import DRIVERS, IS_FOREIGN, LIBRARIES, NEWEST, NEXT_MAJOR, PROGRAM, Answer, Case, environment, lists, main, nobody_can_run, run

BUILD = os.path.abspath(sys.argv[2])
CLIENT = [sys.executable, '-BS', os.path.join(HERE, 'client.py')]
SETS = os.path.join(BUILD, 'subprojects', 'cushim-tools', 'exec')
# Only there does the auditor run.
HAS_AUDITOR = platform.libc_ver()[0] == 'glibc' and tuple(map(int, platform.libc_ver()[1].split('.')[:2])) >= (2, 35)


# Without the auditor, this line is the first on stderr.
WITHOUT_AUDITOR = (b'cushim: exec: this C library is older than glibc 2.35, or not glibc: a program that opens the driver by '
                   b'an absolute path gets the driver itself\n')


# On stderr, if the program is one of this machine, such as a shell, and cushim is built for another architecture.
FOREIGN_PROGRAM = re.compile(rb'cushim: exec: .* is built for another processor architecture.*\nERROR: ld.so: .*ignored.\n')


def softcuda(branch):
    return os.path.join(BUILD, 'subprojects', 'softcuda', str(branch), 'libcuda.so.1')


def can_mount():
    """Whether a process can mount a small file system that only it has."""
    with tempfile.TemporaryDirectory() as directory:
        command = ['unshare', '-m', 'mount', '-t', 'tmpfs', '-o', 'nosuid', 'none', directory]
        return shutil.which('unshare') is not None \
            and subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0


def copied_libraries(directory):
    """Copies the libraries of exec as an installation has them. Returns their new directory."""
    copy = os.path.join(directory, 'exec')
    for name in ('libcushim-exec.so', 'auditor.so', *filter(str.isdigit, os.listdir(SETS))):
        os.makedirs(copy, exist_ok=True)
        subprocess.run(['cp', '-a', os.path.join(SETS, name), copy], check=True)
    return copy


def newest_fake(name):
    """See program.newest_fake()."""
    return os.path.join(BUILD, 'subprojects', 'cushim-testing', 'fakes', name + '.so')


def built(name):
    return os.path.join(BUILD, 'subprojects', 'cushim-tools', 'tests', 'exec', name)


def under(options, *command, text='', program=PROGRAM, **variables):
    """Runs a command under exec with these options."""
    if IS_FOREIGN and any(sys.executable in str(word) for word in command):
        raise unittest.SkipTest('the Python of this machine cannot open a library that is built for another one')
    done = subprocess.run([program, 'exec', *options, '--', *command], env=environment(**variables),
                          input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    answer = Answer(done)
    if IS_FOREIGN:
        answer.err = FOREIGN_PROGRAM.sub(b'', answer.err)
    if not HAS_AUDITOR:
        answer.err = answer.err.replace(WITHOUT_AUDITOR, b'', 1)
    return answer


def client(options, what, name='libcuda.so.1', text='', **variables):
    """What the client prints under exec."""
    answer = under(options, *CLIENT, what, name, text=text, **variables)
    assert answer.status == 0, (answer.status, answer.out, answer.err)
    return json.loads(answer.out)
