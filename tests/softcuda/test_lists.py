#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_lists.py SOFTCUDA [LIBRARY...] - the lists of softcuda agree.

The sources define exactly the functions in executes.txt. The libraries export only functions of the driver and the
control interface.
"""
import os
import pathlib
import re
import subprocess
import sys


def main(softcuda, *libraries):
    failures = []
    executes = os.path.join(softcuda, 'src', 'executes.txt')

    defined = set()
    for source in pathlib.Path(softcuda, 'src').rglob('*.c'):
        defined |= set(re.findall(r'^CUresult soft_(\w+_v\d)\(', source.read_text(), re.MULTILINE))
    with open(executes) as file:
        named = {word for line in file for word in line.split('#')[0].split()}
    failures += [f'defined, and not in executes.txt: {slot}' for slot in sorted(defined - named)]
    failures += [f'in executes.txt, and not defined: {slot}' for slot in sorted(named - defined)]

    for library in libraries:
        table = subprocess.run(['nm', '-D', '--defined-only', '--format=posix', library], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        names = [line.split()[0] for line in table.splitlines()]
        failures += [f'{library}: {name}' for name in names if not name.startswith('cu') and name != 'softcuda_control']

    print('\n'.join(failures) or f'{len(named)} executed')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
