#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pages.py - checks that the files and functions that the sections "How it works" name exist.

    pages.py ROOT

A name is a text between backquotes in which no space is: a file or directory, relative to the page, to the root or
anywhere below loader/, src/ or include/; or an identifier of a source, with or without "()". Names of shared libraries
and absolute paths are not checked.
"""
import pathlib
import re
import sys

PAGES = ('loader/README.md', 'src/README.md', 'src/tools/exec/README.md', 'src/tools/trace/README.md')
SECTION = re.compile(r'^## How it works\n(.*?)(?=^## |\Z)', re.M | re.S)
SOURCES = ('.c', '.h', '.inc', '.py', '.map')


def section(path):
    """The section without its blocks of code, or an empty text."""
    found = SECTION.search(path.read_text(encoding='utf-8'))
    return re.sub(r'^```.*?^```$', '', found[1], flags=re.M | re.S) if found else ''


def main(root):
    root = pathlib.Path(root)
    files = [path for top in ('loader', 'src', 'include') for path in (root / top).rglob('*')]
    names = {path.name for path in files}
    words = set()
    for path in files:
        if path.suffix in SOURCES:
            words |= set(re.findall(r'\w+', path.read_text(encoding='utf-8')))
    failures, count = [], 0
    for page in PAGES:
        if not section(root / page):
            failures.append(f'{page} has no section "How it works"')
        for name in re.findall(r'`([^`\s]+)`', section(root / page)):
            if '.so' in name or name.startswith('/'):
                continue
            count += 1
            is_file = '.' in name or '/' in name
            exists = (root / page).parent.joinpath(name).exists() or (root / name).exists() or name in names
            if not (exists if is_file else name.removesuffix('()') in words):
                failures.append(f'{page}: {name} does not exist')
    print('\n'.join(failures) or f'{count} names exist')
    return 1 if failures else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
