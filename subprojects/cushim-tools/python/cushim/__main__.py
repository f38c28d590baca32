# SPDX-License-Identifier: MIT
"""python -m cushim ARGUMENTS: runs the program cushim."""
import sys

from . import main

if __name__ == '__main__':
    sys.exit(main())
