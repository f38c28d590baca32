# SPDX-License-Identifier: MIT
"""Reads PE files (DLLs and programs for Windows): sections, imports, also delayed ones, and exports."""
from .window import Damaged

MACHINES = {0x14c: 'x86', 0x8664: 'x86-64', 0xaa64: 'arm64'}
EXPORTS, IMPORTS, DELAYED = 0, 1, 13
IS_CODE, IS_DLL = 0x20, 0x2000
MAX = 100000


class Absent(Damaged):
    """An address in a section of which the file has no contents: it is a file with debug information only."""


class Section:
    def __init__(self, name, address, size, window, kind):
        self.name, self.address, self.size, self.window, self.kind = name, address, size, window, kind


class Pe:
    """A PE file: what audit needs of it."""

    def __init__(self, window):
        self.window = window
        start = window.unpack('<I', 0x3c)[0]
        if window.bytes(start, 4) != b'PE\0\0':
            raise Damaged('this is a program for DOS, or the header of the PE file is damaged')
        machine, count, _, _, _, size, flags = window.unpack('<HHIIIHH', start + 4)
        self.machine = MACHINES.get(machine, f'machine {machine:#x}')
        self.kind = 'DLL' if flags & IS_DLL else 'program'
        optional = start + 24
        magic = window.unpack('<H', optional)[0]
        if magic not in (0x10b, 0x20b):
            raise Damaged('the optional header of the PE file is damaged')
        self.bits = 64 if magic == 0x20b else 32
        self.base = window.unpack('<Q', optional + 24)[0] if self.bits == 64 else window.unpack('<I', optional + 28)[0]
        directories = optional + (108 if self.bits == 64 else 92)
        self.directories = [window.unpack('<II', directories + 4 + 8 * i)
                            for i in range(min(window.unpack('<I', directories)[0], 16))]
        self.sections = []
        for name, virtual, address, length, offset, *_, kind in window.entries('<8sIIIIIIHHI', optional + size, count):
            length = min(length, virtual) if virtual else length
            content = window.part(offset, length) if length else window.part(0, 0)
            name = name.rstrip(b'\0').decode('ascii', 'replace')
            self.sections.append(Section(name, address, virtual, content, kind))
        # {library, in lower case: its functions}, bound when the file is loaded or at the first call
        self.imports, self.delayed = self.read_imports(IMPORTS), self.read_imports(DELAYED)
        self.library, self.defined = self.read_exports()

    def at(self, address):
        """The section of an address relative to the base, and the offset in it."""
        for section in self.sections:
            if section.address <= address < section.address + section.window.size:
                return section.window, address - section.address
            if section.address <= address < section.address + section.size:
                raise Absent('the PE file has only debug information')
        raise Damaged(f'the PE file refers to address {address:#x}, which it does not have')

    def text(self, address):
        window, at = self.at(address)
        return window.text(at, 512)

    def entries_until_zero(self, form, address):
        window, at = self.at(address)
        for _ in range(MAX):
            entry = window.unpack(form, at)
            if not any(entry):
                return
            yield entry
            at += sum({'I': 4, 'Q': 8, 'H': 2}[letter] for letter in form[1:])
        raise Damaged('a table of the PE file does not end')

    def read_imports(self, which):
        if which >= len(self.directories) or self.directories[which][0] == 0:
            return {}
        try:
            return self.read_table(which)
        except Absent:
            return {}

    def read_table(self, which):
        found = {}
        form = '<IIIIIIII' if which == DELAYED else '<IIIII'
        for entry in self.entries_until_zero(form, self.directories[which][0]):
            if which == DELAYED:
                # Old linkers store addresses here, not offsets from the base.
                shift = 0 if entry[0] & 1 else self.base
                name, names = entry[1] - shift, entry[4] - shift
            else:
                name, names = entry[3], entry[0] or entry[4]
            found.setdefault(self.text(name).lower(), []).extend(self.functions(names))
        return found

    def functions(self, address):
        form, top = ('<Q', 1 << 63) if self.bits == 64 else ('<I', 1 << 31)
        return [self.text(name + 2) for name, in self.entries_until_zero(form, address) if not name & top]

    def read_exports(self):
        try:
            return self.read_export_table()
        except Absent:
            return '', set()

    def read_export_table(self):
        if not self.directories or self.directories[EXPORTS][0] == 0:
            return '', set()
        window, at = self.at(self.directories[EXPORTS][0])
        name, _, _, count, _, names = window.unpack('<IIIIII', at + 12)
        if count > MAX:
            raise Damaged(f'the PE file claims {count} exports')
        library = self.text(name)
        window, at = self.at(names) if count else (window, 0)
        return library, {self.text(one) for one, in window.entries('<I', at, count)}

    def data(self):
        """The windows that can hold strings: sections without code."""
        return [section.window for section in self.sections if not section.kind & IS_CODE
                and not section.name.startswith(('.nv_fat', '__nv_rel', '.pdata', '.reloc', '.rsrc'))]

    def address_to_offset(self, address):
        """The offset in the file of an address, or None."""
        for section in self.sections:
            at = address - self.base - section.address
            if 0 <= at < section.window.size:
                return at + section.window.start - self.window.start
        return None
