# SPDX-License-Identifier: MIT
"""Reads ELF files: sections, dynamic symbols and how they are bound, and the libraries that a file needs."""
from .dynamic import DIFFER, Dynamic, read_relocations, read_segments
from .window import Damaged

MACHINES = {3: 'x86', 40: 'arm', 62: 'x86-64', 183: 'arm64', 21: 'ppc64', 243: 'riscv64', 190: 'CUDA'}
TYPES = {1: 'object', 2: 'executable', 3: 'shared object'}
CUDA_MACHINE = 190
NOBITS, SYMTAB, DYNSYM, DYNAMIC, RELA, REL = 8, 2, 11, 6, 4, 9
NEEDED, SONAME, RPATH, RUNPATH, FLAGS, FLAGS_1, BIND_NOW, DEBUG, PIE = 1, 14, 15, 29, 30, 0x6ffffffb, 24, 21, 0x8000000
# Relocations that the dynamic loader can postpone to the first call, and those that are an address to add.
JUMP_SLOT = {'x86-64': 7, 'x86': 7, 'arm64': 1026, 'arm': 22, 'ppc64': 21, 'riscv64': 5}
RELATIVE = {'x86-64': 8, 'arm64': 1027, 'ppc64': 22, 'riscv64': 3}
# The symbols that matter start so: functions of the driver, of the runtime and of the compilers (nvrtc..., nvJitLink...).
PREFIXES = b'cu', b'nv', b'__'
UNDERSCORED = '__cudaRegister', '__nvJitLink'
MAX_SECTIONS, MAX_SYMBOLS, MAX_RELOCATIONS = 200000, 4000000, 20000000


class Section:
    def __init__(self, name, kind, flags, address, window, link):
        self.name, self.kind, self.flags, self.address = name, kind, flags, address
        self.window, self.link = window, link


class Symbol:
    """A symbol that a file takes from a library. `is_lazy`: the dynamic loader may look for it at the first call."""

    def __init__(self, name, is_weak):
        self.name, self.is_weak, self.is_lazy = name, is_weak, False


class Elf:
    """An ELF file: what audit needs of it."""

    def __init__(self, window):
        self.window = window
        ident = window.bytes(0, 16)
        self.bits = {1: 32, 2: 64}.get(ident[4])
        if self.bits is None:
            raise Damaged('the ELF file is neither for 32 nor for 64 bits')
        if ident[5] != 1:
            raise Damaged('the ELF file is big-endian; only little-endian files are read')
        self.abi = ident[8]
        kind, machine = window.unpack('<HH', 16)
        self.machine = MACHINES.get(machine, f'machine {machine}')
        self.kind = TYPES.get(kind, f'type {kind}')
        self.flags = window.unpack('<I', 48 if self.bits == 64 else 36)[0]
        self.sections = self.read_sections()
        self.dynamic = self.find_dynamic()
        self.needed, self.paths, self.soname, self.binds_now = [], [], '', False
        self.wanted, self.defined = [], set()
        self.read_dynamic()
        self.read_symbols()

    def read_sections(self):
        form, at, more = ('<IIQQQQIIQQ', 40, 58) if self.bits == 64 else ('<IIIIIIIIII', 32, 46)
        offset = self.window.unpack('<Q' if self.bits == 64 else '<I', at)[0]
        entry_size, count, names = self.window.unpack('<HHH', more)
        if offset == 0:
            return []
        size = 64 if self.bits == 64 else 40
        if entry_size != size:
            raise Damaged(f'the section headers have {entry_size} bytes each, not {size}')
        first = self.window.unpack(form, offset)
        count = count or first[5]
        if names == 0xffff:
            names = first[6]
        if count > MAX_SECTIONS:
            raise Damaged(f'the ELF file claims {count} sections')
        entries = list(self.window.entries(form, offset, count))
        sections = []
        for _, kind, flags, address, start, length, link, *_ in entries:
            window = self.window.part(start, length) if kind not in (0, NOBITS) else self.window.part(0, 0)
            sections.append(Section('', kind, flags, address, window, link))
        if names < len(sections):
            for section, one in zip(sections, entries):
                section.name = sections[names].window.text(one[0], 256)
        return sections

    def of_kind(self, *kinds):
        return [section for section in self.sections if section.kind in kinds]

    def linked(self, section):
        if section.link >= len(self.sections):
            raise Damaged(f'section {section.name} refers to a section that does not exist')
        return self.sections[section.link].window

    def find_dynamic(self):
        """The dynamic section by its segment; in a file for a debugger, that has no contents."""
        segments = read_segments(self.window, self.bits)
        if any(section.kind == NOBITS and section.name == '.dynamic' for section in self.sections):
            segments = []
        dynamic = Dynamic(self.window, self.bits, segments)
        places = [section.window.start - self.window.start for section in self.of_kind(DYNAMIC)]
        if dynamic and places and dynamic.offset not in places:
            raise Damaged(DIFFER)
        return dynamic

    def dynamic_entries(self):
        """The entries of the dynamic section and their strings, as pairs."""
        if self.dynamic:
            return [(self.dynamic.entries, self.dynamic.strings())]
        form, size = ('<qQ', 16) if self.bits == 64 else ('<iI', 8)
        return [(section.window.entries(form, 0, section.window.size // size), self.linked(section))
                for section in self.of_kind(DYNAMIC)[:1]]

    def read_dynamic(self):
        for entries, strings in self.dynamic_entries():
            for tag, value in entries:
                if tag == 0:
                    break
                if tag == NEEDED:
                    self.needed.append(strings.text(value))
                elif tag == SONAME:
                    self.soname = strings.text(value)
                elif tag in (RPATH, RUNPATH):
                    self.paths += strings.text(value).split(':')
                elif tag == BIND_NOW or (tag == FLAGS and value & 8) or (tag == FLAGS_1 and value & 1):
                    self.binds_now = True
                if (tag == FLAGS_1 and value & PIE) or tag == DEBUG:
                    self.kind = 'executable'

    def read_symbols(self):
        """The names that matter among the dynamic symbols, or those of an object file."""
        by_index = {}
        form, size = ('<IBBHQQ', 24) if self.bits == 64 else ('<IIIBBH', 16)
        for symbols, linked in self.symbol_tables(size):
            # A copy, because a file can have a million symbols, and few begin so.
            strings = linked.bytes(0, linked.size)
            count = symbols.size // size
            if count > MAX_SYMBOLS:
                raise Damaged(f'the ELF file claims {count} symbols')
            for index, entry in enumerate(symbols.entries(form, 0, count)):
                name, info, where = (entry[i] for i in ((0, 1, 3) if self.bits == 64 else (0, 3, 5)))
                if strings[name:name + 2] not in PREFIXES:
                    continue
                text = linked.text(name, 256)
                if text.startswith('__') and not text.startswith(UNDERSCORED):
                    continue
                if where == 0:
                    by_index[index] = Symbol(text, info >> 4 == 2)
                else:
                    self.defined.add(text)
        self.wanted = list(by_index.values())
        if by_index and not self.binds_now and self.kind != 'object':
            self.find_lazy(by_index)

    def symbol_tables(self, size):
        """The symbols and their strings: by the section, which also shows their number, or by the segment."""
        found = [(section.window, self.linked(section))
                 for section in self.of_kind(SYMTAB if self.kind == 'object' else DYNSYM)[:1]]
        if not self.dynamic:
            return found
        offset, count = self.dynamic.symbols()
        strings = self.dynamic.strings()
        if not found:
            return [(self.window.part(offset, count * size), strings)]
        if (found[0][0].start - self.window.start, found[0][1].start) != (offset, strings.start) \
                or found[0][0].size < count * size:
            raise Damaged(DIFFER)
        return found

    def relocations(self):
        """(offset, type, index of the symbol, addend) of the dynamic relocations, as far as they have one."""
        if self.dynamic:
            budget = sum(size for _, size, _ in self.dynamic.tables()) // 8
            if budget > MAX_RELOCATIONS:
                raise Damaged('the ELF file claims too many relocations')
            yield from self.dynamic.relocations()
            return
        budget = MAX_RELOCATIONS
        for section in self.of_kind(RELA, REL):
            if not section.flags & 2: # not loaded
                continue
            has_addend = section.kind == RELA
            budget -= section.window.size // 8
            if budget < 0:
                raise Damaged('the ELF file claims too many relocations')
            yield from read_relocations(section.window, self.bits, has_addend)

    def find_lazy(self, by_index):
        """A symbol is bound lazily if nothing but slots for calls refers to it."""
        slot = JUMP_SLOT.get(self.machine)
        used, eager = set(), set()
        for _, kind, index, _ in self.relocations():
            if index in by_index:
                used.add(index)
                if kind != slot:
                    eager.add(index)
        for index in used - eager:
            by_index[index].is_lazy = True

    def pointers(self, sections):
        """{address: the address there} of the pointers in some sections that are relocated."""
        relative = RELATIVE.get(self.machine)
        start = min(section.address for section in sections)
        end = max(section.address + section.window.size for section in sections)
        return {at: addend for at, kind, _, addend in self.relocations()
                if start <= at < end and kind == relative and addend}

    def address_to_offset(self, address):
        """The offset in the file of an address, or None."""
        for section in self.sections:
            if section.address and section.flags & 2 and section.kind != NOBITS \
                    and section.address <= address < section.address + section.window.size:
                return address - section.address + section.window.start - self.window.start
        return None

    def data(self):
        """The windows that can hold strings and data: the loaded sections that are neither code nor tables."""
        skipped = ('.dynstr', '.dynsym', '.hash', '.gnu.hash', '.eh_frame', '.nv_fatbin', '__nv_relfatbin',
                   '.gcc_except_table', '.gnu.version')
        if not any(section.flags & 2 for section in self.sections):
            return [self.window]
        return [section.window for section in self.sections
                if section.flags & 2 and not section.flags & 4 and section.kind == 1
                and not section.name.startswith(skipped)]
