#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""completion_time.py - the cost of completions on a GPU, in microseconds, against the alternatives of a program
without them.

    completion_time.py COMPLETION_TIME           on this machine's driver; skipped without a GPU

completion_time.c describes the comparisons. After the name of each line come the number of pairs and the middle
half of their ratios.
"""
import sys

import bench

RATIOS = {'create+reap/event': 2.7, 'create/callback': 1.35, 'short/synchronize': 1.1, 'late-300us/futex': 1,
          'late-1ms/futex': 1, 'late-20ms/futex': 1, 'notifying/futex': 1.1, 'descriptor/callback': 1.1,
          'cpu-20ms': 0.05}
DIFFERENCES = {'work-behind/alone': 5}

sys.exit(bench.judge_pairs(sys.argv[1:], None, RATIOS, 'us', 1000, DIFFERENCES))
