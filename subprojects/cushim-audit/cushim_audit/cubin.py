# SPDX-License-Identifier: MIT
"""Cubins: ELF files with SASS for one architecture, alone or in the data of a program.

Up to ABI version 7 (CUDA 12 for GPUs before 10.0), the flags of the header have the architecture in their lowest byte,
and 0x800 for the suffix "a" of 9.0; in a cubin for another GPU, that flag means something else. From ABI version 8 on,
the architecture is in the second byte. CUDA 12 sets flag 8 for "a"; CUDA 13 does not, and has an attribute in the
section .nv.compat. A cubin with the suffix "f" differs from one without a suffix only in the command line of the
assembler, in .note.nv.tkinfo; both run on the same GPUs.
subprojects/cushim-audit/tests/compare holds this against the assemblers of several Toolkits.
"""
from .elf import CUDA_MACHINE, Elf
from .fatbin import SASS, Code, Container
from .window import Damaged

ACCELERATED_7, ACCELERATED_8 = 0x800, 8
# No older GPU has suffixes.
FIRST_ACCELERATED = 90
# The attributes of .nv.compat: a format, a number, and a value of one or two bytes, or of a size that is given.
SIZED, ACCELERATOR_TARGET = 4, 9


def attributes(window):
    """{number: value} of the attributes of .nv.compat."""
    found, at = {}, 0
    while at + 4 <= window.size:
        form, number, value = window.unpack('<BBH', at)
        found[number] = value
        at += 4 + (value if form == SIZED else 0)
    return found


def suffix_8(window, arch):
    """The suffix of a cubin of ABI version 8 whose flags have none. One that does not tell is taken as "a", code for
    one GPU: more is not known of it."""
    if arch < FIRST_ACCELERATED:
        return ''
    try:
        sections = {section.name: section.window for section in Elf(window).sections}
        compat = attributes(sections['.nv.compat'])
    except (Damaged, KeyError):
        return 'a'
    if compat.get(ACCELERATOR_TARGET):
        return 'a'
    tool = sections.get('.note.nv.tkinfo')
    return 'f' if tool and tool.find(b'-arch sm_%df ' % arch) >= 0 else ''


def cubin_code(window):
    """The architecture of a cubin."""
    flags = window.unpack('<I', 48 if window.bytes(4, 1) == b'\2' else 36)[0]
    if window.bytes(8, 1)[0] < 8:
        arch = flags & 0xff
        return Code(SASS, arch, (0, 0), 'a' if flags & ACCELERATED_7 and arch >= FIRST_ACCELERATED else '')
    arch = flags >> 8 & 0xff
    return Code(SASS, arch, (0, 0), 'a' if flags & ACCELERATED_8 else suffix_8(window, arch))


def find_cubins(window):
    """The cubins in the data of a program."""
    found = []
    for at in window.find_each(b'\x7fELF\2\1\1'):
        if window.head(2, at + 18) == CUDA_MACHINE.to_bytes(2, 'little') and at + 64 <= window.size:
            found.append(Container(at, 0, [cubin_code(window.part(at, window.size - at))], 'cubin'))
    return found
