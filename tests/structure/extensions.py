#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""extensions.py - checks that compiler extensions are in the headers that exist for them.

    extensions.py ROOT

The sources of the library, the program and softcuda are C11. What depends on the compiler is a macro of attributes.h,
or of softcuda's compiler.h. Microsoft's compiler lacks parts of C11: those of the library's sources for Windows are in
loader/common/atomic.h, and that for alignment in abi/module.h.
"""
import pathlib
import re
import sys

EXTENSION = re.compile(r'\b__(?:attribute__|declspec|asm__|typeof__|extension__|builtin_\w+|atomic_\w+|sync_\w+)')
ALLOWED = {'include/cushim/attributes.h', 'subprojects/softcuda/src/compiler.h', 'loader/common/atomic.h',
           'include/cushim/abi/module.h'}
MSVC_LACKS = re.compile(r'\b(?:_Thread_local|_Alignas|_Atomic\s+\w)\b|<(?:stdatomic|threads|unistd|pthread)\.h>')
LIBRARY = ('include/', 'loader/', 'src/stream/', 'src/completion/', 'src/cuda/')


def extensions_in(name, line):
    found = EXTENSION.findall(line)
    is_for_msvc = name.startswith(LIBRARY) and not re.search('/(linux|other|posix)/', name)
    return found + MSVC_LACKS.findall(line) if is_for_msvc else found


def main(root):
    root = pathlib.Path(root)
    sources = [path for top in ('include', 'loader', 'src', 'subprojects/softcuda', 'subprojects/cushim-tools')
               for suffix in ('c', 'h', 'inc') for path in sorted((root / top).rglob('*.' + suffix))
               if 'tests' not in path.relative_to(root).parts]
    uses = [f'{path.relative_to(root)}:{number}: {found}' for path in sources
            if path.relative_to(root).as_posix() not in ALLOWED
            for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1)
            for found in extensions_in(path.relative_to(root).as_posix(), line)]
    if not ALLOWED <= {path.relative_to(root).as_posix() for path in sources}:
        sys.exit(f'{root} lacks {sorted(ALLOWED)}')
    print('\n'.join(uses) or f'{len(sources)} sources: compiler extensions are in {len(ALLOWED)} headers')
    return 1 if uses else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
