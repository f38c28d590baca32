# SPDX-License-Identifier: MIT
"""Separate compilation: which fat binaries are relocatable, and which one the device linker made of them.

nvcc puts relocatable ones into __nv_relfatbin (on Windows __nv_rel), and registers each fat binary by a wrapper in
.nvFatBinSegment (.nvFatBi): a magic number, a version, which is 2 for a linked one, and the address of the container.
"""
from .elf import Elf
from .window import Damaged

MAGIC, LINKED, SIZE = b'\xb1\x43\x62\x46', 2, 24
# A library has one linked container, and an archive that was linked to one object file has one for each of its parts.
MAX_LINKED = 4096


def linked_addresses(section, pointers):
    """The addresses of the linked containers. In a position-independent file, relocations have them: `pointers`."""
    found = set()
    for at in range(0, section.window.size // SIZE * SIZE, SIZE):
        magic, version, address = section.window.unpack('<4sIQ', at)
        if magic == MAGIC and version == LINKED:
            found.add(pointers.get(section.address + at + 8, address))
            if len(found) > MAX_LINKED:
                raise Damaged(f'the file claims more than {MAX_LINKED} linked fat binaries')
    return found


def group_linked(file, containers):
    """Marks the containers of an ELF or PE file. Returns whether it registers fat binaries with a CUDA runtime."""
    is_elf, start = isinstance(file, Elf), file.window.start
    relocatable = [section.window for section in file.sections if section.name in ('__nv_relfatbin', '__nv_rel')]
    for one in containers:
        one.relocatable = any(0 <= one.at - (window.start - start) < window.size for window in relocatable)
    segments = [section for section in file.sections if section.name in ('.nvFatBinSegment', '.nvFatBi')]
    is_object = is_elf and file.kind == 'object'
    pointers = file.pointers(segments) if segments and is_elf and file.bits == 64 and not is_object else {}
    addresses = set().union(*(linked_addresses(section, pointers) for section in segments))
    offsets = {file.address_to_offset(address) for address in addresses}
    # In an object file, addresses are not known yet.
    is_linked = is_object and bool(addresses) and sum(section.window.size for section in segments) == SIZE
    for one in containers:
        one.linked = not one.relocatable and (one.at in offsets or is_linked)
    return bool(segments)
