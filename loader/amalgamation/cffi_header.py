#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints a header of cushim as declarations alone, which cffi's cdef() reads: without inline functions, and with numbers
as the values of enumerators and of macros.

  loader/amalgamation/cffi_header.py HEADER [COMPILER...] >cushim_cffi.h

HEADER is include/cushim/cushim.h, or one that amalgamate.py wrote. The types are cushim's own, for 64-bit machines. The
compiler (cc) runs as a preprocessor. A Python program calls cushim_table_get(kind) in place of cushim_table(), because
cffi calls no inline functions. An extension (set_source) includes the header that registry.py --constants writes behind
that of cushim: cffi also compiles the constants that are pointers, as numbers.
"""
import ast
import operator
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / 'loader' / 'lists'))
import debug_info  # pylint: disable=wrong-import-position
import registry  # pylint: disable=wrong-import-position
# cffi knows size_t, uint64_t and bool.
STANDARD_HEADERS = ('stdbool.h', 'stddef.h', 'stdint.h')
INLINE = re.compile(r'^static inline\b.*?^\}\n', re.M | re.S)
# The alignment of CUtensorMap; its size is a multiple of it.
# The names of a subset carry a checksum in C alone.
RENAMED = re.compile(r'^#define cushim_\w+ cushim_\w+_[0-9a-f]{8}\n', re.M)
NOT_DECLARED = re.compile(r'_Alignas\(\d+\)|^;\n', re.M)
LENGTH = re.compile(r'\[([^\]]*\bsizeof\b[^\]]*)\]')
ENUM = re.compile(r'(\benum\b[^{;]*\{)([^}]*)\}')
OPERATORS = {ast.BitOr: operator.or_, ast.LShift: operator.lshift, ast.Add: operator.add, ast.Sub: operator.sub,
             ast.USub: operator.neg, ast.Invert: operator.invert}


# cffi needs the size of what a slot takes by value. cushim.h only declares the name of this type.
INCOMPLETE = re.compile(r'\bstruct CUeglFrame_st (?!\*)')


def preprocess(header, compiler, more='', flag='-P'):
    with tempfile.TemporaryDirectory() as directory:
        for name in STANDARD_HEADERS:
            (pathlib.Path(directory) / name).touch()
        source = pathlib.Path(directory) / 'source.c'
        source.write_text(RENAMED.sub('', header.read_text(encoding='utf-8')) + more, encoding='utf-8')
        command = [*compiler, '-E', flag, '-nostdinc', '-I', directory, '-I', ROOT / 'include', '-DCUSHIM_OWN_TYPES=1',
                   '-D__attribute__(x)=', '-D_Static_assert(a,b)=', source]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout


def length_of(match):
    """A length of padding, in which sizeof is that of a pointer or of an enum."""
    text = re.sub(r'sizeof\([^()]*\*\)', '8', match[1])
    return f'[{value_of(ast.parse(re.sub(r"sizeof.CU[a-zA-Z]*ID.", "4", text), mode="eval").body, {})}]'


def value_of(node, known):
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Name):
        return known[node.id]
    if isinstance(node, ast.UnaryOp):
        return OPERATORS[type(node.op)](value_of(node.operand, known))
    return OPERATORS[type(node.op)](value_of(node.left, known), value_of(node.right, known))


def with_numbers(text):
    """The text with each enumerator's value as a number."""
    known = {}

    def number(match):
        rows, value = [], -1
        for row in match[2].split(','):
            name, _, expression = (part.strip() for part in row.partition('='))
            if not name:
                continue
            expression = re.sub(r'\b(0[xX][0-9a-fA-F]+|\d+)[uUlL]+\b', r'\1', expression)
            value = value_of(ast.parse(expression, mode='eval').body, known) if expression else value + 1
            known[name] = value
            rows.append(f'    {name} = {value},\n')
        return match[1] + '\n' + ''.join(rows) + '}'
    return ENUM.sub(number, text)


def macros(header, compiler, more):
    """The macros of the header that are numbers. Enumerators that a later CUDA version added are among them."""
    defined = re.findall(r'^#define (\w+) ', preprocess(header, compiler, more, '-dM'), re.M)
    numbers = registry.Types(compiler).macros
    return ''.join(f'#define {name} {numbers[name][0]}\n' for name in sorted(defined) if name in numbers)


def main(header, *compiler):
    header, compiler, more = pathlib.Path(header), compiler or ['cc'], ''
    text = preprocess(header, compiler)
    if INCOMPLETE.search(text):
        more = '#include <cushim/abi/egl.h>\n'
        text = preprocess(header, compiler, more)
    try:
        numbers = macros(header, compiler, more)
    except debug_info.DebugInfoError as error:
        sys.exit(f'cffi_header.py: {error}')
    print(LENGTH.sub(length_of, with_numbers(NOT_DECLARED.sub('', INLINE.sub('', text)))) + numbers, end='')


if __name__ == '__main__':
    if len(sys.argv) < 2 or not pathlib.Path(sys.argv[1]).is_file():
        sys.exit(__doc__)
    main(*sys.argv[1:])
