# SPDX-License-Identifier: MIT
"""Runs programs under `cushim exec`, in a known environment."""
import json
import os
import platform
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, '..', 'cli'))
# pylint: disable=unused-import,wrong-import-position
from program import NEWEST, NEXT_MAJOR, PROGRAM, Answer, Case, environment, lists, main, run

BUILD = os.path.abspath(sys.argv[2])
CLIENT = [sys.executable, '-B', os.path.join(HERE, 'client.py')]
SETS = os.path.join(BUILD, 'src', 'exec')
CACHE = os.path.join(os.environ.get('CUSHIM_CACHE') or os.path.join(
    os.environ.get('XDG_CACHE_HOME') or os.path.expanduser('~/.cache'), 'cushim'), 'drivers')
# Only there does the auditor run.
HAS_AUDITOR = platform.libc_ver()[0] == 'glibc' and tuple(map(int, platform.libc_ver()[1].split('.')[:2])) >= (2, 35)


# Without the auditor, this line is the first on stderr.
WITHOUT_AUDITOR = (b'cushim: exec: this C library is older than glibc 2.35, or not glibc: a program that opens the driver by '
                   b'an absolute path gets the driver itself\n')


def softcuda(branch):
    return os.path.join(BUILD, 'subprojects', 'softcuda', str(branch), 'libcuda.so.1')


def newest_fake(name):
    """See program.newest_fake()."""
    return os.path.join(BUILD, 'tests', 'fakes', name + '.so')


def built(name):
    return os.path.join(BUILD, 'tests', 'exec', name)


def under(options, *command, text='', **variables):
    """Runs a command under exec with these options."""
    done = subprocess.run([PROGRAM, 'exec', *options, '--', *command], env=environment(**variables),
                          input=text.encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, check=False)
    answer = Answer(done)
    if not HAS_AUDITOR:
        answer.err = answer.err.replace(WITHOUT_AUDITOR, b'', 1)
    return answer


def client(options, what, name='libcuda.so.1', text='', **variables):
    """What the client prints under exec."""
    answer = under(options, *CLIENT, what, name, text=text, **variables)
    assert answer.status == 0, (answer.status, answer.out, answer.err)
    return json.loads(answer.out)
