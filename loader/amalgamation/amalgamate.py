#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the amalgamation, the library as cushim.c and cushim.h, for plug-ins, wheels and other builds that copy their
sources; cushim_untyped.h, the part of cushim.h without CUDA's types; and a copy of cushim.hpp, the header for C++.

  loader/amalgamation/amalgamate.py [--slots FILE]... [--link OBJECT...] [--no-streams] [--layers] [--companions]
                                   [--gpus] [--nvrtc] [--require CONDITION]... DIRECTORY

The sources are those of sources.txt. All names are hidden in the program or library that contains cushim.c,
unless CUSHIM_BUILD_SHARED is defined.

With --slots, they are a subset: the slots that FILE names, and those that they need. FILE is a list of functions by
their names in <cuda.h>, or of slots, or a source file or an X-macro list that names them. cushim_names.h has the plain
names of these functions. --no-streams leaves out the stream layer: contexts, streams, events, graphs and completions.
Layers are left out, too, unless --layers is given, NVCUVID, NVENC and NVML unless --companions is given, the search for
GPUs without a start (gpu.h) unless --gpus is given, which includes --companions, and the search for NVRTC (nvrtc.h)
unless --nvrtc is given, which includes --gpus. PLUGINS.md says more.

--require names what the program cannot do without, such as cuda>=12.0 or cuStreamGetId: `cushim audit` finds it in the
program. The program itself calls cushim_require().

With --link, the subset has the functions that compiled objects and archives call, and cushim_cuda.c defines their
names: compiled and linked with the objects, the two C files take the place of -lcuda.

The directory is made if it does not exist. It gets a .gitattributes, unless it has one, by which GitHub shows the
files as generated.
"""
import argparse
import pathlib
import re
import sys

sys.dont_write_bytecode = True
import objects  # pylint: disable=wrong-import-position
import subset  # pylint: disable=wrong-import-position

ROOT = pathlib.Path(__file__).resolve().parents[2]
PUBLIC = ROOT / 'include' / 'cushim'
DIRECTORIES = (ROOT / 'include', ROOT / 'loader')
INCLUDE = re.compile(r'^ *# *include "([^"]+)".*\n', re.M)
SYSTEM = re.compile(r'^(?:#define WIN32_LEAN_AND_MEAN\n)?#include <[^>]+>.*\n', re.M)
CONDITIONAL = re.compile(r'^# +include <.*\n', re.M)
GUARD = re.compile(r'^#ifndef (\w+_H)$', re.M)
# Of a header that is not public, and is therefore read once.
GUARDED = re.compile(r'^#ifndef (\w+_H)\n#define \1\n(.*)^#endif\n\Z', re.M | re.S)
LIST = re.compile(r'(.*)^/\* clang-format off \*/\n+((CUSHIM_[A-Z]+)\(.*?)\n+(?:/\* clang-format on \*/\n+)?^(#undef.*)',
                  re.M | re.S)
TYPED = re.compile(r'^#if !defined\(CUSHIM_UNTYPED\)\n.*?^#endif\n', re.M | re.S)
COMMENT = re.compile(r'^ *(?:/\*.*?\*/)?\n', re.M | re.S)
EMPTY_LINES = re.compile(r'\n{3,}')
# Up to the name of a function that is not part of the API, where it is declared or defined.
INTERNAL = re.compile(r'^(?!static |extern |typedef )(?=[A-Za-z][\w *\n]*\b(cush_\w+)\()', re.M)
DEFINITION = re.compile(r'^[A-Za-z][\w *\n]*\b(cush_\w+)\([^;{]*\{', re.M)
PUSH, POP = '#pragma GCC visibility push({})\n', '#pragma GCC visibility pop\n'
HIDING = '#if defined(__ELF__) || defined(__MACH__)\n'
# The words of sources.txt for a system, in C.
SYSTEMS = {'posix': '!defined(_WIN32)', 'windows': 'defined(_WIN32)',
           'linux': 'defined(__linux__) && !defined(CUSHIM_PORTABLE)',
           'other': '!defined(_WIN32) && (!defined(__linux__) || defined(CUSHIM_PORTABLE))'}
PARTS_OF_SYSTEMS = {'all': {'windows', 'linux', 'other'}, 'posix': {'linux', 'other'}}
HEAD = '''#if defined(__cplusplus)
#    error "cushim: cushim.c is C. Compile it with a C compiler, and link its object with those of C++."
#elif (defined(__GLIBC__) && !defined(__USE_GNU)) \\
    || (defined(__linux__) && !defined(__GLIBC__) && defined(_FEATURES_H) && !defined(_GNU_SOURCE))
#    error "cushim: define _GNU_SOURCE for this unit, or put cushim.c first, before any other header."
#else
#if !defined(_WIN32) && !defined(_GNU_SOURCE)
#    define _GNU_SOURCE
#endif
#if defined(__GNUC__) || defined(__clang__)
#    pragma GCC diagnostic push
#    pragma GCC diagnostic ignored "-Wdeclaration-after-statement" /* that is C90 */
#    pragma GCC diagnostic ignored "-Wunused-function" /* a subset does not call all functions */
#elif defined(_MSC_VER)
#    pragma warning(push)
#    pragma warning(disable : 4505) /* an unused function */
#endif
#if !defined(CUSH_LOCAL)
#    define CUSH_LOCAL static /* only cushim's own tests call such functions from other files */
#endif
#include "cushim.h"
'''
TAIL = '''#if defined(__GNUC__) || defined(__clang__)
#    pragma GCC diagnostic pop
#elif defined(_MSC_VER)
#    pragma warning(pop)
#endif
#endif
'''


def systems_of_sources():
    """{path: the word for its systems} of the files that are compiled, in the order of the build."""
    rows = (line.split() for line in (ROOT / 'loader' / 'sources.txt').read_text(encoding='utf-8').splitlines()
            if not line.startswith('#'))
    return {ROOT / path: system for system, _, path in rows}


class Output:
    """cushim.c or cushim.h."""

    def __init__(self, seen, made):
        """`made`: {path: text} of files whose text is another one."""
        self.seen, self.made, self.system_includes = seen, made, {}

    def read(self, path, system='all'):
        """The text of a file, with the files that it includes in place of its #include lines."""
        text = self.made[path] if path in self.made else path.read_text(encoding='utf-8')
        text = text.replace('/* SPDX-' 'License-Identifier: MIT */\n', '')
        if GUARD.search(text):
            if path in self.seen:
                return ''
            if not path.is_relative_to(PUBLIC):
                text = GUARDED.sub(r'\2', text)
        elif LIST.match(text):
            text = self.read_list(path, *LIST.match(text).groups())
        elif path in self.seen:
            text = COMMENT.sub('', text)
        self.seen.add(path)

        def take(match):
            self.system_includes.setdefault(match[0], set()).add(system)
            return ''

        def include(match):
            found = [directory / match[1] for directory in (path.parent, *DIRECTORIES)
                     if (directory / match[1]).exists()]
            return self.read(found[0].resolve(), system) if found else match[0]
        return INCLUDE.sub(include, SYSTEM.sub(take, text))

    def read_list(self, path, start, rows, macro, end):
        """The text of a list, which many files include: its rows become a macro, which the compiler reads once."""
        name = macro + '_LIST'
        if path in self.seen:
            return COMMENT.sub('', start) + name + '\n' + end
        lines = ['#define ' + name, *rows.split('\n')]
        return start + ' \\\n'.join(line for line in lines if line) + '\n\n' + name + '\n' + end


def of_system(system, text):
    return f'#if {SYSTEMS[system]}\n{text}#endif\n' if system in SYSTEMS and text else text


def common_system(systems):
    """The word for the systems of several files."""
    return systems.pop() if len(systems) == 1 else 'posix' if systems <= {'posix', 'linux', 'other'} else 'all'


def made_local(parts):
    """The parts, in which the functions that all systems define are local to cushim.c: then a compiler leaves out those
    that nothing calls. `parts`: (the word for its systems, text) of each file."""
    systems = {}
    for system, text in parts:
        for name in DEFINITION.findall(text):
            systems.setdefault(name, set()).update(PARTS_OF_SYSTEMS.get(system, {system}))
    return [(system, INTERNAL.sub(lambda match: 'CUSH_LOCAL ' * (systems.get(match[1]) == PARTS_OF_SYSTEMS['all']), text))
            for system, text in parts]


def head(name, what, more=''):
    return f'''/* SPDX-License-Identifier: MIT */
/* {name}: {what} Written by loader/amalgamation/amalgamate.py: change the sources, not this file.{more} */

'''


def write_header(start, path, made, chosen):
    """The text of a header that contains those that it includes, and these headers."""
    header = Output(set(), made)
    text = header.read(path)
    start += '''\
#if !defined(CUSHIM_BUILD_SHARED) && !defined(CUSHIM_STATIC)
#    define CUSHIM_STATIC
#endif
'''
    return start + (chosen.renamed(text) if chosen else '') + ''.join(sorted(header.system_includes)) + text, header.seen


def write_api(made, chosen):
    """The text of cushim.h, and the headers that it contains."""
    licence = '/*\n' + ''.join(f' * {line}'.rstrip() + '\n'
                               for line in (ROOT / 'LICENSE').read_text(encoding='utf-8').splitlines()) + ' */\n'
    start = head('cushim.h', 'the API of cushim.', chosen.description() if chosen else '') + licence
    return write_header(start, PUBLIC / 'cushim.h', made, chosen)


def write_untyped(made, chosen):
    """The text of cushim_untyped.h."""
    made = {**made, **{path: TYPED.sub('', path.read_text(encoding='utf-8'))
                       for path in (PUBLIC / 'load.h', PUBLIC / 'error.h', PUBLIC / 'reasons.h')}}
    start = head('cushim_untyped.h', "the part of cushim.h without CUDA's types.")
    return write_header(start, PUBLIC / 'untyped.h', made, chosen)[0]


def write_code(made, seen, paths, needs=()):
    """The text of cushim.c. `needs`: the conditions of --require."""
    needs = ' "\\0" '.join(f'"cushim-need:{need}"' for need in needs)
    needs = f'#define CUSHIM_NEEDS {needs}\n' if needs else ''
    code, parts, systems = Output(seen, made), [], systems_of_sources()
    for path in paths:
        system = systems.get(path, 'all')
        parts.append((system, code.read(path, system)))
    parts = [of_system(system, text) for system, text in made_local(parts)]
    includes = {'all': '', **dict.fromkeys(SYSTEMS, '')}
    for line, found in sorted(code.system_includes.items()):
        includes[common_system(found)] += line
    included = ''.join(of_system(system, lines) for system, lines in includes.items())
    text = CONDITIONAL.sub(lambda match: PUSH.format('default') + match[0] + POP, ''.join(parts))
    return head('cushim.c', 'all of the library.') + HEAD + needs + included + f'''
{HIDING}{PUSH.format('hidden')}#endif
{text}
{HIDING}{POP}#endif
{TAIL}'''


def replace_files(directory, files):
    """Writes all files and then gives them their names, so that a full disk leaves those of an earlier run."""
    written = {}
    try:
        for name, text in files.items():
            path = directory / f'{name}.new'
            with path.open('w', encoding='utf-8') as file:
                written[path] = directory / name
                file.write(text)
    except OSError:
        for path in written:
            path.unlink()
        raise
    for path, target in written.items():
        path.replace(target)


def write_drop_in(made, seen, chosen):
    """The text of cushim_cuda.c."""
    rows = {ROOT / 'loader' / 'lists' / 'exports.inc': '\n'.join(chosen.exports) + '\n'}
    start = head('cushim_cuda.c', 'the names that the program links to.')
    text = Output(seen, {**made, **rows}).read(ROOT / 'src' / 'cuda' / 'cuda.c')
    return start + '#define CUSHIM_OWN_TYPES 1\n#include "cushim.h"\n' + text


def write_library(made, chosen):
    """The texts of cushim.h, of cushim.c, and of cushim_cuda.c or ''."""
    header, seen = write_api(made, chosen)
    drop_in = write_drop_in(made, set(seen), chosen) if chosen and chosen.exports else ''
    code = write_code(made, seen, chosen.sources if chosen else systems_of_sources(), chosen.needs if chosen else ())
    return [EMPTY_LINES.sub('\n\n', text) for text in (header, code, drop_in)]


def write_files(chosen):
    """{name: text} of what is written."""
    made = chosen.reached_texts(lambda texts: ''.join(write_library(texts, chosen))) if chosen else {}
    header, code, drop_in = write_library(made, chosen)
    files = {'cushim.h': header, 'cushim.c': code, 'cushim_untyped.h': write_untyped(made, chosen),
             'cushim.hpp': (PUBLIC / 'cushim.hpp').read_text(encoding='utf-8')}
    if chosen:
        files.update({'cushim.c': chosen.renamed_code(code), 'cushim_names.h': chosen.names()})
    if drop_in:
        files['cushim_cuda.c'] = drop_in
    return files


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--slots', action='append', default=[], type=pathlib.Path, metavar='FILE')
    parser.add_argument('--link', action='extend', nargs='+', default=[], type=pathlib.Path, metavar='OBJECT')
    parser.add_argument('--no-streams', action='store_true')
    parser.add_argument('--layers', action='store_true')
    parser.add_argument('--companions', action='store_true')
    parser.add_argument('--gpus', action='store_true')
    parser.add_argument('--require', action='append', default=[], metavar='CONDITION')
    parser.add_argument('--nvrtc', action='store_true')
    parser.add_argument('directory', nargs='?', type=pathlib.Path, metavar='DIRECTORY')
    given = parser.parse_args()
    if not given.directory:
        if len(given.link) < 2:
            parser.error('DIRECTORY is missing.')
        given.directory = given.link.pop()  # --link takes all words
    if given.directory.exists() and not given.directory.is_dir():
        parser.error(f'{given.directory} is not a directory.')
    for option in ('no_streams', 'layers', 'companions', 'gpus', 'nvrtc', 'require'):
        if getattr(given, option) and not given.slots and not given.link:
            parser.error(f'--{option.replace("_", "-")} needs --slots or --link.')
    chosen = None
    if given.slots or given.link:
        try:
            linked = objects.called_names(given.link) if given.link else []
            given.gpus = given.gpus or given.nvrtc
            given.companions = given.companions or given.gpus
            parts = {part for part in ('layers', 'companions', 'gpus', 'nvrtc') if getattr(given, part)}
            parts |= set() if given.no_streams else {'streams'}
            chosen = subset.Subset(given.slots, linked, systems_of_sources(), parts, given.require)
        except (objects.Error, subset.Error) as error:
            sys.exit(f'amalgamate.py: {error}')
    files = write_files(chosen)
    if not (given.directory / '.gitattributes').exists():
        files['.gitattributes'] = ''.join(f'{name} linguist-generated\n' for name in files)
    try:
        given.directory.mkdir(parents=True, exist_ok=True)
        replace_files(given.directory, files)
    except OSError as error:
        sys.exit(f'amalgamate.py: {error.filename or given.directory}: {error.strerror}. No file was changed.')


if __name__ == '__main__':
    main()
