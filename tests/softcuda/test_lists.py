#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_lists.py SOFTCUDA LOADER [LIBRARY...] - the lists of softcuda agree.

The sources define exactly the functions in executes.txt. The README names exactly the functions that are not
executed. The libraries export only functions of the driver and the control interface.
"""
import os
import re
import subprocess
import sys


def main(softcuda, loader, *libraries):
    failures = []
    symbols = os.path.join(loader, 'symbols.inc')
    executes = os.path.join(softcuda, 'src', 'executes.txt')

    defined = set()
    for name in os.listdir(os.path.join(softcuda, 'src')):
        if name.endswith('.c'):
            with open(os.path.join(softcuda, 'src', name)) as file:
                defined |= set(re.findall(r'^CUresult soft_(\w+_v\d)\(', file.read(), re.MULTILINE))
    with open(executes) as file:
        named = {word for line in file for word in line.split('#')[0].split()}
    failures += [f'defined, and not in executes.txt: {slot}' for slot in sorted(defined - named)]
    failures += [f'in executes.txt, and not defined: {slot}' for slot in sorted(named - defined)]

    refused = subprocess.run([sys.executable, os.path.join(softcuda, 'generate.py'), 'refused', symbols, executes],
                             stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    with open(os.path.join(softcuda, 'README.md')) as file:
        page = file.read()
    told = re.search(r'```refused\n(.*?)```', page, re.DOTALL)
    told = told[1].split() if told else []
    failures += [f'the page should not say: {name}' for name in sorted(set(told) - set(refused))]
    failures += [f'the page does not say: {name}' for name in sorted(set(refused) - set(told))]
    if f'{len(named)} of 572' not in page:
        failures.append(f'the page should say that {len(named)} of 572 are executed')

    for library in libraries:
        table = subprocess.run(['nm', '-D', '--defined-only', '--format=posix', library], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        names = [line.split()[0] for line in table.splitlines()]
        failures += [f'{library}: {name}' for name in names if not name.startswith('cu') and name != 'softcuda_control']

    print('\n'.join(failures) or f'{len(named)} executed, {len(refused)} not')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
