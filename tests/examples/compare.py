#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
compare.py - the same program before and after its port: what it prints, how it ends, and where it starts at all.

    compare.py SOURCE PORTED LINKED DRIVER STAND_IN     on the softcuda whose file DRIVER is
    compare.py SOURCE PORTED LINKED machine             on this machine's own driver; skipped where it has no usable GPU
    compare.py SOURCE PORTED LINKED none                with no driver at all
"""
import os
import pathlib
import subprocess
import sys

import run

CANNOT_START = 127 # by the dynamic loader


def ask(program, **more):
    environment = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
                          check=False, env={**environment, **more})
    print(f'{pathlib.Path(program).name}: exit status {done.returncode}: {done.stdout.strip()}')
    return done.returncode, done.stdout.splitlines()


def main(source, ported, linked, where, stand_in=None):
    wanted = (0, run.promised(source))
    if where == 'none':
        status, lines = ask(ported, CUSHIM_DRIVER='none')
        good = status == 1 and lines[0].startswith('cuInit(0): error 100:')
        if not run.machine_has_driver():
            good = ask(linked)[0] == CANNOT_START and good
    elif where == 'machine':
        if not run.machine_has_gpu():
            print('skipped: this machine has no usable GPU')
            return 77
        good = ask(linked) == wanted and ask(ported) == wanted
    else:
        softly = {'LD_LIBRARY_PATH': os.path.dirname(where), 'LD_PRELOAD': stand_in}
        good = ask(linked, **softly) == wanted and ask(ported, **softly) == wanted
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
