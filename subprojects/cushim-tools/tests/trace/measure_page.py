#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How large the page of a million calls is, and how long its frames take in Chromium without a window."""
import os
import subprocess
import sys
import tempfile
import time

import chromium
from traced import KNOWN, PROGRAM, environment

CALLS, BOUND = 1000000, 100

# Draws 40 views from the whole trace to a few calls, at three places, and then moves. To read a pixel makes the
# browser paint.
FRAMES = '''(() => {
  const times = [], middle = first + whole / 2;
  function frame() {
    const start = performance.now();
    draw();
    pen.getImageData(0, 0, 1, 1);
    times.push(performance.now() - start);
  }
  for (const time of [first, middle, first + whole]) {
    showWhole();
    for (let i = 0; i < 40; i++) { frame(); zoom(.75, time); }
  }
  for (let i = 0; i < 40; i++) { view(first + whole * i / 50, first + whole * (i + 10) / 50); frame(); }
  search('event');
  showWhole();
  frame();
  return times.sort((a, b) => a - b);
})()'''


def main():
    if not chromium.PROGRAM:
        print('Chromium is not installed')
        sys.exit(77)
    with tempfile.TemporaryDirectory() as directory, chromium.Chromium() as browser:
        path = os.path.join(directory, 'a.trace')
        subprocess.run([PROGRAM, 'trace', '-o', path, '--softcuda', '580', '--', KNOWN, 'mix', str(CALLS)],
                       env=environment(), stderr=subprocess.DEVNULL, check=True)
        start = time.monotonic()
        subprocess.run([PROGRAM, 'trace', 'report', path, '--format=html', '-o', path + '.html'], check=True)
        written = time.monotonic()
        browser.open(path + '.html')
        opened = time.monotonic()
        times = browser.run(FRAMES)
        print(f'{browser.run("count")} calls: {os.path.getsize(path + ".html") >> 20} MiB, written in '
              f'{written - start:.2f} s, opened in {opened - written:.2f} s')
        print(f'{len(times)} frames: median {times[len(times) // 2]:.1f} ms, worst {times[-1]:.1f} ms '
              f'(bound {BOUND} ms)')


main()
