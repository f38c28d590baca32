# SPDX-License-Identifier: MIT
"""A call of a function of the drop-in library costs at most three instructions more than a call through the table. In
the machine code of x86-64: after the call there are the load of the address of the current table's pointer, the load of
the pointer, and a jump through the slot, instead of one load and a call through the slot. A landing pad (endbr64) is not
counted: the functions of a driver have it, too.

usage: check_length.py LIBCUSHIM_CUDA
"""
import re
import shutil
import subprocess
import sys

# The call of the function, and its instructions, less the load and the call in the program.
LONGEST = 3 - 1 + 2

if shutil.which('objdump') is None:
    print('skipped: objdump (binutils) is not installed')
    sys.exit(77)
said = subprocess.run(['objdump', '-d', '--no-show-raw-insn', sys.argv[1]], stdout=subprocess.PIPE, text=True, check=True).stdout
bodies = re.findall(r'^[0-9a-f]+ <(cu[A-Z]\w*)>:\n((?: .*\n)+)', said, re.M)
too_long, count = [], 0
for name, body in bodies:
    code = [line.split('\t')[1].split('#')[0].strip() for line in body.splitlines()]
    code = [line for line in code if not re.match(r'endbr64|(cs |data16 )*(nop|xchg +%ax,%ax)', line)]
    count += 1
    if len(code) > LONGEST or not code[-1].startswith('jmp '):
        too_long.append(name + ': ' + '; '.join(code))
print(f'{count} functions', *too_long, sep='\n')
sys.exit(count < 700 or bool(too_long))
