#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the library as two files, cushim.c and cushim.h, for plug-ins, wheels and other builds that copy their sources.

  loader/two_files.py DIRECTORY

The sources are those of sources.txt. All names are hidden in the program or library that contains cushim.c,
unless CUSHIM_BUILD_SHARED is defined.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PUBLIC = ROOT / 'include' / 'cushim'
DIRECTORIES = (ROOT / 'include', ROOT / 'loader')
INCLUDE = re.compile(r'^ *# *include "([^"]+)".*\n', re.M)
SYSTEM = re.compile(r'^(?:#define WIN32_LEAN_AND_MEAN\n)?#include <[^>]+>.*\n', re.M)
CONDITIONAL = re.compile(r'^# +include <.*\n', re.M)
GUARD = re.compile(r'^#ifndef (\w+_H)$', re.M)
PUSH, POP = '#pragma GCC visibility push({})\n', '#pragma GCC visibility pop\n'
SYSTEMS = {'posix': '#if !defined(_WIN32)\n', 'windows': '#if defined(_WIN32)\n'}


def sources():
    """The files that are compiled, in the order of the build."""
    for line in (ROOT / 'loader' / 'sources.txt').read_text(encoding='utf-8').splitlines():
        if not line.startswith('#'):
            yield ROOT / line.split()[2]


class Output:
    """One of the two files."""

    def __init__(self, seen):
        self.seen, self.system_includes = seen, {}

    def read(self, path, system=None):
        """The text of a file, with the files that it includes in place of its #include lines."""
        text = path.read_text(encoding='utf-8').replace('/* SPDX-License-Identifier: MIT */\n', '')
        if GUARD.search(text):
            if path in self.seen:
                return ''
            self.seen.add(path)

        def take(match):
            self.system_includes.setdefault(match[0], set()).add(system)
            return ''

        def include(match):
            found = [place / match[1] for place in (path.parent, *DIRECTORIES) if (place / match[1]).exists()]
            return self.read(found[0].resolve(), system) if found else match[0]
        return INCLUDE.sub(include, SYSTEM.sub(take, text))


def of_system(system, text):
    return SYSTEMS[system] + text + '#endif\n' if system and text else text


def head(name, what):
    return f'''/* SPDX-License-Identifier: MIT */
/* {name}: {what} Written by loader/two_files.py: change the sources, not this file. */

'''


def main(directory):
    header = Output(set())
    header_text = header.read(PUBLIC / 'cushim.h')
    includes = ''.join(sorted(header.system_includes))
    licence = '/*\n' + ''.join(f' * {line}'.rstrip() + '\n'
                               for line in (ROOT / 'LICENSE').read_text(encoding='utf-8').splitlines()) + ' */\n'
    own = head('cushim.h', 'the API of cushim.') + licence + '''#if !defined(CUSHIM_BUILD_SHARED) && !defined(CUSHIM_STATIC)
#    define CUSHIM_STATIC
#endif
'''
    (directory / 'cushim.h').write_text(own + includes + header_text, encoding='utf-8')

    code, parts = Output(set(header.seen)), []
    for path in sources():
        system = next((name for name in SYSTEMS if name in path.parts), None)
        parts.append(of_system(system, code.read(path, system)))
    includes = {None: '', **dict.fromkeys(SYSTEMS, '')}
    for line, systems in sorted(code.system_includes.items()):
        includes[systems.pop() if len(systems) == 1 else None] += line
    (directory / 'cushim.c').write_text(head('cushim.c', 'all of the library.') + '''#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#include "cushim.h"
''' + ''.join(of_system(system, lines) for system, lines in includes.items()) + '''
#if defined(__ELF__)
''' + PUSH.format('hidden') + '''#endif
''' + CONDITIONAL.sub(lambda match: PUSH.format('default') + match[0] + POP, ''.join(parts)) + '''
#if defined(__ELF__)
''' + POP + '#endif\n', encoding='utf-8')


if __name__ == '__main__':
    main(pathlib.Path(sys.argv[1]))
