#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""test_as_real.py PROBE_DRIVER DRIVER LIBRARY - compares one library of softcuda with the real driver that it
represents.

Its exported names, the state of every slot (for both default streams), and the results of its own
cuGetProcAddress for everything that probe_driver looks up must be those of the real driver. 77 if the cache
lacks that driver.
"""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), '.'))
from driver_library import Library, cached_path, environment_for


# Only drivers for arm64 export this function of Jetson. The list has the functions of x86-64.
ONLY_ARM64 = {'cuEventCreateFromEGLSync'}


def exports(path):
    """Names of functions, without those of debuggers and of softcuda itself."""
    return {name for name in Library(path).exports if name.startswith('cu') and not name.startswith('cudbg')} - ONLY_ARM64


def answers(probe, path, *options):
    """The output of probe_driver, without addresses."""
    done = subprocess.run([probe, '--path', path, *options], env=environment_for(path), stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, check=True)
    result = []
    for line in done.stdout.splitlines():
        words = line.split('\t')
        if words[0] == 'slot':
            result.append(' '.join(words[:5]))
        elif words[0] == 'own':
            words[6] = words[6] if words[6] in ('untouched', '0x0') else 'address'
            result.append(' '.join(words))
    return result


def main(probe, driver, library):
    real = cached_path(driver)
    if real is None or not os.path.exists(real):
        print(f'the cache has no driver {driver}')
        return 77
    failures = [f'export: {name}' for name in sorted(exports(real) ^ exports(library))]
    count = len(exports(real))
    for options in (['--own'], ['--per-thread']):
        wanted, found = answers(probe, real, *options), answers(probe, library, *options)
        count += len(wanted)
        failures += [f'{a} | {b}' for a, b in zip(wanted, found) if a != b]
        if len(wanted) != len(found):
            failures.append(f'{options}: {len(wanted)} answers, {len(found)}')
    print(f'{driver}: {count} compared, {len(failures)} differ')
    print('\n'.join(failures[:30]))
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
