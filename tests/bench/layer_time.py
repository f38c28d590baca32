#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
layer_time.py - what calls of the stream layer cost on a GPU, in nanoseconds, against the driver's own functions.

    layer_time.py LAYER_TIME            on this machine's driver, with the bounds; skipped where there is no GPU
    layer_time.py LAYER_TIME DRIVER     on this one, such as a softcuda, for information: its calls cost something else

Each line tells the number of pairs, and the middle half of their ratios.
"""
import collections
import os
import statistics
import sys

import bench

# What has no bound does more than the driver's call, or another one.
BOUNDS = {'query': 1.05, 'synchronize': 1.05, 'launch': 1.05, 'capture': 1.02,
          'flags': 0.999, 'priority': 0.999, 'id': 0.999, 'device': 0.999}


def read_pairs(program, driver):
    environment = {**os.environ, 'CUSHIM_DRIVER': driver} if driver else os.environ
    pairs = collections.defaultdict(list)
    for line in bench.run([program], env=environment).splitlines():
        name, layer, bare = line.split()
        pairs[name].append((float(layer), float(bare)))
    return pairs


def main(program, driver=None):
    met = True
    for name, pairs in read_pairs(program, driver).items():
        layer, bare = zip(*pairs)
        low, _, high = statistics.quantiles((a / b for a, b in pairs), n=4)
        what = f'{name}, layer / driver, {len(pairs)} pairs, half of them {low:.3f}..{high:.3f}'
        bound = None if driver else BOUNDS.get(name)
        met = bench.judge_ratio(what, layer, bare, 'ns', bound) and met
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
