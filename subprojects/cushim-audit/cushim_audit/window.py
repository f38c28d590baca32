# SPDX-License-Identifier: MIT
"""A view of bytes that refuses to read outside of them: every reader works on one, so that no file can mislead it."""
import struct


class Damaged(Exception):
    """A file that is not what it claims to be. The text is a sentence for the user."""


class Window:
    """A part of a file that is mapped into memory, or of a bytes object."""

    def __init__(self, data, start=0, size=None):
        self.data, self.start = data, start
        self.size = len(data) - start if size is None else size

    def part(self, at, size):
        """A view of a part of this one."""
        if at < 0 or size < 0 or at > self.size or size > self.size - at:
            raise Damaged(f'the file ends before the {size} bytes at offset {at}')
        return Window(self.data, self.start + at, size)

    def bytes(self, at, size):
        """A copy of some bytes."""
        self.part(at, size)
        return self.data[self.start + at:self.start + at + size]

    def head(self, size, at=0):
        """Up to this number of bytes: fewer at the end."""
        at = min(max(at, 0), self.size)
        return self.bytes(at, min(size, self.size - at))

    def unpack(self, form, at):
        self.part(at, struct.calcsize(form))
        return struct.unpack_from(form, self.data, self.start + at)

    def entries(self, form, at, count):
        """The entries of a table: an iterator over tuples."""
        size = struct.calcsize(form) * count
        self.part(at, size)
        return struct.iter_unpack(form, memoryview(self.data)[self.start + at:self.start + at + size])

    def find(self, pattern, at=0):
        """The offset of some bytes, or -1."""
        found = self.data.find(pattern, self.start + max(at, 0), self.start + self.size)
        return found - self.start if found >= 0 else -1

    def find_each(self, pattern):
        """Every offset of some bytes."""
        at = self.find(pattern)
        while at >= 0:
            yield at
            at = self.find(pattern, at + 1)

    def matches(self, expression):
        """Every match of a compiled expression for bytes, with its offset."""
        for found in expression.finditer(self.data, self.start, self.start + self.size):
            yield found.start() - self.start, found

    def text(self, at, limit=4096):
        """A string that ends with a NUL; undecodable bytes are replaced."""
        raw = self.head(limit, at)
        return raw.split(b'\0', 1)[0].decode('utf-8', 'replace')
