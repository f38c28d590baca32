#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""layer_time.py - the cost of calls of the stream layer on a GPU, in nanoseconds, against the driver's own
functions.

    layer_time.py LAYER_TIME            on this machine's driver; skipped if the machine has no GPU

Each line compares the layer's call with the driver's. After its name come the number of pairs and the middle
half of their ratios.
"""
import sys

import bench

# A call without a bound does more than the driver's call, or calls another one.
BOUNDS = {'query': 1.05, 'synchronize': 1.05, 'launch': 1.05, 'capture': 1.02,
          'flags': 0.999, 'id': 0.999, 'device': 0.999}

sys.exit(bench.judge_pairs(sys.argv[1:], None, BOUNDS, 'ns', 1))
