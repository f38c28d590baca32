#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""table_kinds.py - checks that nothing in the library depends on the default stream that its user compiles for.

    table_kinds.py ROOT

cushim_table() and CUSHIM_DEFAULT_STREAM_AS_COMPILED differ between translation units. Users compile the sources below
loader/ and src/ with flags of their own, so these name a table. In C++ all units share one body of an inline function,
so the inline functions of the public headers name one, too. Macros may differ: they belong to the unit that uses them,
and the sources do not use those of names.h.
"""
import pathlib
import re
import sys

AS_COMPILED = re.compile(r'\bcushim_table\s*\(|\bCUSHIM_DEFAULT_STREAM_AS_COMPILED\b')
NAMES = re.compile(r'"cushim/names(?:_interop)?\.h"')
DEFINITION = 'const struct cushim_dispatch_table *cushim_table(void)'


def strip_comments(text):
    """Line breaks stay, for the numbers of lines."""
    return re.sub(r'/\*.*?\*/|//[^\n]*', lambda comment: '\n' * comment[0].count('\n'), text, flags=re.S)


def strip_macros(text):
    return re.sub(r'^[ \t]*#[ \t]*define\b(?:[^\n]*\\\n)*[^\n]*', lambda macro: '\n' * macro[0].count('\n'), text,
                  flags=re.M)


def find_uses(pattern, root, path, text):
    return [f'{path.relative_to(root)}:{text.count(chr(10), 0, use.start()) + 1}: {use[0].rstrip("( ")}'
            for use in pattern.finditer(text)]


def main(root):
    root = pathlib.Path(root)
    sources = [path for top in ('loader', 'src', 'subprojects/cushim-tools') for suffix in ('c', 'h', 'inc')
               for path in sorted((root / top).rglob('*.' + suffix)) if 'tests' not in path.relative_to(root).parts]
    headers = sorted((root / 'include').rglob('*.h'))
    uses = []
    for path in sources:
        text = strip_comments(path.read_text(encoding='utf-8'))
        uses += find_uses(AS_COMPILED, root, path, text) + find_uses(NAMES, root, path, text)
    for path in headers:
        text = strip_macros(strip_comments(path.read_text(encoding='utf-8')))
        uses += find_uses(AS_COMPILED, root, path, text.replace(DEFINITION, '', 1))
    if not sources or not headers:
        sys.exit(f'{root} has no sources or no headers')
    print('\n'.join(uses) or f'{len(sources)} sources, {len(headers)} headers: each names its table')
    return 1 if uses else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
