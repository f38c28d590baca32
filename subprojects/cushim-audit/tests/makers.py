# SPDX-License-Identifier: MIT
"""Makes small files as the tests need them: fat binaries, ELF files, PE files, static archives. Nothing in them is
NVIDIA's: the device code is a few zeros."""
import io
import struct
import zipfile

PTX, SASS, IR = 1, 2, 8
ACCELERATED, FAMILY, COMPRESSED = 0x100000, 0x200000, 0x2000


def entry(kind, arch, version=(1, 7), flags=0, code=b'\0' * 16):
    """An entry of a fat binary."""
    major, minor = version
    return struct.pack('<HHIQIIHHIIIQQQ', kind, 0x101, 64, len(code), 0, 0,
                       minor, major, arch, 0, 0, 0x11 | flags, 0, 0) + code


def sass(arch, suffix='', **more):
    return entry(SASS, arch, flags={'': 0, 'a': ACCELERATED, 'f': FAMILY}[suffix], **more)


def ptx(arch, version, suffix='', **more):
    return entry(PTX, arch, version, COMPRESSED | {'': 0, 'a': ACCELERATED, 'f': FAMILY}[suffix], **more)


def fatbin(*entries):
    """A container."""
    body = b''.join(entries)
    return b'\x50\xed\x55\xba' + struct.pack('<HHQ', 1, 16, len(body)) + body


class Elf:
    """An ELF file for 64 or 32 bits. Its sections lie at addresses that equal their offsets."""

    def __init__(self, bits=64, machine=62, kind=3):
        self.bits, self.machine, self.kind = bits, machine, kind
        self.strings, self.symbols, self.dynamic, self.relocations = b'\0', [], [], []
        self.sections = [] # (name, type, flags, content, link, row)
        self.has_segments = False

    def string(self, text):
        self.strings += text.encode() + b'\0'
        return len(self.strings) - len(text) - 1

    def needs(self, library):
        self.dynamic.append((1, self.string(library)))
        return self

    def soname(self, name):
        self.dynamic.append((14, self.string(name)))
        return self

    def runpath(self, path):
        self.dynamic.append((29, self.string(path)))
        return self

    def binds_now(self, tag=30, value=8):
        self.dynamic.append((tag, value))
        return self

    def wants(self, name, weak=False, slot=True):
        """An undefined symbol, with a relocation: a slot for calls (7) or its address (6)."""
        self.symbols.append((self.string(name), 2 if weak else 1, 0))
        self.relocations.append((7 if slot else 6, len(self.symbols)))
        return self

    def defines(self, name):
        self.symbols.append((self.string(name), 1, 1))
        return self

    def section(self, name, content, flags=2, kind=1):
        self.sections.append((name, kind, flags, content, 0, 0))
        return self

    def for_the_loader(self):
        """With segments, for 64 bits: what the dynamic loader reads."""
        self.has_segments = True
        return self

    def start_of(self, name, rows):
        """Where a section begins."""
        at = 64
        for row in rows:
            at += -at % 8
            if row[0] == name:
                return at
            at += len(row[3])
        raise KeyError(name)

    def add_segments(self, rows):
        """The rows with a hash table, and with the addresses of the tables in the dynamic section; and the segments."""
        count = len(self.symbols) + 1
        rows.append(('.hash', 5, 2, struct.pack('<II', 1, count) + b'\0' * (4 + 4 * count), 2, 0))
        dynamic = next(index for index, row in enumerate(rows) if row[0] == '.dynamic')
        row = rows[dynamic]
        rows[dynamic] = *row[:3], b'\0' * 112 + row[3], *row[4:]
        places = {tag: self.start_of(name, rows) for tag, name in ((4, '.hash'), (5, '.dynstr'), (6, '.dynsym'), (23, '.rela.plt'))}
        tags = {**places, 10: len(self.strings), 2: 24 * len(self.relocations), 20: 7}
        tags = b''.join(struct.pack('<qQ', *pair) for pair in tags.items() if pair[0] != 23 or self.relocations)
        rows[dynamic] = *row[:3], (tags + row[3]).ljust(112 + len(row[3]), b'\0'), *row[4:]
        start, size = self.start_of('.dynamic', rows), len(rows[dynamic][3])
        return struct.pack('<IIQQQQQQ', 1, 6, 0, 0, 0, 1 << 20, 1 << 20, 4096) + \
            struct.pack('<IIQQQQQQ', 2, 6, start, start, start, size, size, 8)

    def build(self):
        wide = self.bits == 64
        symbols = b'\0' * (24 if wide else 16)
        for name, binding, where in self.symbols:
            symbols += struct.pack('<IBBHQQ', name, binding << 4 | 2, 0, where, 0, 0) if wide else \
                struct.pack('<IIIBBH', name, 0, 0, binding << 4 | 2, 0, where)
        slots = b''.join(struct.pack('<QQq', 0, index << 32 | kind, 0) if wide else
                         struct.pack('<II', 0, index << 8 | kind) for kind, index in self.relocations)
        dynamic = b''.join(struct.pack('<qQ' if wide else '<iI', *pair) for pair in self.dynamic + [(0, 0)])
        # The dynamic strings are section 1, and the dynamic symbols section 2.
        rows = [('', 0, 0, b'', 0, 0), ('.dynstr', 3, 2, self.strings, 0, 0), ('.dynsym', 11, 2, symbols, 1, 0),
                ('.rela.plt', 4 if wide else 9, 2, slots, 2, 0), ('.dynamic', 6, 3, dynamic, 1, 0), *self.sections]
        segments = self.add_segments(rows) if self.has_segments else b''
        if self.kind == 1:
            rows = rows[:1] + rows[1:2] + [('.symtab', 2, 0, symbols, 1, 0)] + list(self.sections)
        names = b'\0'.join(row[0].encode() for row in rows) + b'\0.shstrtab\0'
        rows.append(('.shstrtab', 3, 0, names, 0, 0))
        at = 64 if wide else 52
        body, table = b'', b''
        for name, kind, flags, content, link, row in rows:
            body += b'\0' * (-(at + len(body)) % 8)
            start = at + len(body)
            values = names.index(name.encode() + b'\0') if name else 0, kind, flags, start if flags & 2 else 0, start, \
                len(content), link, 0, 8, row
            table += struct.pack('<IIQQQQIIQQ' if wide else '<IIIIIIIIII', *values)
            body += content
        ident = b'\x7fELF' + bytes([2 if wide else 1, 1, 1]) + b'\0' * 9
        head = struct.pack('<HHIQQQIHHHHHH' if wide else '<HHIIIIIHHHHHH', self.kind, self.machine, 1, 0,
                           at + len(body) + len(table) if segments else 0, at + len(body), 0, at,
                           56 if segments else 0, len(segments) // 56, 64 if wide else 40, len(rows), len(rows) - 1)
        return ident + head + body + table + segments


def offset_of(elf, content):
    """The address that some bytes of a section get, which is their offset."""
    return elf.build().index(content)


def wrapper(address, version):
    """What the runtime registers: a pointer to a container. Version 2: the device linker made that."""
    return b'\xb1\x43\x62\x46' + struct.pack('<IQQ', version, address, 0)


def cubin(arch, accelerated=False):
    """The header of a cubin, as CUDA 12 makes it for GPUs before 10.0."""
    flags = arch | arch << 16 | (0x800 if accelerated else 0)
    ident = b'\x7fELF\2\1\1\x33\x07' + b'\0' * 7
    return ident + struct.pack('<HHIQQQIHHHHHH', 2, 190, 1, 0, 0, 0, flags, 64, 0, 0, 64, 0, 0)


def cubin_8(arch, suffix='', compat=None, flags=0):
    """A cubin of ABI version 8: with the attributes that CUDA 13 writes, or others, and a note of the assembler."""
    elf = Elf(machine=190, kind=2)
    if compat is None:
        compat = struct.pack('<BBHBBHBBHQ', 2, 9, suffix == 'a', 2, 2, 1, 4, 11, 8, 9)
    if compat:
        elf.section('.nv.compat', compat, flags=0)
        elf.section('.note.nv.tkinfo', b'\0ptxas\0-arch sm_%d%b \0' % (arch, suffix.encode()), flags=0)
    data = bytearray(elf.build())
    data[7:9], data[48:52] = b'\x41\x08', struct.pack('<I', arch << 8 | 2 | flags)
    return bytes(data)


OF_RUNTIME = b'CUDA driver version is insufficient for CUDA runtime version'
RUNTIME_ID = bytes.fromhex('6bd5fb6c5bf4e74a8987d93912fd9df9')


def runtime(*names):
    """Data as the static CUDA runtime has it: a sentence, an identifier, and names, which tell the release."""
    return b'\0'.join([RUNTIME_ID, OF_RUNTIME, *names, b''])


def plain_cubin(sections, arch=52):
    """A cubin with sections, as nvcc stores small ones: not compressed. Only their names matter."""
    elf = Elf(machine=190, kind=2)
    for name in sections:
        elf.section(name, b'\0' * 16, flags=0)
    return sass(arch, code=elf.build())


def ptx_text(arch, version):
    return f'//\n// Made by a test.\n//\n\n.version {version}\n.target sm_{arch}\n.address_size 64\n'.encode()


def archive(members):
    """A static archive: {name: content}."""
    data = b'!<arch>\n'
    for name, content in members.items():
        data += f'{name + "/":<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}'.encode() + b'`\n' + content
        data += b'\n' * (len(content) % 2)
    return data


def wheel(members):
    """A wheel: {name: content}."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, 'w', zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return data.getvalue()


def pe(imports=None, delayed=None, exports=None, data=b'', library='made.dll'):
    """A DLL for 64 bits with one section at address 0x1000. Imports: {library: names}."""
    base, image = 0x1000, bytearray()

    def place(content):
        image.extend(b'\0' * (-len(image) % 8))
        image.extend(content)
        return base + len(image) - len(content)

    def thunks(names):
        return place(b''.join(struct.pack('<Q', place(b'\0\0' + name.encode() + b'\0')) for name in names) + b'\0' * 8)

    place(data)
    rows = [struct.pack('<IIIII', thunks(names), 0, 0, place(name.encode() + b'\0'), 0)
            for name, names in (imports or {}).items()]
    imported = place(b''.join(rows) + b'\0' * 20) if rows else 0
    rows = [struct.pack('<IIIIIIII', 1, place(name.encode() + b'\0'), 0, 0, thunks(names), 0, 0, 0)
            for name, names in (delayed or {}).items()]
    late = place(b''.join(rows) + b'\0' * 32) if rows else 0
    exported = 0
    if exports:
        names = place(b''.join(struct.pack('<I', place(name.encode() + b'\0')) for name in exports))
        exported = place(struct.pack('<IIIIIIIIIII', 0, 0, 0, place(library.encode() + b'\0'), 1, len(exports),
                                     len(exports), 0, names, 0, 0))
    directories = [(exported, 40 if exported else 0), (imported, 40 if imported else 0)] + [(0, 0)] * 14
    directories[13] = late, 64 if late else 0
    optional = struct.pack('<H22xQ76xI', 0x20b, 0x180000000, 16)
    optional += b''.join(struct.pack('<II', *pair) for pair in directories)
    head = b'MZ'.ljust(0x3c, b'\0') + struct.pack('<I', 0x40) + b'PE\0\0'
    head += struct.pack('<HHIIIHH', 0x8664, 1, 0, 0, 0, len(optional), 0x2022) + optional
    head += struct.pack('<8sIIIIIIHHI', b'.rdata', len(image), base, len(image), 0x400, 0, 0, 0, 0, 0x40000040)
    return head.ljust(0x400, b'\0') + bytes(image)
