# SPDX-License-Identifier: MIT
"""NVIDIA's fat binaries: containers of device code for several GPUs, found by their magic number.

A container is a header of 16 bytes (magic, version, header size, size of what follows) and entries. The header of an
entry has the kind at 0, its own size at 4, the size of the code at 8, a version at 24 (of PTX, that of the language),
the architecture at 28 and flags at 40. Nothing needs to be decompressed; an empty cubin is
recognised if it is not compressed.
"""
from .window import Damaged

MAGIC = b'\x50\xed\x55\xba'
PTX, SASS, IR = 'PTX', 'SASS', 'IR'
KINDS = {1: PTX, 2: SASS, 8: IR}
ENTRY = '<HHIQIIHHI'
SMALLEST_ENTRY = 48
MAX_ENTRIES = 4096
# A cubin without code has about 1.5 KB.
MAX_EMPTY = 4096
ACCELERATED, FAMILY = 0x100000, 0x200000


class Code:
    """Device code for one architecture: SASS, PTX or intermediate code (for linking with optimisation)."""

    def __init__(self, kind, arch, version=(0, 0), suffix=''):
        self.kind, self.arch, self.version, self.suffix = kind, arch, version, suffix

    @property
    def key(self):
        return self.kind, self.arch, self.suffix, self.version

    def __repr__(self):
        version = ' {}.{}'.format(*self.version) if self.kind == PTX else ''
        return f'{self.kind}{version} {self.arch}{self.suffix}'


class Container:
    """A fat binary, or device code that stands alone. `linked`: the device linker made it, from `relocatable` ones.
    `empty`: its source file has neither kernels nor device variables; nvcc makes one also then."""

    def __init__(self, at, size, codes, where='fat binary', empty=False):
        self.at, self.size, self.codes, self.where, self.empty = at, size, codes, where, empty
        self.linked = self.relocatable = False


def entry_flags(window, at):
    return window.unpack('<Q', at + 40)[0]


def suffix_of(flags):
    return 'a' if flags & ACCELERATED else 'f' if flags & FAMILY else ''


def is_empty_cubin(window):
    """Whether a cubin that is not compressed has neither code nor variables, by the names of its sections."""
    if window.head(4) != b'\x7fELF' or window.size > MAX_EMPTY:
        return False
    names = window.bytes(0, window.size)
    return b'.shstrtab\0' in names and not any(one in names for one in (b'.text.', b'.nv.global', b'.nv.constant'))


def read_entries(window):
    """The entries of a container, without its header, and whether they are empty."""
    codes, at, largest, is_empty = [], 0, 0, False
    while at + SMALLEST_ENTRY <= window.size:
        kind, _, header, size, _, _, minor, major, arch = window.unpack(ENTRY, at)
        if kind == 0 or header < SMALLEST_ENTRY or len(codes) == MAX_ENTRIES:
            break
        flags = entry_flags(window, at)
        if kind in KINDS:
            codes.append(Code(KINDS[kind], arch, (major, minor), suffix_of(flags)))
        if header + size > window.size - at:
            raise Damaged('an entry of a fat binary is larger than the fat binary')
        # nvcc compiles the same source for each architecture: one that is seen to be empty tells of the others.
        is_empty = is_empty or is_empty_cubin(window.part(at + header, size))
        largest = max(largest, size)
        at += header + size
    return codes, is_empty and largest <= MAX_EMPTY


def read_container(window, at):
    """The container at an offset, or None if there is not one."""
    if at + 16 > window.size:
        return None
    version, header, size = window.unpack('<HHQ', at + 4)
    if version != 1 or header < 16 or size < SMALLEST_ENTRY:
        return None
    if header + size > window.size - at:
        kind, _, first = window.unpack('<HHI', at + header) if at + header + 8 <= window.size else (0, 0, 0)
        if kind in KINDS and first >= SMALLEST_ENTRY:
            raise Damaged(f'the fat binary at offset {at} ends outside of the file')
        return None
    codes, is_empty = read_entries(window.part(at + header, size))
    return Container(at, header + size, codes, empty=is_empty) if codes else None


def find_containers(window):
    """All containers of a file."""
    at = window.find(MAGIC)
    while at >= 0:
        found = read_container(window, at)
        if found is not None:
            yield found
        at = window.find(MAGIC, at + (found.size if found else 4))
