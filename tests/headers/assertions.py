# SPDX-License-Identifier: MIT
"""Static assertions of the numbers in the registry, for any compiler: pairs of an expression and its value."""
import re

from support import lists

TABLE = 'struct cushim_dispatch_table'
HEAD = '''#include "cushim/cushim.h"
#include "cushim/abi/egl.h"
#ifdef __cplusplus
#define TRUE static_assert
#else
#define TRUE _Static_assert
#define alignof _Alignof
#endif
'''


def of_table():
    """The order of the slots, which is the same in every mode and with every Toolkit."""
    slots = lists.in_slots(lists.read())
    yield f'sizeof({TABLE})', 8 * len(slots)
    yield from ((f'offsetof({TABLE}, {one.slot_name})', 8 * index) for index, one in enumerate(slots))


def paths(types, name, prefix='', base=0):
    """(path, offset) of each member of a struct, with those of its unnamed structs."""
    for field in types[name]['fields']:
        if field['name']:
            yield prefix + field['name'], base + field['offset']
        if types.get(field['type'], {}).get('within') == name:
            yield from paths(types, field['type'], prefix + field['name'] + '.' if field['name'] else prefix,
                             base + field['offset'])


def of_types(data):
    """Sizes, alignments, offsets and values, with cushim's own types."""
    types = data['types']
    for name, one in types.items():
        spelled = f'{one["kind"]} {name}' if one.get('tag') == name else name
        if 'fields' in one and 'within' not in one:
            yield f'alignof({spelled})', one['align']
            yield from ((f'offsetof({spelled}, {path})', offset) for path, offset in paths(types, name))
        if 'size' in one and 'within' not in one and one['kind'] != 'table':
            yield f'sizeof({spelled})', one['size']
        # An enum is an int with Microsoft's compiler, and unsigned in C++.
        yield from ((f'(unsigned int)({own})', f'{value % 2**32}u') for own, value in one.get('values', {}).items())
    for name, one in data['constants'].items():
        # A pointer that was a number is not a constant expression.
        if not one['type'].startswith('*') and types.get(one['type'], {}).get('kind') != 'handle':
            yield f'(unsigned long long)({name})', f'{one["value"] % 2**64}u'


def source(language, rows):
    # In C++, a struct with a tag alone belongs to the one in which it is declared.
    return HEAD + ''.join(f'TRUE({expression} == {value}, "{expression}");\n' for expression, value in rows
                          if language.name == 'c' or not re.search(r'struct \w+_st\b', expression))
