#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the picture of the page that src/tools/trace/README.md shows.

  tests/trace/picture.py BUILD/src/tools/cushim/cushim BUILD FILE.png
"""
import os
import subprocess
import sys
import tempfile

import chromium
from traced import BUILD, PROGRAM, environment


def main():
    with tempfile.TemporaryDirectory() as directory, chromium.Chromium(width=1280, height=800) as browser:
        path = os.path.join(directory, 'a.trace')
        program = os.path.relpath(os.path.join(BUILD, 'tests', 'trace', 'picture'))
        subprocess.run([PROGRAM, 'trace', '-o', path, '--softcuda', '580', '--', program],
                       env=environment(SOFTCUDA_EMPTY_KERNELS='1'), stderr=subprocess.DEVNULL, check=True)
        subprocess.run([PROGRAM, 'trace', 'report', path, '--format=html', '-o', path + '.html'], check=True)
        browser.open(path + '.html')
        browser.run('step(errors, 1); showWhole()')
        browser.draw()
        with open(sys.argv[3], 'wb') as file:
            file.write(browser.picture())


main()
