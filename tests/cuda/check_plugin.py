# SPDX-License-Identifier: MIT
"""A plug-in with the drop-in library exports its own function alone, and works.

usage: check_plugin.py PLUGIN
"""
import ctypes
import shutil
import subprocess
import sys

if shutil.which('nm') is None:
    print('skipped: nm (binutils) is not installed')
    sys.exit(77)
listed = subprocess.run(['nm', '-D', '--defined-only', sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True).stdout
exported = [line.split()[-1] for line in listed.splitlines()]
result = ctypes.CDLL(sys.argv[1]).plugin_init()
print('exports', *exported, 'and cuInit returns', result)
sys.exit(exported != ['plugin_init'] or result != 100)
