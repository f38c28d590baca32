#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""run.py - runs an example and compares its output with the lines that the comment at its head promises.

  run.py SOURCE HOW DRIVER COMMAND...

HOW is the expected outcome:

  gpu         exactly the lines at the head below "With a GPU it prints:", and exit status 0; "..." at the end of a line
              stands for a text of the driver
  too-old     one sentence with the CUDA version that the example needs and the version of the driver; exit status 0
  none        the reason why the driver is missing, and exit status 0
  machine     the driver of this machine: as gpu; skipped if the machine has no usable GPU

DRIVER is the value of CUSHIM_DRIVER: "none" for no driver, "machine" for the driver of the machine.
"""
import ctypes
import os
import pathlib
import re
import subprocess
import sys

REASONS = pathlib.Path(__file__).resolve().parents[2] / 'include' / 'cushim' / 'reasons.h'
NO_DRIVER_MESSAGE = re.search(r'"not-wanted", \w+,\s*"([^"]+)"', REASONS.read_text(encoding='utf-8'))[1]


def promised(source):
    """The indented lines below "With a GPU it prints:" in the comment at the head, in C or Python."""
    text = pathlib.Path(source).read_text(encoding='utf-8')
    start, block = re.search(r'^( \* |)With a GPU it prints:\n(?: \*)?\n((?:\1 {4}.*\n)+)', text, re.M).groups()
    return [line[len(start) + 4:] for line in block.splitlines()]


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


def keeps(lines, expected):
    return len(lines) == len(expected) and all(
        line.startswith(promise[:-3]) if promise.endswith('...') else line == promise
        for line, promise in zip(lines, expected))


def judge(how, lines, expected):
    """Returns None if the output is right, else the error."""
    said = '\n'.join(lines)
    if how == 'gpu':
        return None if keeps(lines, expected) else 'the output differs from the head of the source'
    if how == 'too-old':
        fits = re.search(r'needs CUDA \d+\.\d; this driver is CUDA \d+\.\d\.$', said)
        return None if fits and len(lines) == 1 else 'the output lacks the CUDA version that the example needs'
    if NO_DRIVER_MESSAGE not in said:
        return 'the output lacks the reason why there is no GPU'
    # An example that computes its result without a GPU gets the same result.
    return None if lines[1:] in ([], expected[1:]) else 'the result without a GPU differs'


def main(source, how, driver, *command):
    if how == 'machine':
        if not machine_has_gpu():
            print('skipped: this machine has no usable GPU')
            return 77
        how = 'gpu'
    status, lines = run(command, driver)
    if status == 77 and lines[:1] and lines[0].startswith('skipped: '):
        return 77
    wrong = judge(how, lines, promised(source))
    if status != 0:
        wrong = f'exit status {status}'
    if wrong:
        print(f'{pathlib.Path(source).name}, {how}: {wrong}')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
