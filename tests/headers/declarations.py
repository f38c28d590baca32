# SPDX-License-Identifier: MIT
"""Parses the declarations in include/cushim/abi/*.h: the types with their members, the constants, and the gate of
each.

A gate is the version in "#if CUSHIM_CUDA_HEADER_VERSION < version": the CUDA version that added the declarations behind
it. It is 0 for those of the oldest supported Toolkit, hidden ones included. The parser knows as much C as those headers use.
"""
import re
import sys

import support

# Not declared by the driver's headers.
OURS = re.compile(r'CUSHIM_|CUDAAPI$|CUDA_CB$|CU_UUID_HAS_BEEN_DEFINED$')


class Declaration:
    def __init__(self, name, kind, gate):
        self.name, self.kind, self.gate = name, kind, gate
        self.members = []


def gated_lines(path):
    """The lines of a header, each with its gate, and without the directives except #define."""
    text = support.strip_comments(support.read(path)).replace('\\\n', ' ')
    open_conditions = []
    for line in text.splitlines():
        directive = re.match(r'\s*#\s*(\w+)\s*(.*)', line)
        if not directive:
            yield [gate for gate in open_conditions if gate is not None], line
        elif directive[1] in ('if', 'ifdef', 'ifndef', 'elif', 'else'):
            if directive[1] in ('elif', 'else'):
                open_conditions.pop()
            gate = re.fullmatch(r'CUSHIM_CUDA_HEADER_VERSION (?:< (\d+)|== (0)(?: \|\| !defined\(__CUDA_API_VERSION_INTERNAL\))?)', directive[2].strip())
            open_conditions.append(int(gate[1] or gate[2]) if gate else None)
        elif directive[1] == 'endif':
            open_conditions.pop()
        elif directive[1] == 'define':
            yield [gate for gate in open_conditions if gate is not None], line


def members(body, prefix=''):
    """The paths of all members in the body of a struct or union. Members of unnamed ones belong to the outer type,
    as in C."""
    result = []
    while body.strip():
        nested = re.match(r'\s*(?:struct|union)\s*\w*\s*\{', body)
        if nested:
            depth, end = 1, nested.end()
            while depth:
                depth += {'{': 1, '}': -1}.get(body[end], 0)
                end += 1
            inner, rest = body[nested.end():end - 1], body[end:]
            name, body = re.match(r'\s*(\w*)[^;]*;(.*)', rest, re.S).groups()
            if name:
                result.append(prefix + name)
            result += members(inner, prefix + name + '.' if name else prefix)
        else:
            member, body = re.match(r'([^;]*);(.*)', body, re.S).groups()
            result.append(prefix + re.search(r'(\w+)\s*(?:\[[^\]]*\])*\s*$', member)[1])
    return result


def typedef(text, gate):
    """One typedef, and the enumerators in it, as declarations."""
    text = re.sub(r'\b(?:alignas|_Alignas)\s*\(\d+\)|\bCUSHIM_ENUM_BASE\b', '', text)
    record = re.match(r'typedef (struct|union|enum)\s*\w*\s*\{(.*)\}\s*(\w+);', text, re.S)
    if not record:
        function = re.search(r'\(\s*(?:CUDA_CB)?\s*\*(\w+)\)\s*\(', text)
        return [Declaration(function[1] if function else re.search(r'(\w+)\s*(?:\([^()]*\))?;', text)[1],
                            'alias', gate)]
    result = [Declaration(record[3], record[1], gate)]
    if record[1] == 'enum':
        result += [Declaration(name, 'constant', gate) for name in re.findall(r'(\w+)\s*=', record[2])]
    else:
        result[0].members = members(record[2])
    return result


def read(paths):
    """All declarations of some headers, in order."""
    result = []
    for path in paths:
        pending, depth = '', 0
        for gates, line in gated_lines(path):
            macro = re.match(r'\s*#\s*define (\w+)(?!\() (.+)', line)
            if macro and not OURS.match(macro[1]):
                result.append(Declaration(macro[1], 'constant', gates[-1] if gates else None))
            if line.lstrip().startswith('#') or not (pending or line.startswith('typedef')):
                continue
            pending += ' ' + line.strip() if pending else line
            depth += line.count('{') - line.count('}')
            if depth == 0 and line.rstrip().endswith(';'):
                result += typedef(pending, gates[-1] if gates else None)
                pending = ''
    if not result:
        sys.exit('no declarations found')
    return result
