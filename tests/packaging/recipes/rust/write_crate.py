#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the crate cushim-sys from the registry: the types, the table with its typed slots, and the functions of cushim.

  write_crate.py cushim.json DIRECTORY

The directory gets the files beside this script, and what is made: src/lib.rs, tests/layout.rs, and the examples of
README.md. What the crate contains of cushim itself, amalgamate.py writes into its directory cushim/.
"""
import json
import pathlib
import re
import shutil
import sys

HERE = pathlib.Path(__file__).resolve().parent
COPIED = ('build.rs', 'tests/driver.rs')
KEYWORDS = {'as', 'box', 'dyn', 'enum', 'extern', 'fn', 'impl', 'in', 'loop', 'match', 'mod', 'move', 'mut', 'pub', 'ref',
            'trait', 'try', 'type', 'unsafe', 'use', 'where', 'yield'}
WORDS = {'void': 'c_void', 'char': 'c_char'}
# The alignment that Rust gives a type by its members is at most this one.
NATURAL_ALIGNMENT = 8

LICENSED = '// SPDX-' 'License-Identifier: MIT\n'
LAYOUT = LICENSED + '''//! Made from cushim.json: each size, alignment and offset, as a C compiler reported it.
#![allow(non_snake_case)]
use core::mem::{align_of, size_of, MaybeUninit};
use cushim_sys::*;

macro_rules! offset {
    ($whole:ident, $field:ident, $offset:expr) => {
        let field = unsafe { core::ptr::addr_of!((*$whole.as_ptr()).$field) };
        assert_eq!(field as usize - $whole.as_ptr() as usize, $offset, stringify!($field));
    };
}
'''


def name_of(word):
    return f'r#{word}' if word in KEYWORDS else word


class Crate:
    def __init__(self, data):
        self.data, self.types = data, data['types']

    def type(self, kind):
        """A type of the registry in Rust."""
        text, rest = self.read(kind)
        if rest:
            sys.exit(f'{kind}: not understood')
        return '()' if text == 'c_void' else text

    def read(self, kind):
        """One type, and what follows it."""
        if kind.startswith('const '):
            return self.read(kind[6:])
        if kind.startswith('['):
            length, _, inner = kind[1:].partition(']')
            text, rest = self.read(inner)
            return f'[{text}; {length}]', rest
        if kind.startswith('*'):
            # A pointer to a function is one pointer, which can be null.
            target = self.types.get(kind[1:], {})
            inner = target['type'] if target.get('kind') == 'function' else kind[1:]
            if inner.startswith('fn('):
                return self.read_function(inner[3:])
            text, rest = self.read(inner)
            return f'*{"const" if inner.startswith("const ") else "mut"} {text}', rest
        word = re.match(r'\w+', kind)[0]
        return WORDS.get(word, word), kind[len(word):]

    def read_function(self, kind):
        parameters = []
        while not kind.startswith(')'):
            text, kind = self.read(kind)
            parameters.append(text)
            kind = kind.removeprefix(', ')
        result, kind = self.read(kind[2:])
        arrow = '' if result == 'c_void' else f' -> {result}'
        return f'Option<unsafe extern "system" fn({", ".join(parameters)}){arrow}>', kind

    def signature(self, one):
        parameters = ', '.join(f'{name_of(each["name"])}: {self.type(each["type"])}' for each in one['parameters'])
        result = self.type(one['returns'])
        return f'({parameters})' + ('' if result == '()' else f' -> {result}')

    def fields(self, name):
        """(name in Rust, which knows no unnamed members; type; offset)."""
        fields = self.types[name]['fields']
        if sum(not field['name'] for field in fields) > 1:
            sys.exit(f'{name} has several unnamed members')
        return [(name_of(field['name'] or 'unnamed'), self.type(field['type']), field['offset']) for field in fields]

    def declare(self, name, one):
        kind = one['kind']
        if kind == 'enum':
            constants = [f'    pub const {own}: {name} = {name}({value});' for own, value in one['values'].items()]
            return ['#[repr(transparent)]', '#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]',
                    f'pub struct {name}(pub {one["type"]});', f'impl {name} {{', *constants, '}']
        if kind in ('struct', 'union'):
            demanded = f', align({one["align"]})' if one['align'] > NATURAL_ALIGNMENT else ''
            return [f'#[repr(C{demanded})]', '#[derive(Clone, Copy)]', f'pub {kind} {name} {{',
                    *(f'    pub {own}: {text},' for own, text, _ in self.fields(name)), '}']
        if kind == 'opaque':
            return ['#[repr(C)]', f'pub struct {name} {{', '    _private: [u8; 0],', '}']
        if kind == 'table':
            return ['/// The slots, in the order of the ABI.', '#[repr(C)]', f'pub struct {name} {{',
                    *(line for each in self.data['slots'] for line in self.declare_slot(each)), '}']
        if 'windows' in one:
            return [f'#[cfg(not(windows))]\npub type {name} = {self.type(one["type"])};',
                    f'#[cfg(windows)]\npub type {name} = {self.type(one["windows"])};']
        return [] if kind == 'function' else [f'pub type {name} = {self.type(one["type"])};']

    def declare_slot(self, one):
        return [f'    /// `{one["symbol"]}`, since CUDA {version_text(one["since"])}',
                f'    pub {one["name"]}: unsafe extern "system" fn{self.signature(one)},']

    def declare_constant(self, name, one):
        value, kind = one['value'], self.type(one['type'])
        if kind == 'i32' and value >= 0:
            kind = 'u32'  # most are flags
        is_pointer = kind.startswith('*') or self.types.get(one['type'], {}).get('kind') == 'handle'
        return f'pub const {name}: {kind} = {value}{f" as {kind}" if is_pointer else ""};'

    def declarations(self):
        lines = [line for name, one in self.types.items() for line in self.declare(name, one)]
        lines += [self.declare_constant(name, one) for name, one in self.data['constants'].items()]
        functions = [f'    pub fn {name}{self.signature(one)};' for name, one in self.data['functions'].items()]
        return [*lines, 'extern "C" {', *functions, '}']

    def layout(self):
        for name, one in self.types.items():
            if 'size' not in one:
                continue
            lines = [f'    assert_eq!(size_of::<{name}>(), {one["size"]});']
            if 'align' in one:
                lines.append(f'    assert_eq!(align_of::<{name}>(), {one["align"]});')
            fields = [(own, offset) for own, _, offset in self.fields(name)] if 'fields' in one else []
            if one['kind'] == 'table':
                fields = [(each['name'], 8 * index) for index, each in enumerate(self.data['slots'])]
            if fields:
                lines.append(f'    let whole = MaybeUninit::<{name}>::zeroed();')
            lines += [f'    offset!(whole, {own}, {offset});' for own, offset in fields]
            yield '\n'.join(['', '#[test]', f'fn test_{name}_when_compiled_has_its_layout() {{', *lines, '}', ''])


def version_text(version):
    return f'{version // 1000}.{version % 1000 // 10}'


def main(path, directory):
    data = json.loads(pathlib.Path(path).read_text(encoding='utf-8'))
    if data['schema'].split('.')[0] != '1':
        sys.exit(f'write_crate.py reads schema 1, and {path} has {data["schema"]}')
    crate, out = Crate(data), pathlib.Path(directory)
    words = {'VERSION': data['cushim'], 'COUNT': len(data['slots']), 'CUDA': version_text(data['cuda']),
             'LEGACY': data['table']['legacy'], 'PER_THREAD': data['table']['per_thread'],
             'DECLARATIONS': '\n'.join(crate.declarations()), 'ERRORS': '\n'.join(
                 f'            {one["value"]} => ("{one["name"]}", {json.dumps(one["sentence"])}),' for one in data['errors'])}
    made = {name: (HERE / f'{name}.in').read_text(encoding='utf-8') for name in ('Cargo.toml', 'src/lib.rs')}
    made = {name: re.sub(r'@(\w+)@', lambda word: str(words[word[1]]), text) for name, text in made.items()}
    made['tests/layout.rs'] = LAYOUT + ''.join(crate.layout())
    # The page of the crate has no links into the tree.
    made['README.md'] = re.sub(r'\[(.*?)\]\(\.\./.*?\)', r'\1', (HERE / 'README.md').read_text(encoding='utf-8'))
    programs = re.findall(r'^```rust\n(.*?)^```', made['README.md'], re.M | re.S)
    for name, program in zip(('gpus', 'graph'), programs, strict=True):
        made[f'examples/{name}.rs'] = LICENSED + program
    for name in COPIED:
        made[name] = (HERE / name).read_text(encoding='utf-8')
    for name, text in made.items():
        (out / name).parent.mkdir(parents=True, exist_ok=True)
        (out / name).write_text(text, encoding='utf-8')
    shutil.copy(HERE.parents[3] / 'LICENSE', out)


if __name__ == '__main__':
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
