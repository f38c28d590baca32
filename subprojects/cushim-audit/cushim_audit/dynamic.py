# SPDX-License-Identifier: MIT
"""What the dynamic loader reads of an ELF file: the segments, and in them the dynamic section with the tables that it
names. The loader does not read the headers of sections, which a file can lack, or which can be wrong."""
from .window import Damaged

LOAD, DYNAMIC = 1, 2
HASH, STRTAB, SYMTAB, RELA, RELASZ, STRSZ, REL, RELSZ, PLTRELSZ, PLTREL, JMPREL = 4, 5, 6, 7, 8, 10, 17, 18, 2, 20, 23
GNU_HASH = 0x6ffffef5
MAX_SYMBOLS = 4000000
DIFFER = 'the headers of the sections and those of the segments name different dynamic symbols'


class Segment:
    def __init__(self, kind, offset, address, size):
        self.kind, self.offset, self.address, self.size = kind, offset, address, size


def read_segments(window, bits):
    offset = window.unpack('<Q' if bits == 64 else '<I', 32 if bits == 64 else 28)[0]
    size, count = window.unpack('<HH', 54 if bits == 64 else 42)
    form, wanted = ('<IIQQQQQQ', 56) if bits == 64 else ('<IIIIIIII', 32)
    if not offset or not count:
        return []
    if size != wanted:
        raise Damaged(f'the headers of the segments have {size} bytes each, not {wanted}')
    fields = (0, 2, 3, 5) if bits == 64 else (0, 1, 2, 4)
    return [Segment(*(entry[field] for field in fields)) for entry in window.entries(form, offset, count)]


class Dynamic:
    """The dynamic section by its segment."""

    def __init__(self, window, bits, segments):
        self.window, self.bits, self.segments = window, bits, segments
        self.offset, self.entries = None, []
        found = next((one for one in segments if one.kind == DYNAMIC), None)
        if not found:
            return
        self.offset = self.at(found.address)
        if self.offset != found.offset:
            raise Damaged('the segment of the dynamic section is not where its address is')
        form, size = ('<qQ', 16) if bits == 64 else ('<iI', 8)
        for tag, value in window.part(self.offset, found.size).entries(form, 0, found.size // size):
            if tag == 0:
                break
            self.entries.append((tag, value))
        self.tags = dict(self.entries)

    def __bool__(self):
        return self.offset is not None

    def at(self, address):
        """The offset in the file of an address."""
        for one in self.segments:
            if one.kind == LOAD and one.address <= address < one.address + one.size:
                return one.offset + address - one.address
        raise Damaged(f'the ELF file refers to address {address:#x}, which it does not have')

    def strings(self):
        if STRTAB not in self.tags:
            return self.window.part(0, 0)
        return self.window.part(self.at(self.tags[STRTAB]), self.tags.get(STRSZ, 0))

    def symbols(self):
        """The offset of the symbols and how many the hash tables and the relocations show."""
        if SYMTAB not in self.tags:
            return 0, 0
        count = max([self.hashed(), *(index + 1 for _, _, index, _ in self.relocations())])
        if count > MAX_SYMBOLS:
            raise Damaged(f'the ELF file claims {count} symbols')
        return self.at(self.tags[SYMTAB]), count

    def hashed(self):
        count = self.window.unpack('<II', self.at(self.tags[HASH]))[1] if HASH in self.tags else 0
        if GNU_HASH not in self.tags:
            return count
        at = self.at(self.tags[GNU_HASH])
        buckets, first, blooms, _ = self.window.unpack('<IIII', at)
        at += 16 + blooms * (self.bits // 8)
        last = max((one for one, in self.window.entries('<I', at, buckets)), default=0)
        if last < first:
            return max(count, first)
        at += 4 * buckets + 4 * (last - first)
        while not self.window.unpack('<I', at)[0] & 1:
            last, at = last + 1, at + 4
        return max(count, last + 1)

    def tables(self):
        """(offset, size, whether its entries have an addend) of each table of relocations."""
        kinds = [(RELA, RELASZ, True), (REL, RELSZ, False), (JMPREL, PLTRELSZ, self.tags.get(PLTREL) == RELA)]
        return [(self.at(self.tags[start]), self.tags[size], has_addend) for start, size, has_addend in kinds
                if self.tags.get(start) and self.tags.get(size)]

    def relocations(self):
        for offset, size, has_addend in self.tables():
            yield from read_relocations(self.window.part(offset, size), self.bits, has_addend)


def read_relocations(window, bits, has_addend):
    """(offset, type, index of the symbol, addend) of a table of relocations."""
    form = ('<QQq' if has_addend else '<QQ') if bits == 64 else ('<IIi' if has_addend else '<II')
    size = {'<QQq': 24, '<QQ': 16, '<IIi': 12, '<II': 8}[form]
    shift, mask = (32, 0xffffffff) if bits == 64 else (8, 0xff)
    for entry in window.entries(form, 0, window.size // size):
        yield entry[0], entry[1] & mask, entry[1] >> shift, entry[2] if has_addend else None
