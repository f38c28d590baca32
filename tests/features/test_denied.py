# SPDX-License-Identifier: MIT
"""SOFTCUDA_DENY denies each feature of the list: it is reported as unusable, and its use fails if it works otherwise.

usage: test_denied.py PROGRAM EXECUTED
"""
import os
import re
import subprocess
import sys

PROGRAM, EXECUTED = sys.argv[1:]
# Their functions also work on devices without the feature.
STILL_WORK = {'unified-addressing', 'programmatic-launch'}
# A driver from CUDA 7.0 on without per-thread variants does not exist.
NOT_DENIED = {'per-thread-streams'}


def run(*names, deny=''):
    """{feature: (obstacle, result)}, and the exit status."""
    done = subprocess.run([PROGRAM, '--executed', EXECUTED, *names], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          text=True, check=False, env={**os.environ, 'SOFTCUDA_DENY': deny, 'SOFTCUDA_DEVICES': '2'})
    unknown = re.findall(r'SOFTCUDA_DENY: "(.*)" is not', done.stderr)
    if set(unknown) != {name for name in deny.split(',') if name.endswith('-not')}:
        sys.exit(f'SOFTCUDA_DENY={deny}: {done.stderr}')
    return {row[0]: row[1:] for row in re.findall(r'^([a-z]\S+) +(\S+) +(.*)$', done.stdout, re.M)}, done.returncode


def main():
    plain, status = run()
    usable = [name for name, (obstacle, _) in plain.items() if obstacle == 'usable']
    failures = [] if status == 0 and len(usable) > 20 else [f'without SOFTCUDA_DENY: status {status}, {len(usable)} usable']
    for name in sorted(set(plain) - NOT_DENIED):
        found, status = run(name, deny=f'graph-update-not,{name}')
        obstacle, result = found[name]
        works = result == 'CUDA_SUCCESS' and name in set(usable) - STILL_WORK
        if status != 0 or obstacle == 'usable' or works:
            failures.append(f'{name}: {found[name]}, status {status}')
    names = ['memory-pools', 'managed-memory', 'stream-ordered-allocation']
    together, status = run(deny=','.join(names))
    failures += [f'{name}: usable, with three denied' for name in names if together[name][0] == 'usable']
    lost = {name for name in usable if together[name][0] != 'usable'}
    expected = {*names, 'graph-memory-nodes', 'concurrent-managed-memory'}
    if status != 0 or lost != expected:
        failures.append(f'three denied: status {status}, {lost ^ expected}')
    denied, lost = len(set(plain) - NOT_DENIED), len(set(usable) - NOT_DENIED)
    print('\n'.join(failures) or f'{denied} features denied, of which {lost} are usable otherwise')
    return 1 if failures else 0


sys.exit(main())
