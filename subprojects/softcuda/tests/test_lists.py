#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_lists.py [LIBRARY...] - the libraries of softcuda export only functions of the driver and the control interface.
"""
import subprocess
import sys


def main(*libraries):
    failures = []
    for library in libraries:
        table = subprocess.run(['nm', '-D', '--defined-only', '--format=posix', library], stdout=subprocess.PIPE,
                               text=True, check=True).stdout
        names = [line.split()[0] for line in table.splitlines()]
        failures += [f'{library}: {name}' for name in names if not name.startswith('cu') and name != 'softcuda_control']

    print('\n'.join(failures) or f'{len(libraries)} libraries')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
