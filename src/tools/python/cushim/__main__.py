# SPDX-License-Identifier: MIT
"""python -m cushim ARGUMENTS: runs the program cushim."""
import os
import subprocess
import sys

from . import find_program

command = [find_program(), *sys.argv[1:]]
if os.name == 'nt':
    sys.exit(subprocess.call(command))
os.execv(command[0], command)
