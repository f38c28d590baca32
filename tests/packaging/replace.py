# SPDX-License-Identifier: MIT
"""loader/amalgamation/REPLACE.md: builds a program with the loader and with the commands of the page, before and after, runs both on
software drivers, and compares their output with the table of the page.

usage: replace.py [--write] SOFTCUDA_DIRECTORY COMPILER...
"""
import ctypes
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PAGE = ROOT / 'loader' / 'amalgamation' / 'REPLACE.md'
MARKS = re.compile(r'(<!-- replace: begin -->\n).*?(<!-- replace: end -->)', re.S)
HEAD = '| driver | written by hand | cushim |\n| --- | --- | --- |\n'
DRIVERS = {'none': 'none', '340': '340 (CUDA 6.5)', '390': '390 (CUDA 9.1)', '418': '418 (CUDA 10.1)',
           '580': '580 (CUDA 13.0)'}


def run(command, directory, **more):
    found = {name: value for name, value in os.environ.items() if not name.startswith('CUSHIM_')}
    done = subprocess.run(command, cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, env={**found, **more})
    if done.returncode != 0:
        sys.exit(f'{command}: exit status {done.returncode}\n{done.stdout}')
    return done.stdout.strip()


def build(directory, page, compiler):
    """Builds the two programs."""
    header, loader, new_header = re.findall(r'```c\n(.*?)```', page, re.S)
    commands = [shlex.split(line) for line in re.findall(r'^\$ (.*)', page, re.M)]
    program = HERE / 'replace' / 'gpu.c'
    for name in ('before', 'after'):
        (directory / name).mkdir()
        shutil.copy(program, directory / name)
        (directory / name / 'driver.h').write_text(header, encoding='utf-8')
    (directory / 'before' / 'driver.c').write_text(loader, encoding='utf-8')
    run([*compiler, '-O2', 'gpu.c', 'driver.c', '-o', 'gpu', '-ldl'], directory / 'before')
    for words in commands:
        if words[0] == 'cc':
            (directory / 'after' / 'driver.h').write_text(new_header, encoding='utf-8')
        line = ' '.join(shlex.quote(word) for word in words).replace("'$CUSHIM/", '"$CUSHIM"\'/')
        run(['sh', '-euc', 'cc() { command ' + shlex.join(compiler) + ' "$@"; }\n' + line], directory / 'after',
            CUSHIM=str(ROOT))


def has_driver():
    try:
        return bool(ctypes.CDLL('libcuda.so.1'))
    except OSError:
        return False


def rows(directory, softcuda):
    """The rows of the table. A machine with a driver or a GPU cannot show what is printed without them."""
    for branch, title in DRIVERS.items():
        if branch == 'none' and has_driver():
            continue
        path = '' if branch == 'none' else str(softcuda.resolve() / branch)
        said = [run(['./gpu'], directory / name, LD_LIBRARY_PATH=path) for name in ('before', 'after')]
        if branch == 'none' and 'no NVIDIA driver library' in said[1]:
            continue
        yield f'| {title} | {said[0]} | {said[1]} |\n'


def main(*words):
    write = words[0] == '--write'
    softcuda, *compiler = words[write:]
    page = PAGE.read_text(encoding='utf-8')
    with tempfile.TemporaryDirectory() as name:
        directory = pathlib.Path(name)
        build(directory, page, compiler)
        found = list(rows(directory, pathlib.Path(softcuda)))
    print(HEAD + ''.join(found))
    if write:
        PAGE.write_text(MARKS.sub(lambda mark: mark[1] + HEAD + ''.join(found) + mark[2], page), encoding='utf-8')
        return 0
    missing = [row for row in found if row not in page]
    print(f'{len(found)} rows, {len(missing)} of them not in the page')
    return 1 if missing or len(found) < len(DRIVERS) - 1 else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
