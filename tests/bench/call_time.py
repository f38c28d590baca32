#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""call_time.py - the cost of a call through the table on a GPU, in nanoseconds, against a direct call of a linked
function.

    call_time.py NAME BOUND CALL_TIME

Skips if the machine has no driver or no GPU.
"""
import subprocess
import sys

import bench


def main(what, bound, program):
    # The dynamic loader ends a program whose libraries are missing with status 127.
    if subprocess.run([program, 'help'], capture_output=True, check=False).returncode == 127:
        bench.skip('this machine has no libcuda.so.1')
    pairs = [tuple(map(float, line.split())) for line in bench.run([program]).splitlines()]
    table, direct = zip(*pairs)
    met = bench.judge_difference(f'cuStreamIsCapturing through the table - linked, {what}', table, direct, 'ns',
                                 float(bound))
    return 0 if met else 1


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
