#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
run.py - runs an example and holds what it prints against what its head says that it prints.

    run.py SOURCE HOW DRIVER COMMAND...

HOW is what must happen:

    gpu         exactly the lines that stand in the head under "With a GPU it prints:", and exit status 0
    too-old     one sentence: what the example needs, and which driver this is; exit status 0
    none        there is no driver: the reason is told, and the exit status is 0
    machine     with this machine's own driver, whatever that is: as gpu; skipped where it has no usable GPU

DRIVER is what CUSHIM_DRIVER shall be; "none" for no driver, "machine" for the machine's own.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys


def promised(source):
    """The indented lines below "With a GPU it prints:" in the comment at the head."""
    head = pathlib.Path(source).read_text(encoding='utf-8').split('*/\n')[1]
    block = re.search(r'^ \* With a GPU it prints:\n \*\n((?: \* {5}.*\n)+)', head, re.M)
    return [line[len(' *     '):] for line in block[1].splitlines()]


def machine_has_driver():
    try:
        return ctypes.CDLL('libcuda.so.1') is not None
    except OSError:
        return False


def machine_has_gpu():
    return machine_has_driver() and ctypes.CDLL('libcuda.so.1').cuInit(0) == 0


def run(command, driver):
    environment = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')
                   or name == 'CUSHIM_WINEPREFIX'}
    if driver != 'machine':
        environment['CUSHIM_DRIVER'] = driver
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=110,
                          check=False, env=environment)
    print(done.stdout, end='')
    return done.returncode, done.stdout.splitlines()


def judge(how, lines, expected):
    """None if all is well; else what is wrong."""
    said = '\n'.join(lines)
    if how == 'gpu':
        return None if lines == expected else 'this is not what the head says'
    if how == 'too-old':
        fits = re.search(r'needs CUDA \d+\.\d; this driver is CUDA \d+\.\d\.$', said)
        return None if fits and len(lines) == 1 else 'it does not say what it needs'
    if 'The driver was switched off' not in said:
        return 'it does not say why there is no GPU'
    # What it computes without a GPU, if anything, is what it computes with one.
    return None if lines[1:] in ([], expected[1:]) else 'without a GPU the result is another'


def main(source, how, driver, *command):
    if how == 'machine':
        if not machine_has_gpu():
            print('skipped: this machine has no usable GPU')
            return 77
        how = 'gpu'
    status, lines = run(command, driver)
    wrong = judge(how, lines, promised(source))
    if status != 0:
        wrong = f'exit status {status}'
    if wrong:
        print(f'{pathlib.Path(source).name}, {how}: {wrong}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
