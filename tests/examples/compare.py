#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""compare.py - compares the program before and after its port: its output, its exit status, and where it starts at
all.

  compare.py SOURCE PORTED LINKED DRIVER STAND_IN     on the softcuda library DRIVER
  compare.py SOURCE PORTED LINKED machine             on the driver of this machine; skipped if it has no usable GPU
  compare.py SOURCE PORTED LINKED none                without a driver
"""
import os
import pathlib
import subprocess
import sys

import run

CANNOT_START = 127 # the exit status of the dynamic loader


def run_program(program, **more):
    environment = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    done = subprocess.run([program], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
                          check=False, env={**environment, **more})
    print(f'{pathlib.Path(program).name}: exit status {done.returncode}: {done.stdout.strip()}')
    return done.returncode, done.stdout.splitlines()


def main(source, ported, linked, where, stand_in=None):
    wanted = (0, run.promised(source))
    if where == 'none':
        status, lines = run_program(ported, CUSHIM_DRIVER='none')
        good = status == 1 and lines[0].startswith('cuInit(0): error 100:')
        if not run.machine_has_driver():
            good = run_program(linked)[0] == CANNOT_START and good
    elif where == 'machine':
        if not run.machine_has_gpu():
            print('skipped: this machine has no usable GPU')
            return 77
        good = run_program(linked) == wanted and run_program(ported) == wanted
    else:
        softly = {'LD_LIBRARY_PATH': os.path.dirname(where), 'LD_PRELOAD': stand_in}
        good = run_program(linked, **softly) == wanted and run_program(ported, **softly) == wanted
    return 0 if good else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
