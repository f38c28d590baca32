# SPDX-License-Identifier: MIT
"""The records of cushim in a file that contains it: the names of the driver's functions that it looks up, each of which
is optional (loader/symbols.c), and of libraries of the driver, too (loader/companion.c); and what a program says that it
cannot do without (CUSHIM_NEED in choose.h)."""
import re

START = re.compile(rb'cushim-record-1 (\d{1,3}\.\d{1,3}\.\d{1,3})\0([wsc])\0')
END = b'\0cushim-record-end\0'
LARGEST = 1 << 16
NEED_START = b'cushim-need:'
NEED = re.compile(NEED_START + rb'([!-~]{1,200})\0')
TEXT = {True: re.compile(r'[\w.-]*$'), False: re.compile(r'\w*$')}
FUNCTION = re.compile(r'cu(?!\w*_v\d+$)')


class Record:
    """A copy of cushim, or the libraries that it opens. `start` and `end` are the offsets of its names."""

    def __init__(self, version, extent, start, end, names):
        self.version, self.is_whole, self.is_of_libraries = version, extent == b'w', extent == b'c'
        self.start, self.end = start, end
        self.symbols = {name for name in names if name.startswith('cu')}
        self.functions = {name for name in names if FUNCTION.match(name)}


def find_records(window):
    """The records of all copies of cushim in a part of a file. One that is damaged is none: its names count."""
    for at, found in window.matches(START):
        end = window.find(END, at)
        if end < 0 or end - at > LARGEST:
            continue
        names = window.bytes(at + len(found[0]), end - at - len(found[0])).decode('ascii', 'replace').split('\0')
        names = [name for name in names if not name.startswith(NEED_START.decode())]
        if all(map(TEXT[found[2] == b'c'].match, names)):
            yield Record(found[1].decode(), found[2], at, end + len(END), names)


def find_needs(window):
    """The conditions that programs give to cushim_require(), or to amalgamate.py."""
    return {found[1].decode() for _, found in window.matches(NEED)}
