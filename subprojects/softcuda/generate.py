#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Generates the input of the compiler and the linker from cushim's two lists and from src/executes.txt.

  generate.py exports  SYMBOLS ENTRIES EXECUTES        the C rows that src/exports.c includes
  generate.py map      SYMBOLS DRIVER VERSION          an ELF version script: the exports of this driver, and ours
  generate.py def      SYMBOLS DRIVER VERSION          the same for Windows
  generate.py refused  SYMBOLS EXECUTES                the entry points that are exported but not executed
  generate.py place    LIBRARY PATH                    also puts the library at that path
  generate.py install  LIBRARY PATH                    the same below the directory into which Meson installs

The result goes to the standard output, or with "--to FILE" to that file and the list of its inputs to FILE.d.
"""
import os
import re
import shutil
import sys

# Functions that drivers export but that no version of cuGetProcAddress knows: (symbol, first driver with it).
WITHOUT_ROW = [('cuMemGetAttribute', 340), ('cuMemGetAttribute_v2', 340), ('cuEGLApiInit', 390)]
# The only entry point that two drivers lack on Linux although their version has it.
NOT_ON_LINUX = {('cuDeviceGetLuid', 418), ('cuDeviceGetLuid', 450)}
FIRST_PER_THREAD_VERSION = 7000
CONTROL = 'softcuda_control'
# A dynamic loader may call these while it holds its own locks: they take no lock, and work before cuInit.
WITHOUT_LOCK = {'DriverGetVersion_v1', 'GetErrorName_v1', 'GetErrorString_v1', 'GetProcAddress_v1', 'GetProcAddress_v2'}
# Functions that check an argument before they check that cuInit was called, and cuInit itself.
BEFORE_INIT = {'Init_v1', 'StreamCreate_v1', 'EventQuery_v1'}


def symbol_rows(path):
    """(slot, function, since, symbol, per-thread symbol) of each row."""
    pattern = r'^CUSHIM_SYMBOL\((\w+), (\w+), (\d+), "(\w+)", "(\w*)"\)'
    found = re.findall(pattern, open(path).read(), re.MULTILINE)
    return [(f'{function}_{abi}', function, int(since), symbol, per_thread)
            for function, abi, since, symbol, per_thread in found]


def closing(text, start):
    """The index after the parenthesis that closes the one at start."""
    depth = 0
    for index in range(start, len(text)):
        depth += {'(': 1, ')': -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    raise ValueError('unbalanced')


def entries(path):
    """{slot: (parameters, arguments)} of each typed row."""
    text, result = open(path).read(), {}
    for row in re.finditer(r'^CUSHIM_ENTRY\((\w+), (v\d+), \d+,\s*', text, re.MULTILINE):
        end = closing(text, row.end())
        arguments = text.index('(', end)
        last = closing(text, arguments)
        one_line = [re.sub(r'\s+', ' ', part) for part in (text[row.end():end], text[arguments:last])]
        result[f'{row[1]}_{row[2]}'] = tuple(one_line)
    return result


def executes(path):
    lines = (line.split('#')[0] for line in open(path))
    return [slot for line in lines for slot in line.split()]


def write_exports(symbols, entry_points, executed):
    rows, typed, done = symbol_rows(symbols), entries(entry_points), executes(executed)
    unknown = set(done) - set(typed)
    if unknown or len(done) != len(set(done)):
        sys.exit(f'{executed}: not in the typed list, or twice: {sorted(unknown)}')
    for slot, _, _, symbol, per_thread in rows:
        for name, form in ((symbol, ''), (per_thread, '_per_thread')):
            if name and slot in done:
                parameters, arguments = typed[slot]
                kind = ('SOFT_EXPORT_WITHOUT_LOCK' if slot in WITHOUT_LOCK else
                        'SOFT_EXPORT_BEFORE_INIT' if slot in BEFORE_INIT else 'SOFT_EXPORT')
                print(f'{kind}({slot}, {slot}{form}, "{name}", {"true" if form else "false"}, '
                      f'{parameters}, {arguments})')
            elif name:
                print(f'SOFT_REFUSE({slot}{form}, "{name}")')
    for symbol, _ in WITHOUT_ROW:
        print(f'SOFT_REFUSE({symbol[2:]}, "{symbol}")')
    for slot, function, since, symbol, per_thread in rows:
        form = f'SOFT_FORM({slot}_per_thread, "{per_thread}")' if per_thread else 'SOFT_NO_FORM'
        print(f'SOFT_ROW("cu{function}", {since}, SOFT_FORM({slot}, "{symbol}"), {form})')


def exported(symbols, driver, version, windows):
    """(exported name, name in our objects) of everything that this driver exports."""
    for slot, _, since, symbol, per_thread in symbol_rows(symbols):
        if since <= version and (windows or (symbol, driver) not in NOT_ON_LINUX):
            yield symbol, slot
        if per_thread and max(since, FIRST_PER_THREAD_VERSION) <= version:
            yield per_thread, slot + '_per_thread'
    for symbol, first in WITHOUT_ROW:
        if driver >= first:
            yield symbol, symbol[2:]


def write_map(symbols, driver, version):
    print('{\n  global:')
    for symbol, _ in exported(symbols, int(driver), int(version), False):
        print(f'    {symbol};')
    print(f'    {CONTROL};\n  local: *;\n}};')


def write_def(symbols, driver, version):
    print('LIBRARY nvcuda.dll\nEXPORTS')
    for symbol, name in exported(symbols, int(driver), int(version), True):
        print(f'  {symbol} = export_{name}')
    print(f'  {CONTROL}')


def write_refused(symbols, executed):
    done = set(executes(executed))
    for slot, _, _, symbol, _ in symbol_rows(symbols):
        if slot not in done:
            print(symbol)
    for symbol, _ in WITHOUT_ROW:
        print(symbol)


def place(library, path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)  # not overwritten, because it may be in use
    try:
        os.link(library, path)
    except OSError:
        shutil.copy2(library, path)


def install(library, path):
    path = os.path.join(os.environ['MESON_INSTALL_DESTDIR_PREFIX'], path)
    if not os.environ.get('MESON_INSTALL_QUIET'):
        print('Installing', library, 'to', path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    if os.path.exists(path):
        os.remove(path)
    shutil.copy2(library, path)


def main(arguments):
    if arguments[0] == '--to':
        output, arguments = arguments[1], arguments[2:]
        with open(output + '.d', 'w') as rule:
            print(output + ':', *(a for a in arguments[1:] if os.path.isfile(a)), file=rule)
        sys.stdout = open(output, 'w')
    {'exports': write_exports, 'map': write_map, 'def': write_def, 'refused': write_refused,
     'place': place, 'install': install}[arguments[0]](*arguments[1:])


if __name__ == '__main__':
    main(sys.argv[1:])
