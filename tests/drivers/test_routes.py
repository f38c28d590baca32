#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A driver that does not start: every way to it gives the same sentence, with NVIDIA's own libraries.

  test_routes.py BUILD LINKED COMPILER...

BUILD is the build directory, and LINKED a library to link with, in place of a driver. Skipped on a machine on which the
driver starts, and for each driver that the cache lacks (tests/drivers/fetch 470 550). Without nv-codec-headers, the way
by the header of FFmpeg is left out.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD, LINKED, COMPILER = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:]
PROGRAM = BUILD / 'subprojects' / 'cushim-tools' / 'cli' / 'cushim'
STATIC = BUILD / 'loader' / 'libcushim.a'
DRIVERS = '470', '550'
SKIPPED = 77
sys.path.insert(0, str(ROOT / 'tests' / 'drivers'))
from driver_library import cached_path  # pylint: disable=wrong-import-position


def run(*command, **variables):
    clean = {name: value for name, value in os.environ.items() if not name.startswith(('CUSHIM_', 'CUDA_'))}
    return subprocess.run([str(word) for word in command], env={**clean, **variables}, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=False)


def build(directory):
    """{route: the command that takes it}"""
    subset = directory / 'sources'
    subset.mkdir()
    (directory / 'functions.txt').write_text('cuInit cuGetErrorString cuStreamQuery\n', encoding='utf-8')
    made = run(sys.executable, '-B', ROOT / 'loader' / 'amalgamation' / 'amalgamate.py', '--slots',
               directory / 'functions.txt', '--no-streams', subset)
    assert made.returncode == 0, made.stderr
    routes = {
        'table': ['-DROUTE_TABLE', '-DCUSHIM_STATIC', f'-I{ROOT}/include', STATIC],
        'drop-in': ['-DROUTE_LINKED', BUILD / 'src' / 'cuda' / 'libcushim_cuda.a'],
        'compat': ['-DROUTE_FFNVCODEC', '-DCUSHIM_STATIC', f'-I{ROOT}/include/cushim/compat', f'-I{ROOT}/include',
                   STATIC],
        'subset': ['-DROUTE_POINTERS', f'-I{subset}', subset / 'cushim.c'],
        'exec': ['-DROUTE_LINKED', LINKED],
    }
    if run(*COMPILER, '-E', '-x', 'c', '-include', 'ffnvcodec/dynlink_loader.h', os.devnull).returncode != 0:
        print('nv-codec-headers are not installed, so the way by the header of FFmpeg is left out')
        del routes['compat']
    for name, words in routes.items():
        done = run(*COMPILER, ROOT / 'tests' / 'drivers' / 'route.c', *words, '-o', directory / name, '-ldl', '-lpthread')
        assert done.returncode == 0, done.stderr
    return {name: [*([PROGRAM, 'exec', '--'] if name == 'exec' else []), directory / name] for name in routes}


def check(routes, driver):
    """Returns the sentence, or None if the driver starts here."""
    settings = {'CUSHIM_DRIVER': driver}
    probe = json.loads(run(PROGRAM, 'probe', '--devices', '--format=json', **settings).stdout)
    if probe['initialised']:
        return None
    sentence = probe['message']
    assert sentence and probe['reason'] not in ('none', 'no-answer'), probe
    for name, command in routes.items():
        done = run(*command, **settings)
        assert done.stdout.split(' ', 1)[-1] == sentence + '\n', (driver, name, done.stdout, done.stderr, sentence)
        lines = done.stderr.splitlines()
        assert len(lines) == (name == 'exec') and all(sentence in line for line in lines), (driver, name, lines)
    without_start = json.loads(run(PROGRAM, 'probe', '--format=json', **settings).stdout)
    assert without_start['reason'] in ('none', probe['reason']), (driver, without_start)
    doctor = json.loads(run(PROGRAM, 'doctor', '--format=json', **settings).stdout)['findings'][0]
    if probe['reason'] not in ('no-device', 'unknown'):
        assert doctor['message'].startswith(sentence), (driver, doctor)
    return sentence


def main():
    with tempfile.TemporaryDirectory() as name:
        routes, checked = build(pathlib.Path(name)), 0
        for driver in DRIVERS:
            path = cached_path(driver)
            if path is None or not os.path.exists(path):
                print(f'driver {driver} is not in the cache; tests/drivers/fetch gets it')
                continue
            sentence = check(routes, str(path))
            print(f'{driver}: {sentence or "it starts on this machine"}')
            checked += sentence is not None
    sys.exit(0 if checked else SKIPPED)


if __name__ == '__main__':
    main()
