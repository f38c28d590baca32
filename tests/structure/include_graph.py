#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""include_graph.py - checks that the sources of each directory include only headers of directories that it may use.

    include_graph.py ROOT

The link graph shows which symbols an object needs; macros, types and inline functions of a header leave no symbol.
"""
import pathlib
import re
import sys

# Each directory, with those that it may include besides itself. They stand above it, so dependencies run one way.
PUBLIC, ATOMIC, LISTS, SOFTCUDA = 'include', 'loader/common', 'loader/lists', 'subprojects/softcuda/include'
MACHINE = 'loader/machine'  # the one door of programs to the loader
HIDE, TOOLS = 'subprojects/softcuda/hide_symbol', 'subprojects/cushim-tools'
COMMON, EXEC, FILE, LAYER, MODEL, ORDER, FINDERS, OUTPUT, DOCTOR, CLI = (f'{TOOLS}/{one}' for one in (
    'common', 'exec', 'trace/file', 'trace/layer', 'trace/model', 'trace/order', 'trace/finders', 'trace/output', 'doctor',
    'cli'))
MAY_INCLUDE = {
    PUBLIC: [],
    ATOMIC: [PUBLIC],
    LISTS: [PUBLIC],
    'loader': [PUBLIC, ATOMIC, LISTS],
    'src/stream': [PUBLIC, ATOMIC],
    'src/completion': [PUBLIC, ATOMIC, 'src/stream'],
    'src/cuda': [PUBLIC, LISTS],
    HIDE: [PUBLIC],
    SOFTCUDA: [],
    'subprojects/softcuda': [PUBLIC, LISTS, HIDE, SOFTCUDA],
    MACHINE: [PUBLIC, 'loader'],
    COMMON: [PUBLIC, ATOMIC, MACHINE, LISTS, SOFTCUDA],
    EXEC: [PUBLIC, ATOMIC, 'loader', MACHINE, LISTS, HIDE, SOFTCUDA, COMMON],
    FILE: [PUBLIC, ATOMIC, COMMON],
    LAYER: [PUBLIC, ATOMIC, COMMON, FILE],
    MODEL: [PUBLIC, COMMON, FILE],
    ORDER: [PUBLIC, COMMON, FILE, MODEL],
    FINDERS: [PUBLIC, COMMON, FILE, MODEL, ORDER],
    OUTPUT: [PUBLIC, COMMON, FILE, MODEL, ORDER, FINDERS],
    DOCTOR: [PUBLIC, MACHINE, LISTS, COMMON, EXEC, FILE, MODEL, FINDERS],
    CLI: [PUBLIC, MACHINE, SOFTCUDA, COMMON, EXEC, FILE, OUTPUT, DOCTOR],
}
# The options -I of the builds.
SEARCHED = ['include', 'loader', COMMON, MACHINE, ATOMIC, HIDE, SOFTCUDA,
            *(f'subprojects/softcuda/src{name}' for name in ('', '/control', '/engine', '/calls')), LISTS]
SOURCES = ('include', 'loader', 'src', *(f'subprojects/softcuda/{one}' for one in ('include', 'src', 'hide_symbol', 'posix', 'windows')), TOOLS)
# Made by a build from the lists or from a page; and a name that makes a compiler stop.
WITHOUT_FILE = {'plain_names.inc', 'enumerators.inc', 'fields.inc', 'numbers.inc', 'placed.inc', 'roles.inc', 'sampled.inc', 'page.inc',
                'softcuda_exports.inc', 'cushim/see_the_error_above.h'}


def directory_of(path):
    """The entry of MAY_INCLUDE that a file belongs to."""
    return max((one for one in MAY_INCLUDE if path.startswith(one + '/')), key=len, default=None)


def violations(root, path):
    own = directory_of(path.relative_to(root).as_posix())
    for number, line in enumerate(path.read_text(encoding='utf-8').splitlines(), 1):
        included = re.match(r' *# *include "([^"]+)"', line)
        if not included or included[1] in WITHOUT_FILE:
            continue
        found = [one / included[1] for one in (path.parent, *(root / name for name in SEARCHED))
                 if (one / included[1]).is_file()]
        target = directory_of(found[0].resolve().relative_to(root).as_posix()) if found else None
        if own is None or target is None or target not in (own, *MAY_INCLUDE[own]):
            yield (f'{path.relative_to(root)}:{number}: {own or "this directory"} may not include {included[1]} of '
                   f'{target or "no directory that is listed here"}')


def main(root):
    root = pathlib.Path(root).resolve()
    order = list(MAY_INCLUDE)
    upwards = [f'{one} may include {other}, which stands below it' for one, others in MAY_INCLUDE.items()
               for other in others if order.index(other) >= order.index(one)]
    sources = [path for top in SOURCES for suffix in ('c', 'h', 'inc')
               for path in sorted((root / top).rglob('*.' + suffix))
               if not path.is_relative_to(root / TOOLS / 'tests')]
    found = upwards + [line for path in sources for line in violations(root, path)]
    print('\n'.join(found) or f'{len(sources)} sources: each includes only what its directory may use')
    return 1 if found or not sources else 0


if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
