#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes what trace makes of cushim's list of entry points: rows for macros of C, which the including file defines.

  make_lists.py FILE...

  fields.inc         the parameters of each slot, for the layer
  placed.inc         the slots whose calls are recorded with their place, for the layer
  sampled.inc        the slots of which the first calls have their lines of Python, for the layer
  numbers.inc        the functions, and the types of parameters and of the flags in file/flags.inc
  enumerators.inc    the values of those types that are enums
  roles.inc          the functions that are more than TRACE_OTHER to streams and captures, for the reports
"""
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.dont_write_bytecode = True
sys.path.insert(0, str(ROOT / 'loader' / 'lists'))
import entry_points as lists  # pylint: disable=wrong-import-position
import toolkit as headers  # pylint: disable=wrong-import-position

DIRECTIONS = {'>': 'OUT', '<': 'IN', '<>': 'IN_OUT'}


# These create what programs forget, free it, or load code: their calls have a place, as those that synchronize.
PLACED = """
    cuMemAlloc cuMemAllocPitch cuMemAllocManaged cuMemAllocHost cuMemHostAlloc cuMemHostRegister cuMemHostUnregister
    cuMemCreate cuMemRelease cuMemFree cuMemFreeHost cuArrayCreate cuArray3DCreate cuArrayDestroy cuCtxCreate
    cuCtxDestroy cuCtxSetLimit cuStreamCreate cuStreamCreateWithPriority cuModuleLoad cuModuleLoadData
    cuModuleLoadDataEx cuModuleLoadFatBinary cuModuleUnload cuLibraryLoadData cuLibraryLoadFromFile cuLibraryUnload
    cuKernelGetFunction cuGraphInstantiate cuGraphInstantiateWithFlags cuGraphInstantiateWithParams
""".split()


def field_kind(one, kind, name):
    """VALUE: the parameter. OUT, IN, IN_OUT: a pointer, and the value behind it after a call that succeeded, before the
    call, or at both times. TEXT: a pointer, and the start of the string behind it. POINTER: a pointer alone."""
    if name in one.values:
        return DIRECTIONS[one.values[name]]
    return 'TEXT' if kind == 'const char *' else 'POINTER' if kind.endswith('*') else 'VALUE'


def fields(entry_points):
    """TRACE_FIELDS_slot(X) is a row X(kind, type, name) for each parameter."""
    for one in lists.in_slots(entry_points):
        rows = ' '.join(f'X({field_kind(one, kind, name)}, {kind}, {name})' for kind, name in one.fields)
        yield f'#define TRACE_FIELDS_{one.slot_name}(X) {rows}'


def placed(entry_points):
    """TRACE_PLACED(slot), for every ABI version of a function."""
    for one in lists.in_slots(entry_points):
        if one.function in PLACED or one.role.startswith('synchronize-'):
            yield f'TRACE_PLACED({one.slot_name})'
    yield '#undef TRACE_PLACED'


def sampled(entry_points):
    """TRACE_SAMPLED(slot): copies, memsets, allocations and frees in the order of a stream, which can race."""
    for one in lists.in_slots(entry_points):
        if one.role.startswith('work') and re.match(r'cuMem(cpy|set|Alloc|Free)', one.function):
            yield f'TRACE_SAMPLED({one.slot_name})'
    yield '#undef TRACE_SAMPLED'


def flag_types():
    """The types in file/flags.inc."""
    return re.findall(r'TRACE_FLAGS\((\w+),', (HERE / 'file' / 'flags.inc').read_text(encoding='utf-8'))


def numbers(entry_points):
    """TRACE_FUNCTION(function) and TRACE_TYPE(type as a token, type), each in the order of strcmp()."""
    yield from (f'TRACE_FUNCTION({name})' for name in sorted({one.function for one in entry_points}))
    types = {re.sub(r'\bconst\b|\*', '', kind).strip() for one in entry_points for kind, _ in one.fields}
    yield from (f'TRACE_TYPE({name.replace(" ", "_")}, "{name}")' for name in sorted(types | set(flag_types())))
    yield '#undef TRACE_FUNCTION'
    yield '#undef TRACE_TYPE'


def enumerators(entry_points):
    """TRACE_ENUMERATOR(type, enumerator). The rows of one type stand together."""
    used = {kind.replace('*', '').strip() for one in entry_points for kind, name in one.fields
            if not kind.endswith('*') or name in one.values}
    abi = ROOT / 'include' / 'cushim' / 'abi'
    source = headers.read_all(abi, sorted(path.name for path in abi.glob('*.h')))
    flags = flag_types()
    for body, name in re.findall(r'typedef enum[^{;]*\{([^}]*)\}\s*(\w+);', headers.without_directives(source)):
        if name in used or name in flags:
            yield from (f'TRACE_ENUMERATOR({name}, {one})' for one in headers.enumerators(body))
    for name in flags:
        yield from (f'TRACE_ENUMERATOR({name}, {one})' for one in re.findall(rf'define ({name}_\w+) ', source))
    yield '#undef TRACE_ENUMERATOR'


def roles(entry_points):
    """TRACE_ROLE(function, enum trace_role_kind without its prefix, flags: ALONE, ALWAYS or 0)."""
    for function, text in dict.fromkeys((one.function, one.role) for one in lists.in_slots(entry_points)):
        role, *flags = text.upper().replace('-', '_').split(',')
        if flags or role != 'OTHER':
            yield f'TRACE_ROLE({function}, {role}, {" | ".join(flags) or 0})'
    yield '#undef TRACE_ROLE'


if __name__ == '__main__':
    lists.take_depfile(sys.argv)
    lines = {'fields': fields, 'placed': placed, 'sampled': sampled, 'numbers': numbers, 'enumerators': enumerators,
             'roles': roles}
    for path in map(pathlib.Path, sys.argv[1:]):
        path.write_text('\n'.join(lines[path.stem](lists.read())) + '\n', encoding='utf-8')
