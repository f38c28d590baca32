#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes the input of the compiler and the linker from cushim's list of entry points and from the sources: softcuda
executes the entry points whose function soft_<slot> they define.

  make_exports.py exports  SOURCE...         the C rows that src/exports/exports.c includes: for a slot that is executed,
                                             a function that calls soft_<slot>; for any other one, a function that
                                             returns CUDA_ERROR_NOT_SUPPORTED; and the names for src/control/names.c
  make_exports.py executed SOURCE...         the slots that are executed, a line each
  make_exports.py map      DRIVER VERSION    an ELF version script: the exports of this driver, and our control
  make_exports.py def      DRIVER VERSION    the same for Windows
  make_exports.py place    LIBRARY PATH      puts the library at that path
  make_exports.py install  LIBRARY PATH      the same below the directory into which Meson installs

The first four need "--lists DIRECTORY", which has entry_points.tsv and entry_points.py. The result goes to the
standard output, or with "--to FILE" to that file and the list of its inputs to FILE.d.
"""
import argparse
import importlib
import os
import re
import shutil
import sys

sys.dont_write_bytecode = True
lists = None  # the module entry_points

# The only entry point that two drivers lack on Linux although their version has it.
NOT_ON_LINUX = {('cuDeviceGetLuid', 418), ('cuDeviceGetLuid', 450)}
CONTROL = 'softcuda_control'
# A dynamic loader may call these while it holds its own locks: they take no lock, and work before cuInit.
WITHOUT_LOCK = {'DriverGetVersion_v1', 'GetErrorName_v1', 'GetErrorString_v1', 'GetProcAddress_v1', 'GetProcAddress_v2'}
# cuInit, functions that check an argument before they check that it was called, and those that do not need it.
BEFORE_INIT = {'Init_v1', 'StreamCreate_v1', 'EventQuery_v1', 'LogsRegisterCallback_v1', 'LogsUnregisterCallback_v1',
               'LogsCurrent_v1', 'LogsDumpToFile_v1', 'LogsDumpToMemory_v1'}


def executes(sources):
    """The slots whose functions the sources define."""
    return {slot for path in sources for slot in re.findall(r'^CUresult soft_(\w+_v\d)\(', open(path).read(), re.M)}


def write_executed(*sources):
    print('', *sorted(executes(sources)), sep='\n')


def write_exports(*sources):
    entry_points, done = lists.read(), executes(sources)
    unknown = done - {one.slot_name for one in lists.in_slots(entry_points)}
    if unknown:
        sys.exit(f'the list has no such slot: {sorted(unknown)}')
    for one in entry_points:
        slot = one.slot_name
        for name, variant in ((one.symbol, ''), (one.per_thread_symbol, '_per_thread')):
            if name and slot in done:
                kind = ('SOFT_EXPORT_WITHOUT_LOCK' if slot in WITHOUT_LOCK else
                        'SOFT_EXPORT_BEFORE_INIT' if slot in BEFORE_INIT else 'SOFT_EXPORT')
                print(f'{kind}({slot}, {slot}{variant}, "{name}", {"true" if variant else "false"}, '
                      f'({one.parameters}), ({", ".join(one.arguments)}))')
            elif name:
                print(f'SOFT_REFUSE({slot}{variant}, "{name}")')
    for symbol in lists.WITHOUT_ROW:
        print(f'SOFT_REFUSE({symbol[2:]}, "{symbol}")')
    for one in entry_points:
        for name in filter(None, (one.symbol, one.per_thread_symbol)):
            print(f'SOFT_NAME("{one.function}", {one.abi[1:]}, "{name}")')
    for symbol in lists.WITHOUT_ROW:
        function, _, version = symbol.partition('_v')
        print(f'SOFT_NAME("{function}", {version or 1}, "{symbol}")')
    for one in entry_points:
        slot, per_thread = one.slot_name, one.per_thread_symbol
        variant = f'SOFT_VARIANT({slot}_per_thread, "{per_thread}")' if per_thread else 'SOFT_NO_VARIANT'
        row = f'SOFT_ROW("{one.function}", {one.version}, SOFT_VARIANT({slot}, "{one.symbol}"), {variant})'
        print(f'#if defined(_WIN32)\n{row}\n#endif' if one.is_windows_only else row)
    for macro in ('EXPORT', 'EXPORT_BEFORE_INIT', 'EXPORT_WITHOUT_LOCK', 'REFUSE', 'ROW', 'VARIANT', 'NO_VARIANT', 'NAME'):
        print(f'#undef SOFT_{macro}')


def exported(driver, version, windows):
    """(exported name, name in our objects) of everything that this driver exports."""
    for one in lists.read():
        if one.is_windows_only and not windows:
            continue
        if one.version <= version and (windows or (one.symbol, driver) not in NOT_ON_LINUX):
            yield one.symbol, one.slot_name
        if one.per_thread_symbol and one.per_thread_version <= version:
            yield one.per_thread_symbol, one.slot_name + '_per_thread'
    for symbol, first in lists.WITHOUT_ROW.items():
        if driver >= first:
            yield symbol, symbol[2:]


def write_map(driver, version):
    print('{\n  global:')
    for symbol, _ in exported(int(driver), int(version), False):
        print(f'    {symbol};')
    print(f'    {CONTROL};\n  local: *;\n}};')


def write_def(driver, version):
    print('LIBRARY nvcuda.dll\nEXPORTS')
    for symbol, name in exported(int(driver), int(version), True):
        print(f'  {symbol} = export_{name}')
    print(f'  {CONTROL}')


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


def main():
    global lists
    parser = argparse.ArgumentParser()
    parser.add_argument('--lists')
    parser.add_argument('--to')
    parser.add_argument('command')
    parser.add_argument('arguments', nargs='*')
    given = parser.parse_args()
    if given.lists:
        sys.path.insert(0, given.lists)
        lists = importlib.import_module('entry_points')
    if given.to:
        sys.stdout = open(given.to, 'w')
        inputs = [lists.LIST, lists.__file__, *(one for one in given.arguments if os.path.isfile(one))] if lists else []
        with open(given.to + '.d', 'w') as rule:
            print(given.to + ':', *inputs, file=rule)
    {'exports': write_exports, 'executed': write_executed, 'map': write_map, 'def': write_def,
     'place': place, 'install': install}[given.command](*given.arguments)


if __name__ == '__main__':
    main()
