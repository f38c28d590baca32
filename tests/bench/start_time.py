#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""start_time.py - what the diagnosis adds to a cuInit that fails, in microseconds, with a driver of the cache.

    start_time.py NUMBER BOUND START_TIME BOUND-OF-TREE    the tree is a machine with 300 PCI devices

The bounds are of the difference: the driver's own time is mostly that of "modprobe nvidia", which it starts (driver 340:
0.3 ms on a machine without that program, over 1 ms elsewhere; 550: 35 ms), and the diagnosis takes the same on all.
"""
import pathlib
import shutil
import sys
import tempfile

import bench
from load import cached_driver

DEVICES = 300


def make_tree(root, driver):
    """The driver, and the list of PCI devices, of which none is of NVIDIA."""
    (root / 'usr/lib64').mkdir(parents=True)
    shutil.copy(driver, root / 'usr/lib64/libcuda.so.1')
    (root / 'sys/bus/pci/devices').mkdir(parents=True)
    (root / 'proc/bus/pci').mkdir(parents=True)
    with open(root / 'proc/bus/pci/devices', 'w', encoding='ascii') as file:
        for i in range(DEVICES):
            name = f'{i // 32:02x}:{i % 32:02x}.0'
            (root / f'sys/bus/pci/devices/0000:{name}').mkdir()
            file.write(f'{i // 32:02x}{i % 32 << 3:02x}\t80860d57\t0' + '\t               0' * 14 + '\n')


def main(number, bound, program, tree_bound):
    driver = cached_driver(number)
    met = bench.judge_pairs([program], driver, {}, 'us', 1000, {'failing-start': float(bound)}) == 0
    with tempfile.TemporaryDirectory() as name:
        make_tree(pathlib.Path(name), driver)
        met &= bench.judge_pairs([program, name], None, {}, 'us', 1000, {'failing-start': float(tree_bound)}) == 0
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
