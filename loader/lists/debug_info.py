# SPDX-License-Identifier: MIT
"""The types of a piece of C, as a compiler describes them in the debug information of an object file.

Nothing is run, so that a cross compiler does as well. The text is that of readelf or, for Windows, of objdump.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

# Last, so that nothing in the command of the compiler takes effect that would hide or move the debug information.
FLAGS = ['-x', 'c', '-std=gnu11', '-w', '-O0', '-fno-lto', '-g', '-gdwarf-4', '-gno-strict-dwarf',
         '-gno-split-dwarf', '-gz=none', '-fno-debug-types-section', '-fno-eliminate-unused-debug-types', '-c', '-']
RECORDS = {'structure_type': 'struct', 'union_type': 'union', 'enumeration_type': 'enum'}
# Of base types, by their encoding: DW_ATE_float, and signed and unsigned numbers and characters.
LETTERS = {4: 'f', 5: 'i', 6: 'i', 7: 'u', 8: 'u'}
DW_ATE_BOOLEAN = 2
POINTER_SIZE = 8

ENTRY = re.compile(r' <(\w+)><(\w+)>: Abbrev Number: \d+ \(DW_TAG_(\w+)\)')
ATTRIBUTE = re.compile(r' +<\w+> +DW_AT_(\w+) *: (?:\([^)]*\):? *)*(.*)')
# To readelf before 2.29.
UNKNOWN_ALIGNMENT = 'Unknown AT value: 88:'
REFERENCE = re.compile(r'<0x(\w+)>(?:, .*)?')


class DebugInfoError(Exception):
    """The types cannot be read; the text says why."""


def run(command, source=None):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=source, text=True,
                              check=False)
    except FileNotFoundError as error:
        raise DebugInfoError(f'{command[0]} is not installed') from error
    if done.returncode:
        raise DebugInfoError(f'{" ".join(map(str, command))}:\n{done.stderr}')
    return done.stdout


def number(text):
    return int(text.split()[0], 0)


class DebugInfo:
    """Each entry is {attribute: its text, or the offset of another entry}, with "tag" and "children"."""

    def __init__(self, compiler, source, readelf):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / 'types.o'
            run([*compiler, *FLAGS, '-o', path], source)
            is_elf = path.read_bytes().startswith(b'\x7fELF')
            text = run([readelf, '--debug-dump=info', '--wide', path] if is_elf else ['objdump', '--dwarf=info', path])
        self.entries, stack = {}, []
        for line in text.replace(UNKNOWN_ALIGNMENT, 'DW_AT_alignment:').splitlines():
            entry, attribute = ENTRY.match(line), ATTRIBUTE.match(line)
            if entry:
                one = {'tag': entry[3], 'children': []}
                self.entries[int(entry[2], 16)] = one
                del stack[int(entry[1], 16):]
                if stack:
                    stack[-1]['children'].append(one)
                stack.append(one)
            elif attribute and stack:
                reference = REFERENCE.fullmatch(attribute[2])
                stack[-1][attribute[1]] = int(reference[1], 16) if reference else attribute[2].strip()
        if not self.entries:
            raise DebugInfoError(f'{compiler[0]} writes no debug information that {readelf} can read')
        self.top = next(iter(self.entries.values()))['children']
        # A struct, union or enum has the name of its first typedef, else its tag. Unnamed members get names later.
        self.names = {}
        for one in self.top:
            target = self.entries.get(one.get('type'))
            if one['tag'] == 'typedef' and target and target['tag'] in RECORDS and 'declaration' not in target:
                self.names.setdefault(id(target), one['name'])

    def name(self, entry):
        return self.names.get(id(entry)) or entry.get('name', '')

    def text(self, reference, is_ours):
        """A type as one string. A typedef for which is_ours() is false stands for its target."""
        if reference is None:
            return 'void'
        one = self.entries[reference]
        tag, inner = one['tag'], one.get('type')
        if tag == 'base_type':
            encoding = number(one['encoding'])
            if encoding == DW_ATE_BOOLEAN or one['name'] == 'char':
                return 'char' if one['name'] == 'char' else 'bool'
            return f'{LETTERS[encoding]}{8 * number(one["byte_size"])}'
        if tag == 'typedef' and not is_ours(one['name']):
            return 'usize' if one['name'] == 'size_t' else self.text(inner, is_ours)
        if tag in ('pointer_type', 'const_type'):
            return {'pointer_type': '*', 'const_type': 'const '}[tag] + self.text(inner, is_ours)
        if tag == 'array_type':
            lengths = [number(each['count']) if 'count' in each else number(each['upper_bound']) + 1
                       for each in one['children']]
            return ''.join(f'[{length}]' for length in lengths) + self.text(inner, is_ours)
        if tag == 'subroutine_type':
            result, parameters = self.signature(reference, is_ours)
            return f'fn({", ".join(parameters)}) {result}'
        return one['name'] if tag == 'typedef' else self.name(one)

    def signature(self, reference, is_ours):
        """The result and the types of the parameters of a function type, to which pointers and typedefs may lead."""
        one = self.entries[reference]
        while one['tag'] in ('pointer_type', 'typedef'):
            one = self.entries[one['type']]
        return (self.text(one.get('type'), is_ours),
                [self.text(each['type'], is_ours) for each in one['children'] if each['tag'] == 'formal_parameter'])

    def alignment(self, one):
        """The alignment of a type, which debug information has only where a declaration demands it."""
        if one['tag'] == 'pointer_type':
            return POINTER_SIZE
        if one['tag'] in ('typedef', 'const_type', 'array_type'):
            return self.alignment(self.entries[one['type']])
        if one['tag'] in ('structure_type', 'union_type'):
            return max([number(one.get('alignment', '1')), *(
                max(number(each.get('alignment', '1')), self.alignment(self.entries[each['type']]))
                for each in one['children'] if each['tag'] == 'member')])
        return number(one['byte_size'])
