#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A shell completes commands, options and values of the program, typed at a terminal.

usage: test_completion.py SHELL FILE
"""
import os
import pathlib
import pty
import shutil
import signal
import sys
import tempfile
import threading
import time

SHELL, FILE = sys.argv[1], pathlib.Path(sys.argv[2]).resolve()
START = {'bash': (['bash', '--norc', '--noprofile', '-i'], f'source {FILE}'),
         'zsh': (['zsh', '-f', '-i'], f'fpath=({FILE.parent} $fpath); autoload -U compinit; compinit -u -D'),
         'fish': (['fish', '--no-config', '-i'], f'source {FILE}')}
CASES = {  # what is typed: the arguments that the program gets
    'prob\t --dev\t': 'probe --devices',
    'ta\t--per\t': 'table --per-thread',
    'doctor --requ\t11.2': 'doctor --require 11.2',
    'run --form\tjs\t': 'run --format json',
    'lookup --a\t': 'lookup --all',
    'table --softcuda 47\t': 'table --softcuda 470',
    'exec --lay\tlib-one-\t': 'exec --layer lib-one-file',
    'exec -- own-prog\t lib-one-\t': 'exec -- own-program lib-one-file',
    'run --dev\t': 'run --dev',
    'aud\t lib-one-\t': 'audit lib-one-file',
}
if 'trace' in FILE.read_text(encoding='utf-8'):  # not every build has it
    CASES |= {'trace --keep fir\t': 'trace --keep first',
              'trace rep\t lib-one-\t': 'trace report lib-one-file',
              'trace --format ht\t': 'trace --format html',
              'run --format ht\t': 'run --format ht',
              'trace -- own-prog\t lib-one-\t': 'trace -- own-program lib-one-file'}
    for option in ('caller', 'errors', 'findings', 'from', 'function', 'process', 'size', 'stacks', 'stream', 'thread'):
        CASES[f'trace report --{option[:-1]}\t'] = f'trace report --{option}'


def wait_for(path, seconds=30):
    end = time.monotonic() + seconds
    while not path.exists() or not path.read_text(encoding='utf-8').endswith('\n'):
        assert time.monotonic() < end, f'{SHELL} has not written {path}'
        time.sleep(0.02)
    return path.read_text(encoding='utf-8')


def drain(terminal):
    """The terminal must not become full."""
    try:
        while os.read(terminal, 4096):
            pass
    except OSError:
        pass


def normal(arguments):
    """`--option=value` and `--option value` are the same."""
    return arguments.replace('=', ' ').split()


def run(directory):
    command, prepare = START[SHELL]
    program = directory / 'cushim'
    program.write_text(f'#!/bin/sh\necho "$*" >{directory}/out.new; mv {directory}/out.new {directory}/out\n', encoding='utf-8')
    program.chmod(0o755)
    (directory / 'lib-one-file').touch()
    shutil.copy(program, directory / 'own-program')
    process, terminal = pty.fork()
    if process == 0:
        os.chdir(directory)
        os.execvpe(command[0], command, {'PATH': f'{directory}:' + os.environ['PATH'], 'HOME': str(directory), 'TERM': 'vt100',
                                         'LC_ALL': 'C.UTF-8'})
    threading.Thread(target=drain, args=[terminal], daemon=True).start()
    failed = []
    for typed, expected in [('', '')] + list(CASES.items()):
        line = f'cushim {typed}' if typed else f'{prepare}; cushim'
        os.write(terminal, f'{line}\r'.encode())
        got = wait_for(directory / 'out')
        (directory / 'out').unlink()
        print(f'{typed!r}: {got!r}')
        if normal(got) != expected.split():
            failed.append(typed)
    os.kill(process, signal.SIGKILL)
    return failed


def main():
    if not shutil.which(SHELL):
        print(f'skipped: {SHELL} is not installed')
        return 77
    with tempfile.TemporaryDirectory() as directory:
        return 1 if run(pathlib.Path(directory)) else 0


sys.exit(main())
