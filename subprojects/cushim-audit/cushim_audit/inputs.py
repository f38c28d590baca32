# SPDX-License-Identifier: MIT
"""Finds the files to read: in directories, wheels and other zip files, tarballs and static archives, one in the other.

Plain files are mapped into memory. A member of an archive is unpacked to memory, or to an unnamed temporary file if it
is large, and only if it starts as something that can hold device code or names of the driver.
"""
import bz2
import gzip
import io
import lzma
import mmap
import os
import re
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib

from .fatbin import MAGIC
from .window import Damaged, Window

IN_MEMORY = 32 << 20
MAX_UNPACKED = 64 << 30
DEEPEST = 3
PTX_START = re.compile(rb'(?:\s|//[^\n]*\n|/\*.*?\*/)*\.version\s', re.S)
DEBIAN_PACKAGE = b'!<arch>\ndebian-binary'
ZSTANDARD = b'\x28\xb5\x2f\xfd'
# The files of a package of conda (.conda), which is a zip file.
OF_CONDA = re.compile(r'pkg-.*\.tar\.zst$')
# The names of what can be loaded or linked.
OF_LIBRARY = re.compile(r'\.(so|pyd|dll|exe|a|lib|o|cubin|fatbin|ptx)(\.|$)', re.I)
TARBALL = re.compile(r'\.(tar(\.\w+)?|tgz|tbz2?|txz)$', re.I)
# How each way to pack a tarball starts, and what unpacks it: these check the checksums, which tarfile's streams do not.
UNPACKERS = {b'\x1f\x8b': gzip.open, b'BZh': bz2.open, b'\xfd7zXZ\0': lzma.open}
# What Python's own readers of archives raise for damaged ones.
ARCHIVE_ERRORS = (zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, struct.error, EOFError, RuntimeError,
                  ValueError, OSError, LookupError, OverflowError, MemoryError, AttributeError, TypeError)
END_ERRORS = (tarfile.EmptyHeaderError, tarfile.TruncatedHeaderError, tarfile.InvalidHeaderError)


class Item:
    """A file to examine. `archive` is the wheel or tarball that holds it, or ''."""

    def __init__(self, name, window, archive='', member=''):
        self.name, self.window, self.archive, self.member = name, window, archive, member or name


class Problem:
    """A file that could not be read, with a sentence."""

    def __init__(self, name, sentence):
        self.name, self.sentence = name, sentence


def kind_of(head):
    """The kind of a file, from its first bytes."""
    if head.startswith(b'\x7fELF'):
        return 'elf'
    if head.startswith(b'MZ'):
        return 'pe'
    if head.startswith(DEBIAN_PACKAGE):
        return 'deb'
    if head.startswith((b'!<arch>\n', b'!<thin>\n')):
        return 'ar'
    if head.startswith((b'PK\3\4', b'PK\5\6')):
        return 'zip'
    if head.startswith(MAGIC):
        return 'fatbin'
    if PTX_START.match(head):
        return 'ptx'
    if head[257:262] == b'ustar':
        return 'tar'
    return ''


def mapped(file):
    """The window of an open file."""
    size = os.fstat(file.fileno()).st_size
    return Window(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) if size else b'')


def unpacked(file, size):
    """The window of an open member of an archive. No more than this size is unpacked, whatever the member holds."""
    if size <= IN_MEMORY:
        return Window(file.read(size))
    with tempfile.TemporaryFile(prefix='cushim-audit-') as copy:
        left = size
        while left > 0:
            data = file.read(min(left, 1 << 20))
            if not data:
                break
            copy.write(data)
            left -= len(data)
        copy.flush()
        return mapped(copy)


class Reader:
    """Walks through paths and what is packed in them. `is_wanted(path)` leaves out files by their name."""

    def __init__(self, is_wanted=lambda path: True):
        self.is_wanted = is_wanted
        self.unpacked = 0  # bytes of the members of the path, and of archives in it

    def count(self, size):
        """A member counts, whether or not it is of interest: an archive can claim anything."""
        self.unpacked += size
        if self.unpacked > MAX_UNPACKED:
            raise Damaged(f'the archive unpacks to more than {MAX_UNPACKED >> 30} GiB')

    def walk(self, path):
        """The items and problems of a path that the user gives."""
        self.unpacked = 0
        if os.path.isdir(path):
            yield from self.walk_directory(path)
        else:
            yield from self.read_path(path, is_named=True)

    def walk_directory(self, path):
        problems = []

        def refuse(error):
            problems.append(Problem(error.filename, f'cannot be read: {error.strerror}'))

        for directory, names, files in os.walk(path, onerror=refuse):
            names.sort()
            for name in sorted(files):
                yield from self.read_path(os.path.join(directory, name), is_named=False)
            yield from problems
            problems.clear()

    def read_path(self, path, is_named):
        """A file of the file system. In a directory, links and files of other kinds are passed over."""
        try:
            status = os.stat(path) if is_named else os.lstat(path)
            if not stat.S_ISREG(status.st_mode):
                if is_named:
                    yield Problem(path, 'is neither a file nor a directory')
                return
            with open(path, 'rb') as file:
                head = file.read(512)
                kind = kind_of(head)
                if not kind and TARBALL.search(path):
                    kind = 'tar'
                is_wheel = path.endswith('.whl')
                if not (kind or is_named or is_wheel) or not self.is_wanted(path):
                    return
                if is_wheel and kind != 'zip':
                    yield Problem(path, 'this is not a zip file, as a wheel is')
                    return
                # In a directory, an archive is data of somebody else's, unless it is a wheel.
                if kind in ('zip', 'tar', 'deb') and not is_named and not is_wheel:
                    return
                if kind in ('zip', 'tar'):
                    yield from self.read_archive(kind, file, path, path, 1)
                    return
                window = mapped(file)
        except (OSError, ValueError) as error:
            yield Problem(path, f'cannot be read: {getattr(error, "strerror", None) or error}')
            return
        yield from self.read_window(kind, Item(path, window))

    def read_window(self, kind, item):
        if kind == 'ar':
            yield from read_ar(item)
        elif kind == 'deb':
            yield Problem(item.name, 'this is a package of Debian: unpack it (dpkg-deb -x), and audit the directory')
        else:
            yield item

    def read_archive(self, kind, file, name, archive, depth):
        try:
            if depth > DEEPEST:
                raise Damaged(f'archives are packed in each other more than {DEEPEST} deep')
            yield from (self.read_zip if kind == 'zip' else self.read_tar)(file, name, archive, depth)
        except Damaged as error:
            yield Problem(name, str(error))
        except ARCHIVE_ERRORS as error:
            reason = str(getattr(error, 'strerror', None) or error or type(error).__name__)
            yield Problem(name, f'the archive cannot be read: {reason[:200]}')

    def read_zip(self, file, name, archive, depth):
        with zipfile.ZipFile(file) as members:
            for info in sorted(members.infolist(), key=lambda one: one.filename):
                if info.filename.endswith('/') or not self.is_wanted(info.filename):
                    continue
                self.count(info.file_size)
                with members.open(info) as member:
                    kind = 'tar' if OF_CONDA.match(info.filename) else kind_of(member.read(512))
                    if not kind:
                        # A damaged library does not start as one: the checksum tells.
                        if OF_LIBRARY.search(info.filename):
                            self.drain(member, counted=0)
                        continue
                with members.open(info) as member:
                    window = unpacked(member, info.file_size)
                yield from self.read_member(kind, window, name, info.filename, archive, depth)

    def read_tar(self, file, name, archive, depth):
        stream = open_packed(file)
        with tarfile.open(fileobj=stream, mode='r|', tarinfo=Member) as members:
            for info in members:
                self.count(info.size)
                if not info.isfile() or info.size < 16 or not self.is_wanted(info.name):
                    continue
                member = members.extractfile(info)
                head = member.read(512)
                kind = kind_of(head)
                if not kind:
                    continue
                window = unpacked(Prefixed(head, member), info.size)
                yield from self.read_member(kind, window, name, info.name, archive, depth)
        # The checksum is behind the end of the tarball.
        self.drain(stream)

    def drain(self, file, counted=1):
        """Reads a file to its end, so that its checksum is compared. Its bytes count, unless they were counted."""
        while data := file.read(1 << 20):
            self.count(len(data) * counted)

    def read_member(self, kind, window, name, member, archive, depth):
        full = f'{name}: {member}'
        if kind in ('zip', 'tar'):
            yield from self.read_archive(kind, io.BytesIO(window.data) if isinstance(window.data, bytes)
                                         else window.data, full, archive, depth + 1)
        else:
            yield from self.read_window(kind, Item(full, window, archive, member))


class Member(tarfile.TarInfo):
    """A member of a tarball. tarfile takes a damaged header for the end."""

    @classmethod
    def fromtarfile(cls, tarfile):
        try:
            return super().fromtarfile(tarfile)
        except END_ERRORS as error:
            raise Damaged(f'the tarball is damaged at offset {tarfile.offset}: {error}') from error


def open_packed(file):
    """A file that unpacks a tarball, or the file itself."""
    file.seek(0)
    head = file.read(6)
    file.seek(0)
    if head.startswith(ZSTANDARD):
        try:
            from compression.zstd import ZstdFile # pylint: disable=import-outside-toplevel
        except ImportError:
            # Python reads Zstandard from 3.14 on.
            raise Damaged('it is compressed with Zstandard: unpack it, and audit the directory') from None
        return ZstdFile(file)
    for magic, unpacker in UNPACKERS.items():
        if head.startswith(magic):
            return unpacker(file, 'rb')
    return file


class Prefixed:
    """A file of which the first bytes have been read."""

    def __init__(self, head, rest):
        self.head, self.rest = head, rest

    def read(self, size):
        head, self.head = self.head[:size], self.head[size:]
        return head + self.rest.read(size - len(head)) if len(head) < size else head


def read_ar(item):
    """The members of a static archive."""
    window, at, names = item.window, 8, None
    try:
        if window.head(8) == b'!<thin>\n':
            raise Damaged('this is a thin archive: it names files, and holds none')
        while at + 60 <= window.size:
            head = window.bytes(at, 60)
            size = head[48:58].strip()
            if head[58:] != b'`\n' or not size.isdigit():
                raise Damaged(f'the static archive is damaged at offset {at}')
            name, body = head[:16].rstrip().decode('ascii', 'replace'), window.part(at + 60, int(size))
            at += 60 + body.size + body.size % 2
            if name == '//':
                names = body
            elif name not in ('/', '/SYM64/', '__.SYMDEF') and body.size:
                if re.fullmatch(r'/\d+', name) and names is not None:
                    name = names.text(int(name[1:]), 512).split('/\n')[0]
                if kind_of(body.head(512)) in ('elf', 'fatbin', 'ptx'):
                    name = name.rstrip('/')
                    yield Item(f'{item.name}({name})', body, item.archive, f'{item.member}({name})')
    except Damaged as error:
        yield Problem(item.name, str(error))
