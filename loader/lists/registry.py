#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the registry: what cushim knows of CUDA's driver, and the API of cushim, as data for other languages.

  loader/lists/registry.py [--readelf READELF] -o cushim.json [--constants HEADER] [COMPILER...]

Types, sizes, offsets, values and signatures are those that the compiler (cc) puts into the debug information of an
object file of cushim.h, with cushim's own types. REGISTRY.md describes the file. The header of --constants repeats
each constant that is a macro in C as a plain number, for readers of headers that understand no casts.
"""
import argparse
import ast
import json
import pathlib
import re
import sys

import debug_info
import entry_points as lists

# The first number changes if a reader of an older file has to change; the second one if keys, rows or kinds were added.
SCHEMA = '1.0'

ROOT = lists.HERE.parents[1]
STANDARD = '#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n'
HEADERS = '#include <cushim/cushim.h>\n#include <cushim/abi/egl.h>\n'
# Before the headers: they are read for both systems, whichever the compiler is for.
POSIX, WINDOWS = STANDARD + '#undef _WIN32\n', STANDARD + '#define _WIN32 1\n#undef __stdcall\n#define __stdcall\n'
FLAGS = ['-ffreestanding', '-DCUSHIM_OWN_TYPES=1', f'-I{ROOT / "include"}', f'-I{ROOT}']

# Macros whose value says how a program is compiled, and the guard of a header whose macros end the compilation.
OF_THE_BUILD = {'CUSHIM_OWN_TYPES', 'CUSHIM_CUDA_HEADER_VERSION', 'CUSHIM_INLINE_TABLE',
                'CUSHIM_DEFAULT_STREAM_AS_COMPILED'}
NO_CONFLICT = '-DCUSHIM_ABI_CONFLICT_H='
# A macro that is a number: casts, operators, literals and enumerators.
NUMBER = re.compile(r'(?:\((?:void \*|\w+)\)|[\s()~<|+*-]|0[xX][0-9a-fA-F]+[uUlL]*|\d+[uUlL]*|CU[A-Z]*_\w+)+')
# On Windows, the pointers to the tables are functions.
PROTOTYPE = re.compile(r'\b(cushim_(?!current_)\w+)\(([^;{}]*)\);')
# The keys whose rows stand on lines of their own.
BLOCKS = {'slots', 'types', 'constants', 'functions', 'errors', 'reasons', 'features', 'drivers', 'fields', 'values'}
DIRECTIONS = {'>': 'out', '<': 'in', '<>': 'inout'}


def is_ours(name):
    return name.lower().startswith(('cu', 'id3d', 'idxgi'))


def preprocess(compiler, source, *more):
    return debug_info.run([*compiler, '-x', 'c', '-E', '-P', '-D__attribute__(x)=', *more, '-'], source)


def rows(compiler, path):
    """The rows of a list that is kept as macros: each macro, and {parameter: argument}. A name is a string, too."""
    text = (ROOT / path).read_text(encoding='utf-8')
    parameters = dict(re.findall(r'^# +define (CUSHIM_\w+)\((.*)\)$', text, re.M))
    source = ''.join(f'#define {macro}(...) @@ "{macro}" #__VA_ARGS__\n' for macro in parameters)
    rows_text = preprocess(compiler, f'{source}#include "{path}"\n')
    for macro, cells in re.findall(r'@@ "(\w+)" ("(?:[^"\\]|\\.)*")', rows_text):
        call = ast.parse(f'row({ast.literal_eval(cells)})', mode='eval').body
        values = [one.id if isinstance(one, ast.Name) else ast.literal_eval(one) for one in call.args]
        yield macro, dict(zip(parameters[macro].split(', '), values))


def expanded(compiler, system):
    """{macro: what the preprocessor makes of it} of the macros of cushim's headers that have no parameters."""
    before, after = (set(re.findall(r'^#define (\w+) ', preprocess(compiler, source, '-dM', NO_CONFLICT), re.M))
                     for source in (system, system + HEADERS))
    names = sorted(after - before - OF_THE_BUILD)
    shown = ''.join(f'@@ "{name}" {name}\n' for name in names)
    text = preprocess(compiler, system + HEADERS + shown + '@@', NO_CONFLICT)
    return {name: value.strip() for name, value in re.findall(r'@@ "(\w+)" ([^@]*)', text)}


class Types:
    """What the compiler says about the headers: types, table (the slots), functions, macros (numbers), and the names
    of the pointers to the tables."""

    def __init__(self, compiler, readelf='readelf', system=POSIX):
        compiler, headers = [*compiler, *FLAGS], system + HEADERS
        macros = expanded(compiler, system)
        self.pointers = {kind: macros[f'CUSHIM_CURRENT_{kind.upper()}'] for kind in ('legacy', 'per_thread')}
        numbers = [name for name, value in macros.items() if NUMBER.fullmatch(value)]
        exported = set(re.findall(r'^\s+(\w+);', (ROOT / 'loader' / 'exports.map').read_text(encoding='utf-8'), re.M))
        prototypes = {name: parameters for name, parameters in PROTOTYPE.findall(preprocess(compiler, headers))
                      if name in exported}
        asked = [f'__typeof__(&{name}) function_{name};\n' for name in prototypes]
        asked += [f'__typeof__({name}) *type_{name};\nenum {{ value_{name} = (long long)({name}) }};\n'
                  for name in numbers]
        self.debug = debug_info.DebugInfo(compiler, headers + ''.join(asked), readelf)
        self.types, self.table, self.functions, kinds, values = {}, {}, {}, {}, {}
        for one in self.debug.top:
            name = self.debug.name(one)
            if name == 'cushim_dispatch_table' and 'byte_size' in one:
                self.table = {each['name']: self.signature(each['type']) for each in one['children']}
                self.types[name] = {'kind': 'table', 'tag': name, 'size': debug_info.number(one['byte_size'])}
                if self.types[name]['size'] != debug_info.POINTER_SIZE * len(self.table):
                    raise debug_info.DebugInfoError('the registry needs a compiler for a 64-bit processor')
            elif one['tag'] in debug_info.RECORDS and is_ours(name) and name not in self.types:
                self.add_record(one)
            elif one['tag'] == 'enumeration_type':
                values.update((each['name'], debug_info.number(each['const_value'])) for each in one['children'])
            elif one['tag'] == 'typedef' and is_ours(name) and name not in self.debug.names.values():
                self.add_typedef(name, self.text(one['type']))
            elif name.startswith('function_'):
                self.add_function(name[9:], prototypes[name[9:]], *self.signature(one['type']))
            elif name.startswith('type_'):
                # The name of a type to which a macro is cast is lost in some compilers.
                cast = re.match(r'\(\((\w+)\)', macros[name[5:]])
                kinds[name[5:]] = cast[1] if cast else self.text(one['type'])[1:]
        self.macros = {name: (values['value_' + name] % 2**64 if kinds[name] == 'u64' else values['value_' + name],
                              kinds[name]) for name in numbers}
        self.constants = {name: {'value': value, 'type': kind} for name, (value, kind) in self.macros.items()
                          if not self.add_enumerator(name, value, kind)}
        for one in self.types.values():
            if 'values' in one:
                one['values'] = dict(sorted(one['values'].items(), key=lambda pair: (pair[1], pair[0])))

    def text(self, reference):
        return self.debug.text(reference, is_ours)

    def signature(self, reference):
        return self.debug.signature(reference, is_ours)

    def add_typedef(self, name, target):
        kind = 'handle' if re.fullmatch(r'\*\w+_st', target) else 'function' if target.startswith('fn(') else 'alias'
        self.types[name] = {'kind': kind, 'type': target}

    def add_function(self, name, prototype, result, kinds):
        names = [] if prototype == 'void' else [(re.search(r'\(\*(\w+)\)', one) or re.search(r'(\w+)$', one))[1]
                                                for one in re.split(r',(?![^()]*\))', prototype)]
        self.functions[name] = {'returns': result, 'parameters': [
            {'name': own, 'type': kind, **({'direction': 'out'} if own.startswith('out_') else {})}
            for own, kind in zip(names, kinds)]}

    def add_enumerator(self, name, value, kind):
        """Adds a macro to the enum of its type, of which it is an enumerator in newer headers."""
        enum = self.types.get(kind, {})
        if enum.get('kind') == 'alias':
            enum = self.types.get(enum['type'], {})
        return enum.get('kind') == 'enum' and enum['values'].setdefault(name, value) == value

    def add_record(self, one):
        """Adds a struct, union or enum."""
        name = self.debug.name(one)
        entry = self.types[name] = {'kind': debug_info.RECORDS[one['tag']]}
        if 'name' in one:
            entry['tag'] = one['name']
        if 'declaration' in one:
            entry['kind'] = 'opaque'
            return
        entry['size'] = debug_info.number(one['byte_size'])
        if entry['kind'] == 'enum':
            entry.update(type=self.text(one['type']), values={
                each['name']: debug_info.number(each['const_value']) for each in one['children']})
            return
        entry.update(align=self.debug.alignment(one), fields=[])
        for member in one['children']:
            if member['tag'] == 'member':
                self.name_member(name, member)
                entry['fields'].append({'name': member.get('name', ''), 'type': self.text(member['type']),
                                        'offset': debug_info.number(member.get('data_member_location', '0'))})

    def name_member(self, outer, member):
        """An unnamed type is named by its member. An unnamed member has the name of the first member in it, so that no
        name depends on what stands in front of it."""
        inner = self.debug.entries[member['type']]
        if inner['tag'] not in debug_info.RECORDS or self.debug.name(inner):
            return
        name = f'{outer}_{member.get("name") or inner["children"][0]["name"]}'
        if name in self.types:
            raise debug_info.DebugInfoError(f'two types would be called {name}: give one of them a name in the header')
        self.debug.names[id(inner)] = name
        self.add_record(inner)
        self.types[name]['within'] = outer


def slot(one, result, kinds):
    """The row of an entry point."""
    row = {'name': one.slot_name, 'function': one.function, 'abi': int(one.abi[1:]), 'since': one.version,
           'symbol': one.symbol}
    if one.per_thread_symbol:
        row.update(per_thread_symbol=one.per_thread_symbol, per_thread_since=one.per_thread_version)
    if one.platform != 'all':
        row['platform'] = one.platform
    if one.plain:
        row['plain'] = one.plain
    parameters = [{'name': name, 'type': kind, 'c': c} for kind, (c, name) in zip(kinds, one.fields)]
    for parameter in parameters:
        if parameter['name'] in one.values:
            parameter['direction'] = DIRECTIONS[one.values[parameter['name']]]
    return {**row, 'role': one.role, 'returns': result, 'parameters': parameters}


def slots(table):
    listed = lists.in_slots(lists.read())
    if [one.slot_name for one in listed] != list(table):
        raise debug_info.DebugInfoError('entry_points.h differs from the list: run loader/lists/write_lists.py')
    return [slot(one, *table[one.slot_name]) for one in listed]


def features(compiler):
    """Each feature with what it needs: a list for each kind of row."""
    found = {}
    for macro, row in rows(compiler, 'include/cushim/features.h'):
        kind = macro.removeprefix('CUSHIM_FEATURE').lstrip('_').lower()
        if not kind:
            found[row['id']] = row
        else:
            cells = found[row.pop('id')].setdefault(kind, [])
            cells.append(row if len(row) > 1 else next(iter(row.values())))
    return list(found.values())


def add_windows(types, others):
    """Adds the types that differ on Windows. They may only be names of other types: a reader knows one layout."""
    for name, one in types.items():
        if one != others[name]:
            if {one['kind'], others[name]['kind']} != {'alias'}:
                raise debug_info.DebugInfoError(f'{name} has another layout on Windows')
            one['windows'] = others[name]['type']


def registry(compiler, readelf):
    """The registry, and the macros that are numbers."""
    known = Types(compiler, readelf)
    add_windows(known.types, Types(compiler, readelf, WINDOWS).types)
    compiler = [*compiler, *FLAGS]
    return {
        'schema': SCHEMA, 'cushim': (ROOT / 'loader' / 'version.txt').read_text(encoding='utf-8').strip(),
        'cuda': max(one.version for one in lists.read()), 'layout': '64-bit pointers, little-endian',
        'table': {'size': known.types['cushim_dispatch_table']['size'], **known.pointers},
        'slots': slots(known.table), 'types': dict(sorted(known.types.items())), 'constants': known.constants,
        'functions': dict(sorted(known.functions.items())),
        'errors': [row for _, row in rows(compiler, 'loader/lists/errors.inc')],
        'reasons': [row for _, row in rows(compiler, 'include/cushim/reasons.h')],
        'features': features(compiler),
        'drivers': [{'branch': one.branch, 'cuda': one.version, 'ptx': one.ptx} for one in lists.read_drivers()],
    }, known.macros


def text_of(value, key='types'):
    """As JSON, with each row, member and enumerator on a line of its own, so that a person can read what changed."""
    if not isinstance(value, (dict, list)):
        return json.dumps(value, ensure_ascii=False)
    is_block = key in BLOCKS
    rows_of = [f'{json.dumps(name)}:{text_of(one, name)}' for name, one in value.items()] if isinstance(value, dict) \
        else [text_of(one, '') for one in value]
    start, end = '{}' if isinstance(value, dict) else '[]'
    return start + '\n' * is_block + ('\n,' if is_block else ',').join(rows_of) + '\n' * is_block + end


def constants_header(macros):
    """Each macro that is a number, as a plain one."""
    lines = ''.join(f'#undef {name}\n#define {name} {value}\n' for name, (value, _) in sorted(macros.items()))
    return '/* Made by loader/lists/registry.py. Include it behind <cushim/cushim.h>. */\n' + lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--readelf', default='readelf')
    parser.add_argument('-o', dest='output', required=True)
    parser.add_argument('--constants')
    parser.add_argument('compiler', nargs=argparse.REMAINDER)
    given = parser.parse_args()
    try:
        data, macros = registry(given.compiler or ['cc'], given.readelf)
    except debug_info.DebugInfoError as error:
        sys.exit(f'registry.py: {error}')
    pathlib.Path(given.output).write_text(text_of(data) + '\n', encoding='utf-8')
    if given.constants:
        pathlib.Path(given.constants).write_text(constants_header(macros), encoding='utf-8')


if __name__ == '__main__':
    main()
