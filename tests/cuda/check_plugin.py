# SPDX-License-Identifier: MIT
"""A plug-in with the drop-in library exports its own function alone, and works (a DLL is not run).

usage: check_plugin.py PLUGIN            a shared library of this machine
       check_plugin.py DLL OBJDUMP
"""
import ctypes
import shutil
import subprocess
import sys

plugin, *objdump = sys.argv[1:]
command = [*objdump, '-p', plugin] if objdump else ['nm', '-D', '--defined-only', plugin]
if shutil.which(command[0]) is None:
    print(f'skipped: {command[0]} (binutils) is not installed')
    sys.exit(77)
listed = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
if objdump:
    listed = listed.split('[Ordinal/Name Pointer] Table')[1].split('\n\n')[0].strip()
exported = [line.split()[-1] for line in listed.splitlines()]
print('exports', *exported)
if exported != ['plugin_init']:
    sys.exit(1)
if not objdump:
    result = ctypes.CDLL(plugin).plugin_init()
    print('cuInit returns', result)
    sys.exit(result != 100)
