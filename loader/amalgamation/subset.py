# SPDX-License-Identifier: MIT
"""A subset, for amalgamate.py --slots: which slots it has, and the text of each source that depends on them.

The writers of the lists write the list with the slots of the subset, and with all ABI versions of their functions
as rows. The polyfills are cut to those of the subset, the types to those that it reaches (reached.py), and the texts of
error codes to those that the sources name. Other parts are left out as whole files.
"""
import pathlib
import re
import sys
import textwrap
import zlib

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position
import reached  # pylint: disable=wrong-import-position
import write_headers  # pylint: disable=wrong-import-position
import write_tables  # pylint: disable=wrong-import-position

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
LOADER = ROOT / 'loader'
PUBLIC = ROOT / 'include' / 'cushim'
POLYFILLS = [LOADER / f'polyfills_{name}.c' for name in ('context', 'graph', 'stream')]
RULES = LOADER / 'polyfills.c'
STREAM_HEADERS = [PUBLIC / f'{name}.h' for name in ('capture', 'completion', 'context', 'event', 'graph', 'stream')]
# No subset has the features of feature.h, which would need more than 60 slots.
FEATURES = {LOADER / 'feature.c': HERE / 'feature_none.c'}
COMPANIONS = {LOADER / 'companion.c': None}
# The search for GPUs asks NVML, a companion, so it needs those, too.
GPUS = {LOADER / 'gpu.c': None, LOADER / 'gpu_nvml.c': None, LOADER / 'is_started.c': None,
        LOADER / 'condition_gpus.c': None, LOADER / 'gpu_visible_text.c': None,
        LOADER / 'gpu_list.c': HERE / 'gpu_none.c'}
# The search for NVRTC asks for the GPUs.
NVRTC = {LOADER / 'nvrtc.c': None, LOADER / 'nvrtc_list.c': None}
LAYERS = {LOADER / 'layer.c': None, LOADER / 'layer_stack.c': None, LOADER / 'layer_tables.c': HERE / 'layer_none.c'}
# The types that are cut. conflict.h, cuda_abi.h, mode.h and result.h stay as they are.
TYPES = [PUBLIC / 'abi' / f'{name}.h' for name in ('device', 'external', 'graph', 'handles', 'interop', 'memory',
                                                   'module', 'process', 'retired', 'sharing', 'stream')]
ERRORS = LOADER / 'lists' / 'errors.inc'

SOURCE_SUFFIXES = ('.c', '.cc', '.cpp', '.cu', '.cuh', '.cxx', '.h', '.hh', '.hpp', '.hxx', '.inc', '.inl', '.m', '.mm')
COMMENT = re.compile(r'/\*.*?\*/|//[^\n]*', re.S)
# In a source of another project, a string or a character can contain the start of a comment.
STRING_OR_COMMENT = re.compile(r'("(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\')|/\*.*?\*/|//[^\n]*', re.S)
NEED = re.compile(r'((cuda|driver|arch|memory)(>=|<))?[\w.-]+$')
SLOT = re.compile(r'\b(?:CUSHIM_SLOT_)?([A-Z]\w*_v\d+)\b')
CASE = re.compile(r'\bcase CUDA_ERROR_\w+:')
RULE = re.compile(r'^    RULE.*\),\n', re.M)
POLYFILL = re.compile(r'\b(?:SHARED_)?POLYFILL\((\w+)\)')

NAMES_HEAD = '''/* SPDX-License-Identifier: MIT */
/*
 * cushim_names.h: the names of <cuda.h> for the functions of the subset, as macros, so that existing calls compile
 * unchanged: cuStreamQuery(stream) means cushim_table()->StreamQuery_v1(stream). Written by loader/amalgamation/amalgamate.py.
 *
 * A plain name means what it means in the <cuda.h> of CUSHIM_NAMES_VERSION. The default is the version of the <cuda.h>
 * in use or, with cushim's own types, the newest version. Include this header after those of NVIDIA. It must not be
 * included in a file with a struct that has members of these names.
 *
 * %s
 */
#ifndef CUSHIM_NAMES_H
#define CUSHIM_NAMES_H

#include "cushim.h"

''' + write_headers.NAMES_VERSION


class Error(Exception):
    """The request cannot be met. The text is a sentence."""


def read_list(path):
    try:
        return path.read_text(encoding='utf-8-sig', errors='replace')
    except OSError as error:
        raise Error(f'{path}: {error.strerror}') from error


def words_of(path):
    """The words of a list of functions, or those words of a source file that can be functions; and whether it is a
    source file, which also has other words. Any file with more than words and comments is one: an X-macro list."""
    text = read_list(path)
    listed = re.sub(r'#.*|,', ' ', text).split()
    if path.suffix.lower() not in SOURCE_SUFFIXES and all(re.fullmatch(r'\w+', word) for word in listed):
        return listed, False
    return re.findall(r'\b(?:cu[A-Z]\w*|(?:CUSHIM_SLOT_)?[A-Z]\w*_v\d+)\b',
                      STRING_OR_COMMENT.sub(lambda match: match[1] or ' ', text)), True


def find(word, entry_points):
    """The entry points that a word means. A plain name means each that it has meant in a <cuda.h>."""
    word = re.sub(r'^CUSHIM_SLOT_|_pt[sd][zs]$', '', word)
    found = [one for one in entry_points if one.slot_name == word or (one.symbol == word and one.abi != 'v1')]
    return found or [one for _, one in lists.plain_meanings(word, entry_points)]


def exports_of(one):
    """What exports.inc makes of an entry point: a row for each exported name."""
    return [write_headers.typed_row(f'CUSHIM_EXPORT({symbol}, {kind}, {one.name}, {one.abi}, ', one)
            for kind, (symbol, _) in zip(('legacy', 'per_thread'), one.exports)]


def exported_name(row):
    """The name in such a row."""
    return row.split('(')[1].split(',')[0]


def choose(paths, linked, entry_points):
    """The entry points that files name, and those of exported names."""
    chosen = [one for one in entry_points if any(symbol in linked for symbol, _ in one.exports)]
    for path in paths:
        words, is_source = words_of(path)
        for word in dict.fromkeys(words):
            found = find(word, entry_points)
            if not found and not is_source:
                raise Error(f'{path}: the driver has no function {word}, as far as cushim knows.')
            chosen += found
    if not chosen:
        raise Error(f'{", ".join(map(str, [*paths, *linked]))}: no function of the driver is named.')
    return [one for one in lists.in_slots(entry_points) if one in chosen]


def read(path):
    return path.read_text(encoding='utf-8')


def replace(path, pattern, text):
    """The text of a source, in which exactly one place changes."""
    changed, count = re.subn(pattern, text, read(path), flags=re.M)
    if count != 1:
        raise ValueError(f'{path}: {count} places match {pattern}')
    return changed


class Declaration:
    """One declaration of a file with polyfills. The files have an empty line between two."""

    def __init__(self, text):
        self.text, code = text, COMMENT.sub('', text).lstrip()
        self.is_of_all = code.startswith('#')
        self.slots = set(SLOT.findall(code))
        # The first one is what it declares. A macro declares its first argument.
        self.names = POLYFILL.findall(code) or SLOT.findall(code)


def declarations(path):
    return [Declaration(text) for text in re.split(r'\n\n(?=[^\s}])', read(path).rstrip('\n'))]


def cut_sources(sources, parts):
    """The files that are compiled for a subset."""
    instead = {**FEATURES, **({} if 'layers' in parts else LAYERS), **({} if 'companions' in parts else COMPANIONS),
               **({} if 'gpus' in parts else GPUS), **({} if 'nvrtc' in parts else NVRTC)}
    for path in sources:
        if 'streams' in parts or path.is_relative_to(LOADER):
            path = instead.get(path, path)
            if path:
                yield path


class Subset:
    """The chosen entry points, and those that they and the sources of cushim need."""

    def __init__(self, paths, linked, sources, parts, needs):
        """From the files that name functions, and the exported names that a program links to. `sources`: the files of
        the library; `parts`: which of streams, layers, companions and gpus the subset has; `needs`: the conditions that
        the program cannot do without."""
        self.all = lists.read()
        self.paths, self.linked = paths, linked
        self.exports = [row for one in self.all for row in exports_of(one) if exported_name(row) in linked]
        self.chosen = choose(paths, linked, self.all)
        self.has_parts = parts
        self.needs = needs
        for need in needs:
            has_sign = re.match(r'\d|.*[<>]', need)
            if not NEED.match(need) or not (has_sign or find(need, self.all)):
                raise Error(f'--require: "{need}" is not a condition such as cuda>=12.0 or cuStreamGetId.')
        self.sources = list(cut_sources(sources, parts))
        self.parts = {path: declarations(path) for path in POLYFILLS}
        known = {one.slot_name for one in self.all}
        slots = {one.slot_name for one in self.chosen}
        for path in self.sources:
            if path != RULES and path not in POLYFILLS:
                slots |= known.intersection(SLOT.findall(COMMENT.sub('', read(path))))
        self.slots, self.polyfills = self.close(slots, known)
        self.kept = [one for one in lists.in_slots(self.all) if one.slot_name in self.slots]
        functions = {one.function for one in self.kept}
        self.rows = [one for one in self.all if one.function in functions]
        self.typed_list = write_headers.write_entry_points(self.all, self.kept)
        self.version = read(LOADER / 'version.txt').strip()
        # Also of the lists: two projects can have equal slots and different headers.
        listed = ' '.join([*map(read_list, paths), *linked])
        self.checksum = zlib.crc32(f'{self.description()} {self.typed_list} {listed}'.encode())
        self.mark = f'{self.checksum:08x}'

    def close(self, slots, known):
        """Adds the slots that polyfills of the subset call. Returns all slots, and the declarations that stay."""
        rules = [SLOT.findall(rule) for rule in RULE.findall(read(RULES))]
        by_name = {part.names[0]: part for parts in self.parts.values() for part in parts if part.names}
        needed, before = set(), None
        while before != (len(slots), len(needed)):
            before = len(slots), len(needed)
            for slot, *via in rules:
                if slot in slots:
                    slots = slots.union(via)
                    needed.add(slot)
            for name in list(needed):
                slots = slots | (by_name[name].slots & known)
                needed.update(by_name.keys() & by_name[name].names)
        return slots, needed

    def cut_polyfills(self, path):
        parts = [part.text for part in self.parts[path]
                 if part.is_of_all or (part.names and part.names[0] in self.polyfills)]
        return '\n\n'.join(parts) + '\n'

    def cut_rules(self):
        return RULE.sub(lambda rule: rule[0] if SLOT.search(rule[0])[1] in self.slots else '', read(RULES))

    def cut_releases(self):
        """The subset has its own pair of pointers, in place of those of the releases."""
        path = PUBLIC / 'table_releases.h'
        text = re.sub(r'^CUSHIM_TABLE_VERSION\(.*\n', '', read(path), flags=re.M)
        row = f'CUSHIM_TABLE_VERSION(of_subset_{self.mark}, {len(self.kept)})\n'
        text, count = re.subn(r'^(?=/\* The newest pair)', row + '\n', text, flags=re.M)
        text, pointers = re.subn(r'(cushim_current_(?:legacy|per_thread))_\w+$', rf'\1_of_subset_{self.mark}', text,
                                 flags=re.M)
        if (count, pointers) != (1, 2):
            raise ValueError(f'{path} is not as expected')
        return text

    def left_out(self):
        """The headers that the subset does not have."""
        return [PUBLIC / 'feature.h', *([] if 'streams' in self.has_parts else STREAM_HEADERS),
                *(PUBLIC / f'{name}.h' for part, name in (('layers', 'layer'), ('companions', 'companion'), ('gpus', 'gpu'),
                                                          ('nvrtc', 'nvrtc'))
                  if part not in self.has_parts),
                *([] if 'CUeglFrame_st' in self.typed_list else [PUBLIC / 'abi' / 'egl.h'])]

    def texts(self):
        """{path: its text} of the sources that depend on the functions, but for types and errors."""
        made = {
            PUBLIC / 'entry_points.h': self.typed_list,
            LOADER / 'lists' / 'symbols.inc': write_tables.write_symbols(self.rows),
            PUBLIC / 'table_releases.h': self.cut_releases(),
            RULES: self.cut_rules(),
            **{path: self.cut_polyfills(path) for path in POLYFILLS},
            **dict.fromkeys(self.left_out(), ''),
        }
        if 'layers' in self.has_parts:
            made[PUBLIC / 'layer.h'] = replace(PUBLIC / 'layer.h', r'^(#define CUSHIM_LAYER_VERSION) 1$',
                                               rf'\1 {self.checksum | 1 << 31:#x}u')
        return made

    def reached_texts(self, write):
        """The same, with the types and errors that are reached. `write` returns all that is written with such texts."""
        made = self.texts()
        without = [*TYPES, ERRORS, PUBLIC / 'abi' / 'conflict.h', PUBLIC / 'abi' / 'result.h']
        text = write({**made, **dict.fromkeys(without, '')})
        used = reached.words(text)
        returned = reached.words(CASE.sub('', text))  # a code with which one is compared comes from the driver
        headers = {path: reached.Header(read(path)) for path in TYPES}
        functions = {name for one in self.chosen for name in (one.symbol, one.function)}
        reached.reach(headers.values(), used, functions)
        lines = read(ERRORS).splitlines(keepends=True)
        made[ERRORS] = ''.join(line for line in lines if not line.startswith('CUSHIM_ERROR(')
                               or line[len('CUSHIM_ERROR('):].split(',')[0] in returned)
        return {**made, **{path: header.text() for path, header in headers.items()}}

    def names(self):
        """The text of cushim_names.h. A chosen function has all of its names: one that means an entry point outside the
        subset does not compile."""
        return write_headers.write_names(NAMES_HEAD, self.all, {one.function for one in self.chosen})

    def description(self):
        """The part of the first comment of cushim.h that says how the subset was made."""
        def listed(entry_points):
            names = ' '.join(one.slot_name for one in entry_points) or 'none'
            return textwrap.fill(names, 110, initial_indent=' *   ', subsequent_indent=' *   ') + '\n'
        options = ' --link OBJECT...' * bool(self.linked) + ''.join(f' --slots {path.name}' for path in self.paths)
        options += ' --no-streams' * ('streams' not in self.has_parts)
        options += ''.join(f" --require '{need}'" for need in self.needs)
        options += ''.join(f' --{part}' for part in ('layers', 'companions', 'gpus', 'nvrtc') if part in self.has_parts)
        added = [one for one in self.kept if one not in self.chosen]
        return f'''
 *
 * It is cushim {self.version} with {len(self.kept)} of {len(self.all)} slots, made by
 *
 *   loader/amalgamation/amalgamate.py{options} DIRECTORY
 *
 * A slot that is not listed here does not compile. To use another function of the driver, add it to the named file and
 * run the command again. Chosen:
 *
{listed(self.chosen)} *
 * Needed by cushim, and by the polyfills of chosen slots:
 *
{listed(added)}'''

    def renamed(self, header):
        """Macros for the public names, so that two subsets in one static link are two libraries; and for the name of
        the table, which compilers print when a program uses a slot that is not in the subset."""
        code = re.sub(r'^\s*#\s*define\b(?:[^\n]*\\\n)*[^\n]*', '', COMMENT.sub('', header), flags=re.M)
        names = sorted({'cushim_library', *re.findall(r'\bCUSHIM_API\b[^;{]*?\b(cushim_\w+)\(', code)})
        return '''
/* Two subsets in one static link are two libraries, so their names carry a checksum. */
''' + ''.join(f'#define {name} {name}_{self.mark}\n' for name in names) + f'''
#define cushim_dispatch_table cushim_table_without_that_slot_see_the_head_of_cushim_h_{self.mark}

'''

    def renamed_code(self, code):
        return re.sub(r'\bcush_', f'cush_{self.mark}_', code)
