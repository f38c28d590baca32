# SPDX-License-Identifier: MIT
"""bench.py - shared by the benchmarks: the line that reports a comparison, and the exit status that judges it.

    name: A median [min..max], B median [min..max], A/B (or A-B), bound, verdict

A is cushim's way, B the direct one. Exit status 0: within the bound; 1: over it; 77: not measurable here, with
the reason.
"""
import os
import statistics
import subprocess
import sys

# Settings of the user for other programs would change the measurement.
for variable in ('CUSHIM_DRIVER', 'CUSHIM_MAX_VERSION', 'CUSHIM_HIDE', 'CUSHIM_LAYERS'):
    os.environ.pop(variable, None)


def skip(why):
    print(f'skipped: {why}')
    sys.exit(77)


def run(command, **options):
    """Runs a program that must succeed or skip, and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode == 77:
        skip(done.stderr.strip())
    if done.returncode != 0:
        sys.exit(f'{" ".join(map(str, command))}: exit status {done.returncode}\n{done.stderr}')
    return done.stdout


def spread(samples, unit):
    return f'{statistics.median(samples):.2f} {unit} [{min(samples):.2f}..{max(samples):.2f}]'


def judge(what, ours, bare, unit, sign, value, bound):
    """Prints the line. Returns whether the value is within the bound; None means that there is no bound, for
    information only."""
    met = bound is None or value <= bound
    verdict = 'no bound' if bound is None else f'bound {bound:g}, {"ok" if met else "OVER"}'
    print(f'{what}: {spread(ours, unit)}, {spread(bare, unit)}, A{sign}B {value:.3f}, {verdict}', flush=True)
    return met


def judge_ratio(what, ours, bare, unit, bound):
    """Samples of equal index were taken side by side, so the median of their ratios is valid even if the machine's
    speed drifts."""
    return judge(what, ours, bare, unit, '/', statistics.median(a / b for a, b in zip(ours, bare)), bound)


def judge_difference(what, ours, bare, unit, bound):
    return judge(what, ours, bare, unit, '-', statistics.median(a - b for a, b in zip(ours, bare)), bound)


def judge_pairs(command, driver, bounds, unit, nanoseconds, differences=()):
    """Runs a command that prints "name ours bare" for each pair, in nanoseconds, with the driver `driver` or the
    machine's own. Prints a line for each name, in a unit of so many nanoseconds. `bounds` is of the ratios, and
    `differences` of the differences. Returns the exit status."""
    environment = {**os.environ, 'CUSHIM_DRIVER': driver} if driver else os.environ
    pairs = {}
    for line in run(command, env=environment).splitlines():
        name, ours, bare = line.split()
        pairs.setdefault(name, []).append((float(ours) / nanoseconds, float(bare) / nanoseconds))
    met = True
    for name, samples in pairs.items():
        ours, bare = zip(*samples)
        low, _, high = statistics.quantiles((a / b for a, b in samples), n=4)
        what = f'{name}, {len(samples)} pairs, half of them {low:.3f}..{high:.3f}'
        if name in differences:
            met = judge_difference(what, ours, bare, unit, differences[name]) and met
        else:
            met = judge_ratio(what, ours, bare, unit, bounds.get(name)) and met
    return 0 if met else 1
