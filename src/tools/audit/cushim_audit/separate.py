# SPDX-License-Identifier: MIT
"""Separate compilation: which fat binaries are relocatable, and which one the device linker made of them.

nvcc puts relocatable ones into __nv_relfatbin (on Windows __nv_rel), and registers each fat binary by a wrapper in
.nvFatBinSegment (.nvFatBi): a magic number, a version, which is 2 for a linked one, and the address of the container.
"""
from .elf import Elf

MAGIC, LINKED, SIZE = b'\xb1\x43\x62\x46', 2, 24


def wrapped(section, pointers):
    """The addresses of the linked containers, and the number of wrappers. In a position-independent file, relocations
    have the addresses: `pointers`."""
    linked, count = set(), section.size // SIZE
    for at in range(0, SIZE * count, SIZE):
        magic, version, address = section.unpack('<4sIQ', at)
        if magic == MAGIC and version == LINKED:
            linked.add(pointers.get(at + 8, address))
    return linked, count


def group_linked(file, containers):
    """Marks the containers of an ELF or PE file."""
    is_elf, start = isinstance(file, Elf), file.window.start
    relocatable = [section.window for section in file.sections if section.name in ('__nv_relfatbin', '__nv_rel')]
    for one in containers:
        one.relocatable = any(0 <= one.at - (window.start - start) < window.size for window in relocatable)
    is_object = is_elf and file.kind == 'object'
    for section in file.sections:
        if section.name not in ('.nvFatBinSegment', '.nvFatBi'):
            continue
        pointers = file.pointers(section) if is_elf and file.bits == 64 and not is_object else {}
        linked, count = wrapped(section.window, pointers)
        offsets = {file.address_to_offset(address) for address in linked}
        # In an object file, addresses are not known yet.
        is_linked = is_object and count == 1 and bool(linked)
        for one in containers:
            one.linked = not one.relocatable and (one.at in offsets or is_linked)
