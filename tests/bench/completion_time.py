#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""
completion_time.py - what completions cost on a GPU, in microseconds, against what a program would do without them.

    completion_time.py COMPLETION_TIME           on this machine's driver, with the bounds; skipped without a GPU
    completion_time.py COMPLETION_TIME DRIVER    on this one, such as a softcuda, for information

completion_time.c tells what each line compares. Behind its name stand the number of pairs and the middle half of their
ratios.
"""
import sys

import bench

BOUNDS = {'wait/callback': 1.10, 'create+reap/callback': 1.10}


def main(program, driver=None):
    return bench.judge_pairs(program, driver, {} if driver else BOUNDS, 'us', 1000)


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
