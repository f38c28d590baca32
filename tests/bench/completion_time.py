#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion_time.py - the cost of completions on a GPU, in microseconds, against the alternatives of a program
without them.

    completion_time.py COMPLETION_TIME           on this machine's driver, with the bounds; skipped without a GPU
    completion_time.py COMPLETION_TIME DRIVER    on this driver, such as a softcuda, for information

completion_time.c describes the comparisons. After the name of each line come the number of pairs and the middle
half of their ratios.
"""
import sys

import bench

BOUNDS = {'wait/callback': 1.10, 'descriptor/callback': 1.10, 'create+reap/callback': 0.40, 'create+reap/event': 1.60,
          'wait/futex': 1.10, 'short/synchronize': 1.10, 'medium/synchronize': 1.10, 'cpu/query': 0.05}


def main(program, driver=None):
    return bench.judge_pairs(program, driver, {} if driver else BOUNDS, 'us', 1000)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
